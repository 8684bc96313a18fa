"""Checks at each call of a compiled function: each kind of parameter with each mistake."""

import ctypes
import threading

import needs
import numpy as np
import pytest
from stand_ins import NullInterface

import PyGPU
import PyGPU.driver as drv
from PyGPU import errors, gpuarray

SOURCE = """
#include <PyGPU/gpu.h>
#include <PyGPU/export.h>
#include <complex>

struct Pair { int first; float second; };
enum Mode { slow, fast };
struct float_3 { float x, y, z; };

long address(const void *p) { return long(p); }                    PYGPU_EXPORT(address);
long of_double(double *p) { return long(p); }                      PYGPU_EXPORT(of_double);
long of_const(const double *p) { return long(p); }                 PYGPU_EXPORT(of_const);
long of_int(int *p) { return long(p); }                            PYGPU_EXPORT(of_int);
long of_two(const double *p, const double *q) { return p != q; }   PYGPU_EXPORT(of_two);
long of_bytes(unsigned char *p) { return long(p); }                PYGPU_EXPORT(of_bytes);
long of_complex(std::complex<float> *p) { return long(p); }        PYGPU_EXPORT(of_complex);
long of_float3(float3 *p) { return long(p); }                      PYGPU_EXPORT(of_float3);
long of_pairs(const Pair *p) { return long(p); }                   PYGPU_EXPORT(of_pairs);
long of_pointers(double **p) { return long(p); }                   PYGPU_EXPORT(of_pointers);
int text(const char *s) { int n = 0; while (s[n]) ++n; return n; } PYGPU_EXPORT(text);

signed char i1(signed char x) { return x; }                        PYGPU_EXPORT(i1);
unsigned short u2(unsigned short x) { return x; }                  PYGPU_EXPORT(u2);
int i4(int x) { return x; }                                        PYGPU_EXPORT(i4);
unsigned u4(unsigned x) { return x; }                              PYGPU_EXPORT(u4);
long i8(long x) { return x; }                                      PYGPU_EXPORT(i8);
unsigned long u8(unsigned long x) { return x; }                    PYGPU_EXPORT(u8);
float f4(float x) { return x; }                                    PYGPU_EXPORT(f4);
double f8(double x) { return x; }                                  PYGPU_EXPORT(f8);
bool b1(bool x) { return x; }                                      PYGPU_EXPORT(b1);
Mode mode(Mode x) { return x; }                                    PYGPU_EXPORT(mode);
float second(Pair x) { return x.second + x.first; }                PYGPU_EXPORT(second);
float sum(std::complex<float> x) { return x.real() + x.imag(); }   PYGPU_EXPORT(sum);
double many(int a, double b, long c, float d, int e, double f, long g, float h, int i, double j,
            long k, float l, int m, double n, long o, float p, double q, double r, double s) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
         12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s;
}
PYGPU_EXPORT(many);
extern "C" double plain_many(int a, double b, long c, float d, int e, double f, long g, float h,
                             int i, double j, long k, float l, int m, double n, long o, float p,
                             double q, double r, double s) {
  return many(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
}
extern "C" float plain_float(float x, signed char y, unsigned char z, bool b) {
  return x + y + z + b;
}
long stream_of(cudaStream_t s) { return long(s); }                 PYGPU_EXPORT(stream_of);
void *null() { return nullptr; }                                   PYGPU_EXPORT(null);
"""
PLAIN = """
// A header as a library has it.
#ifdef __cplusplus
extern "C" {
#endif
typedef double real;
typedef long size;
real plain_many(int a, real b, size c, float d, int e, real f, size g, float h, int i,
                real j, size k, float l, int m, real n, size o, float p, real q, real r, real s);
extern float plain_float(float, signed char, unsigned char, bool);
#ifdef __cplusplus
}
#endif
"""


@pytest.fixture(scope="module")
def f(tmp_path_factory):
    needs.compiler_of_files()
    place = tmp_path_factory.mktemp("arguments")
    (place / "kinds.cu").write_text(SOURCE)
    (place / "plain.h").write_text(PLAIN)
    return PyGPU.load(place / "kinds.cu", place / "plain.h", cache_dir=place)


RECORD = np.dtype([("first", "i4"), ("second", "f4")])


def test_memory_of_every_kind(f):
    a = gpuarray.zeros(6, "f8")
    assert f.of_double(a) == f.of_const(a) == f.address(a) == a.ptr
    memory = drv.mem_alloc(64)
    assert f.of_double(memory) == int(memory)
    assert f.of_double(None) == 0
    assert f.of_double(a.ptr) == a.ptr
    assert f.of_double(np.uint64(a.ptr)) == a.ptr
    assert f.of_double(a[2:]) == a.ptr + 16
    assert f.of_double(gpuarray.zeros((2, 3), "f8", order="F")) != 0
    array = PyGPU.DeviceArray_float64(np.zeros(4))
    array.allocate()
    assert f.of_double(array) == f.of_double(array.device_data()) == int(array.device_data())
    assert f.null() == 0


def test_elements_of_every_kind(f):
    for name, dtype in (
        ("of_int", "i4"),
        ("of_complex", "c8"),
        ("of_pairs", RECORD),
        ("of_pointers", "u8"),
        *(("of_bytes", dtype) for dtype in ("u1", "i1", "S1", "V1")),
        ("address", "f2"),
    ):
        a = gpuarray.GPUArray(4, dtype)
        assert getattr(f, name)(a) == a.ptr, (name, dtype)
    a = gpuarray.zeros((4, 3), "f4")
    assert f.of_float3(a) == a.ptr
    assert f.text("über") == 5
    assert f.text(b"abc") == 3


class Interface:
    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array._array_interface, **changes}


def test_arrays_of_other_libraries(f):
    a = gpuarray.zeros((4, 2), "f8")
    assert f.of_double(Interface(a)) == a.ptr
    assert f.of_const(Interface(a, data=(a.ptr, True))) == a.ptr
    assert f.of_double(Interface(a, shape=(2, 4), strides=(8, 16))) == a.ptr


def test_numbers(f):
    for name, values in {
        "i1": (-128, 127, np.int8(-3)),
        "u2": (0, 65535, np.uint16(7)),
        "i4": (-(2**31), 2**31 - 1, np.int32(5), np.uint16(9), True),
        "u4": (2**32 - 1,),
        "i8": (-(2**63), 2**63 - 1),
        "u8": (2**64 - 1,),
        "f4": (0.5, 3, np.float32(2.5)),
        "f8": (0.1, 3, np.float64(0.1)),
        "b1": (True, False),
        "mode": (0, 1),
    }.items():
        for value in values:
            assert getattr(f, name)(value) == value, (name, value)
    record = np.array([(2, 0.5)], RECORD)
    assert f.second(record[0]) == 2.5
    assert f.sum(1 + 2j) == f.sum(np.complex64(1 + 2j)) == 3
    numbers = [n + 1 for n in range(19)]
    expected = sum((n + 1) ** 2 for n in range(19))
    assert f.many(*numbers) == f.plain_many(*numbers) == expected
    assert f.plain_float(0.5, -3, 200, True) == 198.5


WRONG = [
    # (function, arguments, words of the message)
    ("of_double", lambda: gpuarray.zeros(4, "f4"), "dtype is float32, and .* float64"),
    ("of_double", lambda: gpuarray.zeros(4, "i8"), "dtype is int64"),
    ("of_double", lambda: gpuarray.zeros(4, "c16"), "dtype is complex128"),
    ("of_double", lambda: gpuarray.zeros(4, ">f8"), "dtype is >f8"),
    ("of_int", lambda: gpuarray.zeros(4, "u4"), "dtype is uint32, and .* int32"),
    ("of_int", lambda: gpuarray.zeros(4, "f4"), "dtype is float32"),
    ("of_bytes", lambda: gpuarray.zeros(4, "i2"), "dtype is int16"),
    ("of_complex", lambda: gpuarray.zeros(4, "f4"), "dtype is float32, and .* complex64"),
    ("of_float3", lambda: gpuarray.zeros(4, "f4"), "dtype is float32"),
    ("of_float3", lambda: gpuarray.zeros((4, 3), "i4"), "dtype is int32"),
    ("of_pairs", lambda: gpuarray.zeros(4, "f8"), "structures of 8 bytes"),
    ("of_pairs", lambda: gpuarray.zeros(4, "V4"), "structures of 8 bytes"),
    ("of_pointers", lambda: gpuarray.zeros(4, "f8"), "addresses"),
    ("of_double", lambda: gpuarray.zeros(8, "f8")[::2], r"not contiguous.*a\.copy\(\)"),
    ("of_double", lambda: gpuarray.zeros((4, 4), "f8")[:, 1], "not contiguous"),
    ("of_double", lambda: gpuarray.zeros(4, "f8")[::-1], "not contiguous"),
    ("of_double", lambda: np.zeros(4), "host memory"),
    ("of_double", lambda: [1.0, 2.0], r"to_gpu"),
    ("of_double", lambda: 1.5, "float"),
    ("of_double", lambda: True, "bool"),
    ("of_double", lambda: "text", "str"),
    ("of_double", lambda: b"text", "bytes"),
    ("of_double", lambda: object(), "object"),
    ("of_double", lambda: drv.In(np.zeros(4)), "for kernels"),
    ("of_double", lambda: PyGPU.DeviceArray_float32(np.zeros(4, "f4")), "device memory|float32"),
    ("of_double", lambda: PyGPU.DeviceArray_float64(np.zeros(4)), "no device memory"),
    ("of_double", lambda: PyGPU.DeviceArray_float64(np.zeros(4)).host_data(), "host memory"),
    (
        "of_double",
        lambda: Interface(a := gpuarray.zeros(4, "f8"), data=(a.ptr, True)),
        "read-only.*not const",
    ),
    ("of_double", lambda: Interface(gpuarray.zeros(4, "f4")), "dtype is float32"),
    ("of_double", lambda: Interface(gpuarray.zeros(4, "f8"), strides=(16,)), "not contiguous"),
    ("i1", lambda: 128, "128 is out of the range of 1 signed"),
    ("i1", lambda: -129, "out of the range"),
    ("i1", lambda: np.int16(3), "wider"),
    ("u2", lambda: -1, "out of the range of 2 unsigned"),
    ("u2", lambda: 65536, "out of the range"),
    ("i4", lambda: 2**31, "out of the range of 4 signed"),
    ("i4", lambda: np.int64(3), "wider"),
    ("i4", lambda: 1.0, "expected an integer of 4 bytes"),
    ("i4", lambda: "1", "expected an integer"),
    ("i4", lambda: None, "expected an integer"),
    ("i4", lambda: gpuarray.zeros(1, "i4"), "expected an integer"),
    ("u4", lambda: -1, "out of the range"),
    ("i8", lambda: 2**63, "out of the range of 8 signed"),
    ("u8", lambda: 2**64, "out of the range of 8 unsigned"),
    ("u8", lambda: -1, "out of the range"),
    ("f4", lambda: "1", "expected a floating-point number"),
    ("f4", lambda: 1j, "expected a floating-point number"),
    ("f4", lambda: np.float64(1), "width"),
    ("f8", lambda: None, "expected a floating-point number"),
    ("f8", lambda: [1.0], "expected a floating-point number"),
    ("b1", lambda: 1.0, "expected a bool"),
    ("mode", lambda: 1.0, "expected an integer"),
    ("second", lambda: 3, "expected a structure of 8 bytes"),
    ("second", lambda: np.zeros(1, "f8,f8")[0], "16 bytes"),
    ("sum", lambda: "1", "expected a complex number"),
    ("text", lambda: 1.5, "float"),
]


@pytest.mark.parametrize(("name", "argument", "match"), WRONG)
def test_wrong_arguments(f, name, argument, match):
    with pytest.raises(errors.ArgumentError, match=f"parameter #0.*(?:{match})"):
        getattr(f, name)(argument())


def test_wrong_counts_and_keywords(f):
    with pytest.raises(errors.ArgumentError, match=r"i4\(\) takes 1 argument, not 2: int i4\(int"):
        f.i4(1, 2)
    with pytest.raises(errors.ArgumentError, match="takes 1 argument, not 0"):
        f.i4()
    with pytest.raises(TypeError, match="unexpected keyword argument 'block'"):
        f.i4(1, block=(1, 1, 1))
    with pytest.raises(TypeError, match="unexpected keyword argument 'stream'"):
        f.i4(1, stream=None)
    with pytest.raises(TypeError, match="stream"):
        f.stream_of(stream="first")
    with pytest.raises(errors.ArgumentError, match="takes 0 arguments, not 1"):
        f.stream_of(drv.Stream())


def test_negative_and_wide_addresses(f):
    for address in (-1, 2**64):
        with pytest.raises((ValueError, errors.ArgumentError), match=r"address|range"):
            f.of_double(address)


def test_freed_memory_is_refused(f):
    memory = drv.mem_alloc(64)
    memory.free()
    with pytest.raises(errors.Error, match="freed"):
        f.of_double(memory)
    a = gpuarray.zeros(4, "f8")
    a.gpudata.free()
    with pytest.raises(errors.Error, match="freed"):
        f.of_double(a)


def test_memory_that_a_later_argument_frees_is_refused(f):
    memory = drv.mem_alloc(64)
    a, b = gpuarray.zeros(4, "f8"), gpuarray.zeros(4, "f8")
    for argument, free in (
        (memory, memory.free),
        (a, a.gpudata.free),
        (b[1:], b.gpudata.free),
    ):
        with pytest.raises(errors.Error, match="freed"):
            f.of_two(argument, NullInterface(free, "<f8"))


def test_streams(f):
    stream = drv.Stream()
    assert f.stream_of(stream=stream) == stream.handle
    assert f.stream_of() == f.stream_of(stream=None) == 0


def test_what_an_argument_raises_reaches_the_caller(f):
    class Own:
        @property
        def __cuda_array_interface__(self):
            raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        f.of_double(Own())


def test_memory_of_another_device_is_refused(f, two_devices):
    two_devices(
        "import numpy as np, PyGPU, PyGPU.driver as drv\n"
        "from PyGPU import gpuarray, errors\n"
        f"f = PyGPU.load({str(f.path)!r})\n"
        "drv.init(); first = drv.Device(0).make_context(); second = drv.Device(1).make_context()\n"
        "there = gpuarray.zeros(4, 'f8')\n"
        "second.pop(); first.push()\n"
        "drv.Context.synchronize()\n"
        "try:\n"
        "    f.of_double(there)\n"
        "except errors.ArgumentError as error:\n"
        "    assert 'it is on device 1' in str(error), error\n"
        "else:\n"
        "    raise AssertionError('not refused')\n"
    )


def test_other_threads_run_meanwhile(tmp_path, f):
    source = tmp_path / "waits.cpp"
    source.write_text(
        "#include <PyGPU/export.h>\n#include <atomic>\nstatic std::atomic<int> flag{0};\n"
        "int waits() { while (!flag) {} return flag; }\nPYGPU_EXPORT(waits);\n"
        "void sets(int x) { flag = x; }\nPYGPU_EXPORT(sets);\n"
    )
    one = PyGPU.load(source, cache_dir=tmp_path)
    found = []
    thread = threading.Thread(target=lambda: found.append(one.waits()))
    thread.start()
    one.sets(7)  # comes only if the waiting call holds no lock
    thread.join(60)
    assert found == [7]


def test_what_cannot_be_declared():
    for text, match in {
        "int f(int &x);": "references",
        "int f(void (*g)(int));": "f",
        "int f(const char *format, ...);": "variable arguments",
        "struct S f(int);": "unknown",
        "int f(": "cannot read",
    }.items():
        with pytest.raises(ValueError, match=f"declarations.*{match}"):
            PyGPU.load("libm.so.6", text)


def test_libraries_without_sources():
    maths = PyGPU.load(
        "libm.so.6", "double cos(double x); float cosf(float); int abs_of(int);"[:40]
    )
    assert maths.cos(0.0) == maths.cosf(0.0) == 1.0
    assert ctypes.CDLL("libm.so.6").cos
