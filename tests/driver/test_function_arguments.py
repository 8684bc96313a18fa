"""Arguments of kernel calls: scalars, structures, addresses and what stands for one."""

import kernel_sources
import numpy as np
import pytest
from stand_ins import Holder

import PyGPU.driver as drv
from PyGPU import errors, gpuarray
from PyGPU.compiler import SourceModule

ONE = {"block": (1, 1, 1), "grid": (1, 1)}
SCALARS = kernel_sources.SCALARS


@pytest.fixture(scope="module")
def writers():
    """write(C type, argument) -> what the kernel saw, as a NumPy scalar."""
    module = SourceModule(kernel_sources.WRITERS.source)
    kernels = {name: module.get_function(kernel_sources.writer_name(name)) for name in SCALARS}

    def write(c_type, argument, raw=False):
        out = gpuarray.to_gpu(np.array([0x55] * 8, np.uint8))
        kernels[c_type](out, argument, **ONE)
        dtype = np.dtype(SCALARS[c_type])
        bytes_ = out.get()
        assert (bytes_[dtype.itemsize :] == 0x55).all()
        return bytes_[0] if raw else bytes_[: dtype.itemsize].view(dtype)[0]

    return write


def values_of(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return [True, False]
    if dtype.kind == "f":
        return [0.1, -np.inf, np.finfo(dtype).tiny, 3]
    return [0, 1, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)]


# Scalars.


@pytest.mark.parametrize("c_type", SCALARS)
def test_numpy_scalars_of_the_same_width(writers, c_type):
    for value in values_of(SCALARS[c_type]):
        argument = SCALARS[c_type](value)
        found = writers(c_type, argument)
        assert found == argument and found.dtype == argument.dtype


@pytest.mark.parametrize("c_type", SCALARS)
def test_plain_numbers_where_the_source_tells_the_type(writers, c_type):
    for value in values_of(SCALARS[c_type]):
        assert writers(c_type, value) == SCALARS[c_type](value)
    assert writers(c_type, True) == 1
    assert writers(c_type, 0) == 0


NARROW = [
    ("long long", np.int8(-5), -5),
    ("long long", np.int32(-(2**31)), -(2**31)),
    ("long long", np.uint32(2**32 - 1), 2**32 - 1),
    ("int", np.int16(-300), -300),
    ("int", np.uint8(255), 255),
    ("int", np.True_, 1),
    ("short", np.int8(-128), -128),
    ("size_t", np.int32(7), 7),
    ("size_t", np.uint32(2**32 - 1), 2**32 - 1),
    ("size_t", np.int32(-1), 2**64 - 1),  # as C converts it
    ("unsigned int", np.int8(-1), 2**32 - 1),
    ("unsigned int", np.int32(-1), 2**32 - 1),
    ("int", np.uint32(2**32 - 2), -2),
    ("long", np.longlong(-3), -3),
    ("long long", np.int64(-3), -3),
    ("unsigned char", np.True_, 1),
]


@pytest.mark.parametrize(("c_type", "given", "expected"), NARROW, ids=lambda value: repr(value))
def test_integers_are_widened_by_their_own_sign(writers, c_type, given, expected):
    assert int(writers(c_type, given)) == expected


@pytest.mark.parametrize("given", [np.int8(2), np.uint8(255), np.int8(-1), 2, -1])
def test_whatever_is_not_zero_is_true(writers, given):
    assert writers("bool", given, raw=True) == 1  # any other byte is no bool of C++


def test_floats_of_python_are_rounded(writers):
    assert writers("float", 0.1) == np.float32(0.1)
    assert np.isnan(writers("float", float("nan")))
    assert writers("float", 2**100) == np.float32(2.0**100)
    assert writers("double", 0.1) == 0.1
    assert np.signbit(writers("double", -0.0))


def test_subclasses_of_numbers(writers):
    class Count(int):
        pass

    class Length(float):
        pass

    assert writers("int", Count(5)) == 5
    assert writers("float", Length(2.5)) == 2.5
    assert writers("int", drv.func_cache.PREFER_L1) == 2


def test_half():
    kernel = SourceModule(kernel_sources.HALF.source).get_function("write_half")
    out = gpuarray.zeros(1, np.uint16)
    for argument in (np.float16(0.1), 0.1, np.float16(-np.inf)):
        kernel(out, argument, **ONE)
        assert out.get()[0] == np.float16(argument).view(np.uint16)


def test_complex():
    kernel = SourceModule(kernel_sources.COMPLEX.source).get_function("multiply")
    out = gpuarray.zeros(2, np.complex64)
    for a, b in (
        (np.complex64(1 + 2j), np.complex128(3 - 4j)),
        (1 + 2j, 3 - 4j),
        (1 + 2j, np.complex128(3 - 4j)),
        (2.0, 5),
    ):
        kernel(out, a, b, **ONE)
        np.testing.assert_array_equal(out.get(), np.array([complex(a) ** 2, b], np.complex64))


# Structures by value.

POINT = np.dtype([("tag", np.int8), ("x", np.float64)], align=True)
BODY = np.dtype(
    [("kind", np.int16), ("ends", POINT, 2), ("weights", np.uintp), ("counts", np.int32, 3)],
    align=True,
)
FORMS = {
    "np.void": lambda array: array[0],
    "0-d array": lambda array: array.reshape(()),
    "1-d array": lambda array: array,
    "bytes": lambda array: array.tobytes(),
    "bytearray": lambda array: bytearray(array.tobytes()),
    "array of bytes": lambda array: np.frombuffer(array.tobytes(), np.uint8),
    "read-only array": lambda array: np.frombuffer(array.tobytes(), array.dtype),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_structure_with_padding_arrays_and_a_pointer(structures, form):
    weights = gpuarray.to_gpu(np.array([1.5, 2.0], np.float32))
    body = np.zeros(1, BODY)
    body["kind"] = -7
    body["ends"] = [[(65, 0.25), (66, -0.5)]]
    body["weights"] = weights.ptr
    body["counts"] = [[1, 2, 3]]
    out = gpuarray.zeros(9)
    kernel = structures.get_function("read_body")
    kernel(out, np.int32(11), FORMS[form](body), np.int8(-3), **ONE)
    np.testing.assert_array_equal(out.get(), [11, -7, 65, 0.25, 66, -0.5, 3.5, 321, -3])


def test_structures_of_odd_sizes(structures):
    out = gpuarray.zeros(2, np.int32)
    structures.get_function("read_odd")(out, b"\1\2\3", np.array([4, 5, 6], np.int8), **ONE)
    assert out.get().tolist() == [321, 654]


def test_two_kilobytes_by_value(structures):
    values = np.arange(512, dtype=np.float32)
    out = gpuarray.zeros(2, np.float32)
    kernel = structures.get_function("read_large")
    kernel(out, values, np.int32(9), **ONE)
    assert out.get().tolist() == [values.sum(), 9]
    kernel.prepare(["P", np.dtype((np.void, 2048)), "i"])
    kernel.prepared_call((1, 1), (1, 1, 1), out.gpudata, values[::-1].copy(), 8)
    assert out.get().tolist() == [values.sum(), 8]


def test_forty_parameters():
    kernel = SourceModule(kernel_sources.FORTY.source).get_function("forty")
    types = kernel_sources.FORTY_TYPES
    values = [(-1) ** i * (i + 1) for i in range(39)]
    out = gpuarray.zeros(39)
    kernel(out, *(SCALARS[name](value) for name, value in zip(types, values)), **ONE)
    np.testing.assert_array_equal(out.get(), values)
    kernel(out, *values[::-1], **ONE)
    np.testing.assert_array_equal(out.get(), values[::-1])
    code = {"int": "i", "double": "d", "signed char": "b", "long long": "q"}
    code.update({"float": "f", "short": "h"})
    kernel.prepare("P" + "".join(code[name] for name in types))
    kernel.prepared_call((1, 1), (1, 1, 1), out.gpudata, *values)
    np.testing.assert_array_equal(out.get(), values)


# Addresses.


class With:
    """An object of another library."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Sub(gpuarray.GPUArray):
    pass


def interface(array):
    return {"data": (array.ptr, False), "shape": array.shape, "typestr": "<f4", "version": 3}


ADDRESSES = {
    "GPUArray": lambda a: a,
    "subclass of GPUArray": lambda a: Sub(a.shape, a.dtype, gpudata=a.gpudata),
    "DeviceAllocation": lambda a: a.gpudata,
    "int": lambda a: int(a.gpudata),
    ".ptr": lambda a: a.ptr,
    "np.intp": lambda a: np.intp(a.ptr),
    "np.uint64": lambda a: np.uint64(a.ptr),
    "PointerHolderBase": lambda a: Holder(a.gpudata),
    "interface": lambda a: With(__cuda_array_interface__=interface(a)),
    "interface first": lambda a: With(__cuda_array_interface__=interface(a), ptr=1, gpudata=2),
    "gpudata": lambda a: With(gpudata=a.gpudata),
    "gpudata int": lambda a: With(gpudata=a.ptr),
    "ptr": lambda a: With(ptr=a.ptr),
    "slice": lambda a: a[:],
}


@pytest.mark.parametrize("form", ADDRESSES)
def test_what_stands_for_an_address(pointers, form):
    x = np.arange(50, dtype=np.float32)
    a = gpuarray.to_gpu(x)
    pointers.get_function("twice")(ADDRESSES[form](a), np.int32(50), block=(64, 1, 1))
    np.testing.assert_array_equal(a.get(), 2 * x)


def read_only(array):
    return With(__cuda_array_interface__={**interface(array), "data": (array.ptr, True)})


READERS = """
typedef const float fixed;
extern "C" {
__global__ void writes(float *a) { a[0] = 7; }
__global__ void reads(const float *a, float *to) { to[0] = a[0]; }
__global__ void reads_too(fixed *a, float *to) { to[0] = a[0]; }
}
"""


def test_a_read_only_interface_is_only_read():
    module = SourceModule(READERS)
    a, to = gpuarray.to_gpu(np.float32([3])), gpuarray.zeros(1, np.float32)
    writes = module.get_function("writes")
    with pytest.raises(errors.ArgumentError, match=r"'a'.*With; its __cuda_array_interface__ is"):
        writes(read_only(a), **ONE)
    with pytest.raises(errors.ArgumentError, match="__cuda_array_interface__ is read-only"):
        writes.prepare("P").prepared_call((1, 1), (1, 1, 1), read_only(a))
    assert a.get()[0] == 3
    for name in ("reads", "reads_too"):
        to.fill(0)
        module.get_function(name)(read_only(a), to, **ONE)
        assert to.get()[0] == 3


def test_a_read_only_managed_array_is_only_read():
    module = SourceModule(READERS)
    a = drv.managed_zeros(1, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    to = gpuarray.to_gpu(np.float32([3]))
    a.flags.writeable = False
    with pytest.raises(errors.ArgumentError, match="the array is read-only"):
        module.get_function("writes")(a, **ONE)
    module.get_function("reads")(a, to, **ONE)
    assert to.get()[0] == a[0] == 0


WRITES = {
    "memcpy_htod": lambda to: drv.memcpy_htod(to, np.float32([7])),
    "memcpy_dtod": lambda to: drv.memcpy_dtod(to, gpuarray.to_gpu(np.float32([7])).gpudata, 4),
    "memset_d32": lambda to: drv.memset_d32(to, 7, 1),
    "Memcpy2D": lambda to: drv.Memcpy2D().set_dst_device(to),
}


@pytest.mark.parametrize("name", WRITES)
def test_copies_and_fills_of_read_only_interfaces(name):
    a = gpuarray.to_gpu(np.float32([3]))
    with pytest.raises(ValueError, match="the array is read-only"):
        WRITES[name](read_only(a))
    back = np.zeros(1, np.float32)
    drv.memcpy_dtoh(back, read_only(a))
    assert back[0] == a.get()[0] == 3


def test_addresses_as_integers(pointers):
    a, out = gpuarray.zeros(4, np.float32), gpuarray.zeros(1, np.uint64)
    kernel = pointers.get_function("address")
    for argument in (a, a.gpudata, a.ptr, np.uintp(a.ptr), With(ptr=a.ptr), Holder(a.gpudata)):
        kernel(out, argument, **ONE)
        assert out.get()[0] == a.ptr


def test_a_slice_begins_where_it_begins(pointers):
    a = gpuarray.to_gpu(np.arange(10, dtype=np.float32))
    pointers.get_function("twice")(a[4:7], np.int32(3), block=(32, 1, 1))
    assert a.get().tolist() == [0, 1, 2, 3, 8, 10, 12, 7, 8, 9]


def test_null_pointers(pointers):
    out = gpuarray.zeros(1, np.int32)
    kernel = pointers.get_function("is_null")
    empty = gpuarray.zeros(0, np.float32)
    for argument in (0, np.intp(0), empty, With(gpudata=None)):
        drv.memset_d32(out.gpudata, 5, 1)
        kernel(out, argument, **ONE)
        assert out.get()[0] == 1
    kernel(out, out, **ONE)
    assert out.get()[0] == 0


def test_managed_arrays(pointers):
    x = np.arange(20, dtype=np.float32)
    a = drv.managed_empty(20, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    a[:] = x
    kernel = pointers.get_function("twice")
    kernel(a, np.int32(20), block=(32, 1, 1))
    drv.Context.synchronize()
    np.testing.assert_array_equal(a, 2 * x)
    kernel(a[5:], np.int32(1), block=(32, 1, 1))
    drv.Context.synchronize()
    assert a[5] == 20 and a[0] == 0
