"""Prepared calls: promises of types, made once, and the calls that keep them."""

import struct

import kernel_sources
import numpy as np
import pytest
from stand_ins import Holder

import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule, compile
from PyGPU.errors import ArgumentError

SCALARS = kernel_sources.SCALARS
ONE = ((1, 1), (1, 1, 1))

# struct's characters, and the C type of the parameter.
CHARACTERS = {
    **{"?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short"},
    **{"i": "int", "I": "unsigned int", "l": "long", "L": "unsigned long", "q": "long long"},
    **{"Q": "unsigned long long", "n": "long", "N": "size_t", "f": "float", "d": "double"},
}


@pytest.fixture(scope="module")
def module():
    return SourceModule(kernel_sources.WRITERS.source)


def writer(module, c_type, arg_types):
    """write(value) -> what the kernel saw."""
    dtype = np.dtype(SCALARS[c_type])
    out = gpuarray.zeros(1, dtype)
    kernel = module.get_function(kernel_sources.writer_name(c_type)).prepare(arg_types)

    def write(value):
        assert kernel.prepared_call(*ONE, out.gpudata, value) is None
        return out.get()[0]

    return write


def ends_of(c_type):
    dtype = np.dtype(SCALARS[c_type])
    if dtype.kind == "b":
        return [True, False]
    if dtype.kind == "f":
        return [0.1, -1.5e30, np.inf, 7]
    return [0, 1, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)]


# What prepare() takes.


@pytest.mark.parametrize("char", CHARACTERS)
def test_every_character(module, char):
    c_type = CHARACTERS[char]
    for arg_types in ("P" + char, ["P", char], f"1P1{char}", f" P {char} "):
        write = writer(module, c_type, arg_types)
        for value in ends_of(c_type):
            assert write(value) == SCALARS[c_type](value)
            assert write(SCALARS[c_type](value)) == SCALARS[c_type](value)


@pytest.mark.parametrize("c_type", SCALARS)
def test_numpy_types_and_dtypes(module, c_type):
    for one in (SCALARS[c_type], np.dtype(SCALARS[c_type])):
        for first in ("P", np.intp, gpuarray.GPUArray, object):
            write = writer(module, c_type, [first, one])
            for value in ends_of(c_type):
                assert write(value) == SCALARS[c_type](value)


def test_prepare_gives_the_function(pointers):
    kernel = pointers.get_function("twice")
    assert kernel.prepare("Pi") is kernel
    assert kernel.prepare(("P", "i")) is kernel
    assert kernel.prepare(char for char in "Pi") is kernel
    assert kernel.prepare(["Pi"]) is kernel
    assert kernel.prepare("Pi", texrefs=[]) is kernel


def test_counts_before_a_character():
    source = """
    __global__ void many(int *out, int a, int b, int c, double d, double e)
    { out[0] = a + 10 * b + 100 * c + 1000 * int(d) + 10000 * int(e); }
    """
    kernel = SourceModule(source).get_function("many").prepare("P3i2d")
    out = gpuarray.zeros(1, np.int32)
    kernel.prepared_call(*ONE, out.gpudata, 1, 2, 3, 4, 5)
    assert out.get()[0] == 54321


def test_half():
    kernel = SourceModule(kernel_sources.HALF.source).get_function("write_half")
    out = gpuarray.zeros(1, np.uint16)
    for arg_types in ("Pe", ["P", np.float16]):
        kernel.prepare(arg_types).prepared_call(*ONE, out.gpudata, 0.1)
        assert out.get()[0] == np.float16(0.1).view(np.uint16)


def test_complex():
    kernel = SourceModule(kernel_sources.COMPLEX.source).get_function("multiply")
    out = gpuarray.zeros(2, np.complex64)
    for arg_types in ("PFD", ["P", np.complex64, np.dtype(np.complex128)]):
        kernel.prepare(arg_types)
        for a, b in ((1 + 2j, 3 - 4j), (2.5, 1), (np.complex64(1j), np.complex128(-1j))):
            kernel.prepared_call(*ONE, out.gpudata, a, b)
            np.testing.assert_array_equal(out.get(), np.array([complex(a) ** 2, b], np.complex64))


def test_bytes(structures):
    kernel = structures.get_function("read_odd").prepare("P3s3s")
    out = gpuarray.zeros(2, np.int32)
    kernel.prepared_call(*ONE, out.gpudata, b"\1\2\3", bytearray(b"\4\5\6"))
    assert out.get().tolist() == [321, 654]
    kernel.prepare(["P", np.dtype("S3"), np.dtype((np.void, 3))])
    kernel.prepared_call(*ONE, out.gpudata, np.array(b"\1\1\1"), np.array([2, 2, 2], np.int8))
    assert out.get().tolist() == [111, 222]


def test_structured_dtypes(structures):
    point = np.dtype([("tag", np.int8), ("x", np.float64)], align=True)
    body = np.dtype(
        [("kind", np.int16), ("ends", point, 2), ("w", np.uintp), ("counts", np.int32, 3)],
        align=True,
    )
    weights, out = gpuarray.to_gpu(np.ones(2, np.float32)), gpuarray.zeros(9)
    value = np.zeros(1, body)
    value["kind"], value["w"], value["counts"] = 3, weights.ptr, [[4, 5, 6]]
    kernel = structures.get_function("read_body")
    for arg_types in (["P", "i", body, "b"], f"Pi{body.itemsize}sb"):
        kernel.prepare(arg_types)
        for form in (value[0], value, value.reshape(()), value.tobytes()):
            drv.memset_d8(out.gpudata, 0, out.nbytes)
            kernel.prepared_call(*ONE, out.gpudata, -1, form, 8)
            np.testing.assert_array_equal(out.get(), [-1, 3, 0, 0, 0, 0, 2, 654, 8])


def test_a_narrower_promise_is_widened_by_its_sign(module):
    assert writer(module, "long long", "Pi")(-5) == -5
    assert writer(module, "size_t", "PI")(2**32 - 1) == 2**32 - 1
    assert writer(module, "int", "Pb")(-128) == -128


def test_a_new_promise_replaces_the_old(pointers):
    kernel = pointers.get_function("twice").prepare("Pi")
    with pytest.raises(drv.ArgumentError):
        kernel.prepare("Pd")
    a = gpuarray.to_gpu(np.ones(2, np.float32))
    kernel.prepared_call(*ONE, a.gpudata, 1)  # the one that failed changed nothing
    kernel.prepare([np.intp, np.int16]).prepared_call((1, 1), (2, 1, 1), a.gpudata, 2)
    assert a.get().tolist() == [4, 2]


# What the calls take.


def test_an_argument_that_prepares_anew():
    """The launch goes on with what it began with, the next one with what was promised last."""

    class Preparing:
        def __index__(self):
            function.prepare("Pb")
            return 300

    source = "__global__ void put(int *a, int value) { a[0] = value; }"
    function = SourceModule(source).get_function("put").prepare("Pi")
    array = gpuarray.zeros(1, np.int32)
    function.prepared_call(*ONE, array.gpudata, Preparing())
    assert array.get() == [300]
    with pytest.raises(ArgumentError):
        function.prepared_call(*ONE, array.gpudata, 300)


@pytest.mark.parametrize(
    "form",
    [lambda a: a, lambda a: a.gpudata, lambda a: a.ptr, lambda a: np.uintp(a.ptr)]
    + [lambda a: np.intp(a.ptr), lambda a: Holder(a.gpudata), lambda a: a[:]],
    ids=["GPUArray", "DeviceAllocation", "int", "np.uintp", "np.intp", "holder", "slice"],
)
def test_pointers(pointers, form):
    a = gpuarray.to_gpu(np.arange(6, dtype=np.float32))
    kernel = pointers.get_function("twice").prepare("Pi")
    kernel.prepared_call((1, 1), (8, 1, 1), form(a), 6)
    assert a.get().tolist() == [0, 2, 4, 6, 8, 10]


def test_null(pointers):
    out = gpuarray.zeros(1, np.int32)
    kernel = pointers.get_function("is_null").prepare("PP")
    kernel.prepared_call(*ONE, out, 0)
    assert out.get()[0] == 1


def test_ints_for_floats_but_no_floats_for_ints(module):
    assert writer(module, "float", "Pf")(3) == 3
    assert writer(module, "double", "Pd")(np.int64(3)) == 3
    assert writer(module, "float", "Pf")(np.float64(0.1)) == np.float32(0.1)
    for value in (3.0, np.float32(3), 3.5):
        with pytest.raises(struct.error, match=r"#1.*prepare\(\) declared an integer"):
            writer(module, "int", "Pi")(value)


@pytest.mark.parametrize("char", [c for c in CHARACTERS if c not in "?fd"])
def test_numbers_out_of_range(module, char):
    write = writer(module, CHARACTERS[char], "P" + char)
    ends = np.iinfo(SCALARS[CHARACTERS[char]])
    for value in (int(ends.min) - 1, int(ends.max) + 1, 10**30, -(10**30)):
        with pytest.raises(drv.ArgumentError, match=r"#1.*out of the range"):
            write(value)


def test_the_integer_that_an_object_stands_for_is_named(module):
    class Index:
        def __index__(self):
            return -(2**31) - 1

    with pytest.raises(drv.ArgumentError, match="-2147483649 is out of the range of 4 signed"):
        writer(module, "int", "Pi")(Index())


def test_numpys_bools_and_complex_numbers(module):
    assert writer(module, "int", "Pi")(np.bool_(True)) == 1
    for char in "fdi":
        with pytest.raises(drv.ArgumentError, match=r"#1.*prepare\(\) declared.*"):
            writer(
                module, "float" if char == "f" else "double" if char == "d" else "int", "P" + char
            )(np.complex64(7 + 2j))


def test_shapes_and_shared_size():
    module = SourceModule(kernel_sources.SHAPES.source)
    kernel, out = module.get_function("shapes").prepare("P"), gpuarray.zeros(7, np.int32)
    for grid, block in (((3, 2, 2), (4, 3, 2)), ([3, 2, 2], [4, 3, 2])):
        kernel.prepared_call(grid, block, out.gpudata, shared_size=64)
        assert out.get().tolist()[:6] == [3, 2, 2, 4, 3, 2]
    kernel.prepared_call(5, np.int32(6), out.gpudata)
    assert out.get().tolist()[:6] == [5, 1, 1, 6, 1, 1]
    x = np.arange(500, dtype=np.int32)
    a = gpuarray.to_gpu(x)
    reverse = module.get_function("reverse").prepare("Pi")
    reverse.prepared_call((1, 1), (64, 1, 1), a.gpudata, 500, shared_size=2000)
    np.testing.assert_array_equal(a.get(), x[::-1])


def test_asynchronous_calls(pointers):
    a, stream = gpuarray.to_gpu(np.ones(64, np.float32)), drv.Stream()
    kernel = pointers.get_function("twice").prepare("Pi")
    for number in (None, stream, stream, 0, stream.handle):
        kernel.prepared_async_call((1, 1), (64, 1, 1), number, a.gpudata, 64)
    stream.synchronize()
    assert a.get().tolist() == [32.0] * 64
    kernel.prepared_async_call((1, 1), (64, 1, 1), stream, a.gpudata, 64, shared_size=128)
    assert a.get().tolist() == [64.0] * 64


def test_timed_calls(pointers):
    a = gpuarray.to_gpu(np.ones(64, np.float32))
    kernel = pointers.get_function("twice").prepare("Pi")
    seconds = kernel.prepared_timed_call((1, 1), (64, 1, 1), a.gpudata, 64, shared_size=16)
    first = seconds()
    assert type(first) is float and 0 <= first < 60 and seconds() == first
    assert a.get().tolist() == [2.0] * 64


def test_a_prepared_function_can_be_called_in_general(pointers):
    a = gpuarray.to_gpu(np.ones(4, np.float32))
    kernel = pointers.get_function("twice").prepare("Pi")
    kernel(a, np.int32(4), block=(4, 1, 1))
    assert a.get().tolist() == [2.0] * 4


def test_an_integer_does_not_fill_a_structure():
    """Of a module without a source, only the sizes of parameters are known."""
    text = """
    struct S { int v[16]; };
    extern "C" __global__ void f(S s, int *out) { *out = s.v[15]; }
    """
    function = drv.module_from_buffer(compile(text, no_extern_c=True)).get_function("f")
    out = gpuarray.zeros(1, np.int32)
    for number in (np.int32(5), np.uint64(5), True, np.bool_(True), 5):
        with pytest.raises(ArgumentError, match="#0"):
            function(number, out, block=(1, 1, 1))
    for types in ("iP", "qP", "?P"):
        with pytest.raises(ArgumentError, match=r"#0 .* 64 bytes"):
            function.prepare(types)
    function.prepare("64sP").prepared_call((1, 1), (1, 1, 1), np.arange(16, dtype="i4"), out)
    assert out.get() == 15
