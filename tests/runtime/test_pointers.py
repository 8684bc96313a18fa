"""pointer_wrapper_<dtype>: typed addresses, and which of them are safe to read."""

import ctypes
import gc
import operator
import weakref

import numpy as np
import pytest

import PyGPU
from PyGPU import driver as drv
from PyGPU import errors, gpuarray, pointer_wrapper_float64, pointer_wrapper_uint8
from PyGPU.errors import check

DTYPES = PyGPU.SUPPORTED_DTYPES


def class_of(dtype):
    return getattr(PyGPU, f"pointer_wrapper_{dtype}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pointer_to_a_buffer_is_safe(dtype):
    data = np.arange(6).astype(dtype)
    pointer = class_of(dtype)(data)
    assert pointer.is_safe()
    assert int(pointer) == pointer.ptr == data.ctypes.data
    assert pointer.size == 6
    view = pointer.get()
    assert view.dtype == dtype and view.shape == (6,) and np.shares_memory(view, data)
    assert (view == data).all()
    assert repr(pointer) == f"<pointer_wrapper_{dtype} {data.ctypes.data:#x} safe>"


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype_has_a_class_with_two_names(dtype):
    made = class_of(dtype)
    assert getattr(PyGPU, f"ptr_wrapper_{dtype}") is made
    assert issubclass(made, PyGPU.pointer_wrapper) and made.__name__ == f"pointer_wrapper_{dtype}"


def test_a_null_pointer():
    pointer = pointer_wrapper_float64()
    assert int(pointer) == 0 and pointer.size == 0 and not pointer.is_safe()
    assert repr(pointer) == "<pointer_wrapper_float64 0x0>"
    with pytest.raises(ValueError, match="not safe"):
        pointer.get()


def test_a_bare_address_is_not_safe():
    data = np.arange(6.0)
    address = data.ctypes.data
    for pointer in (
        pointer_wrapper_float64(address),
        pointer_wrapper_float64(address, 6),
        pointer_wrapper_float64(address, host=True),  # of unknown extent
        pointer_wrapper_float64(0, 6, True),
    ):
        assert not pointer.is_safe() and "safe" not in repr(pointer)
        with pytest.raises(ValueError, match="not safe"):
            pointer.get()


def test_an_address_of_the_host_with_its_size_is_safe():
    data = np.arange(6.0)
    pointer = pointer_wrapper_float64(address=data.ctypes.data, size=6, host=True)
    assert pointer.is_safe()
    pointer.get()[2] = -1.0
    assert data[2] == -1.0


def test_device_memory_is_not_safe():
    block = PyGPU.DeviceAllocator_float64()
    assert block.allocate(6) == 0
    pointer = block.ptr()
    assert not pointer.is_safe() and pointer.size == 6
    with pytest.raises(ValueError, match=rf"pointer_wrapper_float64 at {int(pointer):#x}"):
        pointer.get()


def test_a_pointer_is_an_int_where_an_int_is_wanted():
    data = bytearray(b"abcdef")
    pointer = pointer_wrapper_uint8(data)
    assert operator.index(pointer) == int(pointer)
    assert hex(pointer) == hex(int(pointer))
    assert ctypes.c_void_p(int(pointer)).value == int(pointer)
    assert ctypes.string_at(int(pointer), 3) == b"abc"


def test_ctypes_takes_a_pointer_as_it_is():
    data, source = bytearray(6), b"abcdef"
    pointer = pointer_wrapper_uint8(data)
    assert pointer._as_parameter_.value == int(pointer)
    ctypes.memmove(pointer, source, 6)
    assert data == source
    assert ctypes.string_at(pointer, 6) == source


def test_equality_and_hash_are_those_of_the_address():
    data = np.arange(6.0)
    pointer, same = pointer_wrapper_float64(data), pointer_wrapper_float64(data.ctypes.data)
    other = pointer_wrapper_float64(data.ctypes.data + 8)
    assert pointer == same and hash(pointer) == hash(same) and not pointer != same
    assert pointer != other and not pointer == other
    assert len({pointer, same, other}) == 2
    for foreign in (None, "text", object()):
        assert pointer != foreign and not pointer == foreign


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_copy_keeps_what_is_known(dtype):
    data = np.zeros(6, dtype)
    pointer = class_of(dtype)(class_of(dtype)(data))
    assert pointer.is_safe() and pointer.size == 6 and int(pointer) == data.ctypes.data


def test_a_pointer_of_another_dtype_is_refused():
    pointer = pointer_wrapper_float64(np.zeros(6))
    with pytest.raises(TypeError, match="address: expected a pointer to int64"):
        PyGPU.pointer_wrapper_int64(pointer)
    assert PyGPU.pointer_wrapper_int64(int(pointer)) == pointer


def test_a_buffer_is_kept_alive_and_let_go():
    data = np.arange(1000.0)
    watch = weakref.ref(data)
    pointer = pointer_wrapper_float64(data)
    del data
    gc.collect()
    assert watch() is not None and (pointer.get() == np.arange(1000.0)).all()
    view = pointer.get()
    del pointer
    gc.collect()
    assert (view == np.arange(1000.0)).all()
    del view
    gc.collect()
    assert watch() is None


def test_a_read_only_buffer_stays_read_only():
    text = b"abcdef"
    view = pointer_wrapper_uint8(text).get()
    assert bytes(view) == text
    assert not view.flags.writeable


def test_any_buffer_of_the_right_type_will_do():
    for data in (bytearray(6), memoryview(bytearray(6)), (ctypes.c_ubyte * 6)(), np.zeros(6, "u1")):
        assert pointer_wrapper_uint8(data).size == 6
    assert pointer_wrapper_float64(np.zeros((2, 3), order="F")).size == 6
    block = PyGPU.HostAllocator_float64()
    assert block.allocate(6) == 0
    assert pointer_wrapper_float64(block) == block.ptr()


def test_buffers_that_are_refused():
    with pytest.raises(TypeError, match="address: expected a buffer of float64"):
        pointer_wrapper_float64(np.zeros(6, np.float32))
    with pytest.raises(TypeError, match="address: expected a buffer of float64"):
        pointer_wrapper_float64(np.zeros(6, ">f8"))
    with pytest.raises(ValueError, match="address: the buffer is not contiguous"):
        pointer_wrapper_float64(np.zeros(6)[::2])


@pytest.mark.parametrize("bad", ["text", 1.5, None, [1], (1,), object()])
def test_what_is_no_address(bad):
    with pytest.raises(TypeError, match="address"):
        pointer_wrapper_float64(bad)


@pytest.mark.parametrize(("arguments", "name"), [((0, "6"), "size"), ((0, -1), "size")])
def test_wrong_types_are_named(arguments, name):
    with pytest.raises(TypeError, match=name):
        pointer_wrapper_float64(*arguments)


def test_an_address_is_neither_negative_nor_too_large():
    for bad in (-1, 2**64):
        with pytest.raises((ValueError, OverflowError), match="address"):
            pointer_wrapper_float64(bad)


def test_what_an_address_can_be_taken_from():
    data = np.arange(6.0)
    address = data.ctypes.data

    class Holder:
        ptr = address

    class Interface:
        __cuda_array_interface__ = {"data": (address, False)}  # noqa: RUF012

    array = PyGPU.GPUArray(6)
    for source in (address, np.uint64(address), Holder(), Interface()):
        assert int(pointer_wrapper_float64(source)) == address
    assert int(pointer_wrapper_float64(array)) == array.ptr


def test_the_low_level_takes_pointers():
    data, found = np.arange(6.0), np.zeros(6)
    block = PyGPU.DeviceAllocator_float64()
    check(block.allocate(6))
    assert PyGPU.cudaMemcpy(block.ptr(), pointer_wrapper_float64(data), data.nbytes) == 0
    assert PyGPU.cudaMemcpy(pointer_wrapper_float64(found), block.ptr(), data.nbytes) == 0
    assert (found == data).all()


def test_arguments_of_ctypes():
    """Without and with a declared type, ctypes passes the whole address."""
    same = ctypes.CDLL(None).labs
    same.restype = ctypes.c_long
    a, stream, event = gpuarray.zeros(3, np.float32), drv.Stream(), drv.Event()
    addresses = [(a, a.ptr), (a.gpudata, a.ptr), (a[1:], a.ptr + 4)]
    addresses += [(stream, stream.handle), (event, int(event))]
    for types in (None, [ctypes.c_void_p]):
        same.argtypes = types
        assert [same(each) for each, _ in addresses] == [number for _, number in addresses]
    memory = drv.mem_alloc(16)
    memory.free()
    with pytest.raises((errors.Error, ctypes.ArgumentError), match="freed"):
        same(memory)
