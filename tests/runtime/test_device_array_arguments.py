"""What DeviceArray_<dtype> can be made from, and what not."""

import array
import ctypes

import numpy as np
import pytest
from campaign import each_once

import PyGPU
from PyGPU import DeviceArray_float64, DeviceArray_int32, DeviceArray_int64, DeviceArray_uint8

DTYPES = PyGPU.SUPPORTED_DTYPES


def class_of(dtype):
    return getattr(PyGPU, f"DeviceArray_{dtype}")


def test_there_is_a_class_for_each_dtype():
    names = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    names += ["float16", "float32", "float64", "complex64", "complex128", "bool"]
    assert sorted(DTYPES) == sorted(names)
    for dtype in DTYPES:
        assert class_of(dtype).__name__ == f"DeviceArray_{dtype}"
        assert issubclass(class_of(dtype), PyGPU.DeviceArray)
        assert repr(class_of(dtype)((2, 3))) == f"<DeviceArray_{dtype} shape=(2, 3)>"


def test_repr_tells_what_is_allocated():
    made = DeviceArray_float64((2, 3))
    assert made.allocate() == 0
    assert repr(made) == "<DeviceArray_float64 shape=(2, 3) allocated>"


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (5, (5,)),
        ((5,), (5,)),
        ([2, 3], (2, 3)),
        ((2, 3, 4), (2, 3, 4)),
        ((), ()),
        (np.int64(5), (5,)),
        ((np.int32(2), np.uint8(3)), (2, 3)),
        (range(2, 4), (2, 3)),
    ],
)
def test_shapes(shape, expected):
    made = DeviceArray_float64(shape)
    assert made.shape() == expected
    assert made.size() == np.prod(expected) and made.nbytes() == 8 * made.size()
    pointer = DeviceArray_float64(24).host_data()
    assert DeviceArray_float64(pointer, shape).shape() == expected


def test_length_is_that_of_the_first_axis():
    assert len(DeviceArray_float64((2, 3))) == 2 and len(DeviceArray_float64(0)) == 0
    with pytest.raises(TypeError, match="len"):
        len(DeviceArray_float64(()))


@pytest.mark.parametrize(
    ("arguments", "strides"),
    [
        (((2, 3),), (24, 8)),
        (((2, 3), "C"), (24, 8)),
        (((2, 3), "F"), (8, 16)),
    ],
)
def test_order(arguments, strides):
    made = DeviceArray_float64(*arguments)
    assert made.strides() == np.asarray(made).strides == strides
    pointer = DeviceArray_float64(6).host_data()
    assert DeviceArray_float64(pointer, *arguments).strides() == strides


def test_order_by_name():
    assert DeviceArray_float64((2, 3), order="F").strides() == (8, 16)
    assert DeviceArray_float64(source=(2, 3), order="C").strides() == (24, 8)
    assert DeviceArray_float64((2, 3), True).strides() == (24, 8)  # the first PyGPU's flag
    assert DeviceArray_float64((2, 3), False).strides() == (8, 16)


def test_strides_are_the_buffers_own():
    data = np.zeros((2, 3, 4)).transpose(2, 1, 0)
    assert DeviceArray_float64(data).strides() == data.strides
    assert np.asarray(DeviceArray_float64(data)).flags.f_contiguous


@pytest.mark.parametrize("bad", ["K", "c", "", "CF"])
def test_unknown_orders(bad):
    with pytest.raises(ValueError, match="order"):
        DeviceArray_float64((2, 3), bad)


@pytest.mark.parametrize("bad", [1.5, [1], {}, b"C", object()])
def test_orders_of_the_wrong_type(bad):
    with pytest.raises(TypeError, match="order"):
        DeviceArray_float64((2, 3), order=bad)


@pytest.mark.parametrize("bad", ["23", None, 1.5, (1.5,), ("2",), ((2, 3), 4), object(), {2: 3}])
def test_shapes_of_the_wrong_type(bad):
    with pytest.raises(TypeError):
        DeviceArray_float64(bad)


@pytest.mark.parametrize("bad", [-1, (2, -3), (2**62, 2**62), (2**63 - 1, 8), (1,) * 40])
def test_impossible_shapes(bad):
    with pytest.raises(ValueError, match=r"shape|dimension|axes"):
        DeviceArray_float64(bad)


def test_host_memory_can_run_out():
    with pytest.raises(MemoryError):
        DeviceArray_float64(2**57)


# Buffers.


@pytest.mark.parametrize(
    ("dtype", "other"), each_once(DTYPES, ["S4", "U4", "V8", "longdouble", *DTYPES])
)
def test_a_buffer_of_another_dtype_is_refused(dtype, other):
    data = np.zeros(4, other)
    if other == dtype:
        assert class_of(dtype)(data).shape() == (4,)
        return
    with pytest.raises(TypeError, match=f"DeviceArray_{dtype}: expected a buffer of {dtype}"):
        class_of(dtype)(data)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).itemsize > 1])
def test_swapped_byte_order_is_refused(dtype):
    with pytest.raises(TypeError, match=f"expected a buffer of {dtype}"):
        class_of(dtype)(np.zeros(4, dtype).astype(np.dtype(dtype).newbyteorder()))


def test_a_structured_buffer_is_refused():
    with pytest.raises(TypeError, match="expected a buffer of float64"):
        DeviceArray_float64(np.zeros(4, [("x", "f8")]))


@pytest.mark.parametrize(
    ("made_from", "dtype"),
    [
        (array.array("d", [1, 2, 3]), "float64"),
        (array.array("i", [1, 2, 3]), "int32"),
        (bytearray(b"abc"), "uint8"),
        (b"abc", "uint8"),
        (memoryview(b"abc"), "uint8"),
        ((ctypes.c_double * 3)(1, 2, 3), "float64"),
        ((ctypes.c_int * 3)(1, 2, 3), "int32"),
        ((ctypes.c_int * 3 * 2)(), "int32"),
        (np.zeros(3, np.intc), "int32"),
        (np.zeros(3, np.longlong), "int64"),
        (np.zeros(3, np.ulonglong), "uint64"),
        (np.zeros((2, 3), bool), "bool"),
        (np.zeros(3).view(np.recarray), "float64"),
    ],
)
def test_any_buffer_of_the_right_type_will_do(made_from, dtype):
    made = class_of(dtype)(made_from)
    assert made.shape() == memoryview(made_from).shape
    assert made.allocate() == made.to_device() == 0


def test_other_arrays_of_ours_are_buffers():
    first = DeviceArray_float64((2, 3), "F")
    second = DeviceArray_float64(first)
    assert second.host_data() == first.host_data() and second.strides() == first.strides()
    block = PyGPU.HostAllocator_float64()
    assert block.allocate(6) == 0
    assert DeviceArray_float64(block).host_data() == block.ptr()


@pytest.mark.parametrize(
    "gappy",
    [
        np.zeros(8)[::2],
        np.zeros(8)[::-1],
        np.zeros((4, 4))[:, :2],
        np.zeros((2, 3, 4)).transpose(1, 0, 2),
        np.broadcast_to(np.zeros(1), (4,)),
    ],
)
def test_a_buffer_with_gaps_is_refused(gappy):
    with pytest.raises(ValueError, match=r"not contiguous.*ascontiguousarray"):
        DeviceArray_float64(gappy)


def test_a_buffer_brings_its_own_shape_and_order():
    with pytest.raises(TypeError, match="shape and order"):
        DeviceArray_float64(np.zeros(6), (2, 3))
    with pytest.raises(TypeError, match="shape and order"):
        DeviceArray_float64(np.zeros(6), order="F")


def test_a_shape_is_given_once():
    with pytest.raises(TypeError):
        DeviceArray_float64((2, 3), (4, 5), "F")
    with pytest.raises(TypeError):
        DeviceArray_float64()
    with pytest.raises(TypeError):
        DeviceArray_float64(6, "C", "C", "C")


# Pointers.


def test_a_pointer_needs_a_shape():
    with pytest.raises(TypeError, match="shape"):
        DeviceArray_int64(DeviceArray_int64(6).host_data())


def test_a_pointer_of_another_dtype_is_refused():
    with pytest.raises(TypeError, match=r"pointer_wrapper_int64, got a pointer_wrapper_int32"):
        DeviceArray_int64(DeviceArray_int32(6).host_data(), 6)


def test_a_null_pointer_is_refused():
    with pytest.raises(ValueError, match="null"):
        DeviceArray_int64(PyGPU.pointer_wrapper_int64(), 6)
    assert DeviceArray_int64(PyGPU.pointer_wrapper_int64(), 0).size() == 0


def test_a_shape_larger_than_the_pointers_memory_is_refused():
    pointer = DeviceArray_int64(6).host_data()
    with pytest.raises(ValueError, match=r"\(7,\).*7.*6"):
        DeviceArray_int64(pointer, 7)
    assert DeviceArray_int64(pointer, (2, 2)).size() == 4


def test_a_pointer_of_unknown_extent_is_trusted():
    data = np.arange(6, dtype=np.uint8)
    pointer = PyGPU.pointer_wrapper_uint8(data.ctypes.data, host=True)
    made = DeviceArray_uint8(pointer, 6)
    assert (np.asarray(made) == data).all()


# Objects whose construction failed.


def test_a_traceback_with_local_variables_can_be_shown(python):
    python("""
import PyGPU
for name, arguments in (
    ("DeviceArray_float64", ("text",)),
    ("DeviceArray_complex64", (b"abc",)),
    ("pointer_wrapper_float64", ("text",)),
    ("HostAllocator_float64", (1, 2, 3)),
):
    try:
        getattr(PyGPU, name)(*arguments)
    except TypeError as error:
        traceback = error.__traceback__
        while traceback:  # the way of debuggers, test runners and error reporters
            for value in list(traceback.tb_frame.f_locals.values()):
                try:
                    repr(value)
                except (TypeError, ValueError):
                    pass  # an exception is fine, a crash is not
            traceback = traceback.tb_next
""")
