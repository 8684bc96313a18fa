"""Arrays: their shapes, how they are filled and read, and what cannot be one."""

import numpy as np
import pytest
from array_tools import contents, copy_all, make, need_arrays  # noqa: F401

import PyGPU
import PyGPU.driver as drv

FORMATS = drv.array_format
DTYPES = {
    "u1": FORMATS.UNSIGNED_INT8,
    "u2": FORMATS.UNSIGNED_INT16,
    "u4": FORMATS.UNSIGNED_INT32,
    "i1": FORMATS.SIGNED_INT8,
    "i2": FORMATS.SIGNED_INT16,
    "i4": FORMATS.SIGNED_INT32,
    "f2": FORMATS.HALF,
    "f4": FORMATS.FLOAT,
}


def numbers(shape, dtype="f4"):
    return np.random.default_rng(7).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_format_of_a_dtype(dtype):
    assert drv.dtype_to_array_format(np.dtype(dtype)) == DTYPES[dtype]


@pytest.mark.parametrize("dtype", ["f8", "i8", "u8", "c8", "?", "S4", ">f4", "M8[s]", "i4,i4"])
def test_a_dtype_that_no_texture_has(dtype):
    with pytest.raises(TypeError, match="expected an integer of 8, 16 or 32 bits, float16"):
        drv.dtype_to_array_format(np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("extent", [(5, 0, 0), (5, 3, 0), (5, 3, 2)])
def test_what_is_put_in_comes_out(dtype, channels, extent):
    array = make(*extent, DTYPES[dtype], channels)
    data = numbers((max(extent[2], 1), max(extent[1], 1), 5 * channels), dtype)
    copy_all(array, data)
    np.testing.assert_array_equal(contents(array, data.shape, dtype), data)


@pytest.mark.parametrize("extent", [(5, 0, 4), (5, 3, 4)])
def test_layers(extent):
    array = make(*extent, flags=drv.array3d_flags.ARRAY3D_LAYERED)
    data = numbers((4, max(extent[1], 1), 5))
    copy_all(array, data)
    np.testing.assert_array_equal(contents(array, data.shape, "f4"), data)
    assert array.get_descriptor_3d().flags & drv.array3d_flags.ARRAY3D_LAYERED


def test_descriptors():
    wish = drv.ArrayDescriptor()
    assert (wish.width, wish.height, wish.num_channels) == (0, 0, 0)
    wish.width, wish.height, wish.format, wish.num_channels = 7, 3, FORMATS.SIGNED_INT16, 2
    array = drv.Array(wish)
    told = array.get_descriptor()
    assert type(told) is drv.ArrayDescriptor
    assert (told.width, told.height, told.num_channels) == (7, 3, 2)
    assert told.format is FORMATS.SIGNED_INT16
    told = array.get_descriptor_3d()
    assert type(told) is drv.ArrayDescriptor3D
    assert (told.width, told.height, told.depth, told.flags) == (7, 3, 0, 0)
    assert isinstance(array.handle, int)
    assert array.handle


def test_free():
    array = make(4)
    array.free()
    array.free()
    for use in (array.get_descriptor, lambda: array.handle, lambda: drv.TextureObject(array)):
        with pytest.raises(drv.LogicError, match="freed"):
            use()


@pytest.mark.alone
def test_arrays_take_memory_and_give_it_back():
    array = make(4096, 4096)
    taken = drv.mem_get_info()[0]
    array.free()
    assert drv.mem_get_info()[0] >= taken + 4096 * 4096 * 4


@pytest.mark.parametrize(
    "wish",
    [
        {"width": 0},
        {"width": 4, "num_channels": 3},
        {"width": 4, "num_channels": 0},
        {"width": 4, "num_channels": 5},
        {"width": 4, "format": 7},
        {"width": 4, "format": None},
        {"width": 1 << 40},
        {"width": 4, "height": 1 << 30},
        {"width": 4, "height": 4, "depth": 1 << 20},
        {"width": 4, "flags": 1 << 20},
    ],
    ids=str,
)
def test_what_no_array_can_be(wish):
    with pytest.raises(drv.LogicError):
        make(**wish)


def test_descriptors_of_the_wrong_type():
    with pytest.raises(TypeError, match="ArrayDescriptor"):
        drv.Array(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="width"):
        make(2.5)
    with pytest.raises(OverflowError, match="height=-1"):
        make(2, -1)


@pytest.mark.parametrize("order", ["C", "F", "c", "f"])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda m: m[:, ::-1]])
def test_matrix_to_array(order, layout):
    matrix = layout(numbers((3, 5), "i2"))
    array = drv.matrix_to_array(matrix, order)
    told = array.get_descriptor()
    fast_last = matrix if order in "Cc" else matrix.T
    assert (told.height, told.width) == fast_last.shape
    np.testing.assert_array_equal(contents(array, fast_last.shape, "i2"), fast_last)


def test_matrix_to_array_of_doubles():
    matrix = np.random.default_rng(1).random((3, 5))
    array = drv.matrix_to_array(matrix, "C", allow_double_hack=True)
    told = array.get_descriptor()
    assert (told.format, told.num_channels, told.width) == (FORMATS.SIGNED_INT32, 2, 5)
    np.testing.assert_array_equal(contents(array, (3, 5), "f8"), matrix)
    with pytest.raises(TypeError, match="float64"):
        drv.matrix_to_array(matrix, "C")


@pytest.mark.parametrize("order", ["X", None, "CF", ""])
def test_an_order_that_is_none(order):
    for make_array in (drv.matrix_to_array, drv.np_to_array, drv.gpuarray_to_array):
        with pytest.raises(drv.LogicError, match="order"):
            make_array(np.zeros((2, 2), "f4"), order)


@pytest.mark.parametrize("shape", [(), (4,), (0, 4), (4, 0), (2, 2, 2)])
def test_matrices_have_two_dimensions(shape):
    with pytest.raises(drv.LogicError, match="dimensions"):
        drv.matrix_to_array(np.zeros(shape, "f4"), "C")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5)])
@pytest.mark.parametrize("dtype", ["f4", "u1", "f8", "c8", "c16"])
@pytest.mark.parametrize("surface", [False, True])
def test_np_to_array_and_gpuarray_to_array(order, shape, dtype, surface):
    data = np.asarray(numbers(shape, dtype), order=order)
    fast_last = data if order == "C" else data.T
    arrays = [drv.np_to_array(data, order, surface)]
    arrays.append(drv.gpuarray_to_array(PyGPU.to_gpu(data), order, surface))
    for array in arrays:
        told = array.get_descriptor_3d()
        lengths = (told.depth, told.height, told.width)
        assert lengths[-len(shape) :] == fast_last.shape
        assert bool(told.flags & drv.array3d_flags.SURFACE_LDST) == surface
        assert told.num_channels == {"f8": 2, "c8": 2, "c16": 4}.get(dtype, 1)
        np.testing.assert_array_equal(contents(array, fast_last.shape, dtype), fast_last)


def test_gpuarray_to_array_does_not_mix_orders():
    with pytest.raises(ValueError, match="contiguous"):
        drv.gpuarray_to_array(PyGPU.to_gpu(numbers((3, 5))), "F")
    with pytest.raises(ValueError, match="contiguous"):
        drv.gpuarray_to_array(PyGPU.to_gpu(numbers((6, 5)))[::2], "C")


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_make_multichannel_2d_array(channels, order):
    data = numbers((3, 5, channels), "u1")
    given = data if order == "C" else np.ascontiguousarray(data.transpose(2, 1, 0))
    array = drv.make_multichannel_2d_array(given, order)
    told = array.get_descriptor()
    assert (told.height, told.width, told.num_channels) == data.shape
    np.testing.assert_array_equal(contents(array, data.shape, "u1"), data)


def test_make_multichannel_2d_array_of_three():
    with pytest.raises(drv.LogicError, match="num_channels=3"):
        drv.make_multichannel_2d_array(numbers((3, 5, 3), "u1"), "C")


def test_copies_to_and_from_one_dimension():
    data = numbers(16)
    array, other = make(16), make(16)
    drv.memcpy_htoa(array, 0, data)
    out = np.zeros(6, "f4")
    drv.memcpy_atoh(out, array, 4 * 10)
    np.testing.assert_array_equal(out, data[10:])
    memory = PyGPU.to_gpu(np.arange(100, 108, dtype="f4"))
    drv.memcpy_dtoa(array, 4 * 2, memory.gpudata, 12)
    drv.memcpy_atoa(other, 4 * 4, array, 0, 4 * 8)
    drv.memcpy_atod(memory, other, 4 * 4, 16)
    np.testing.assert_array_equal(memory.get(), [*data[:2], 100, 101, 104, 105, 106, 107])
    assert drv.py_memcpy_htoa is drv.memcpy_htoa
    assert drv.py_memcpy_atoh is drv.memcpy_atoh


def test_bad_copies_to_and_from_one_dimension():
    array, memory = make(16), PyGPU.zeros(64, np.float32)
    for index, nbytes in ((60, 8), (64, 4), (2, 4), (0, 6)):
        with pytest.raises(drv.LogicError):
            drv.memcpy_dtoa(array, index, memory, nbytes)
        with pytest.raises(drv.LogicError):
            drv.memcpy_atod(memory, array, index, nbytes)
    with pytest.raises(OverflowError):
        drv.memcpy_dtoa(array, -4, memory, 4)
    with pytest.raises(TypeError, match="Array"):
        drv.memcpy_dtoa(memory, 0, memory, 4)
    with pytest.raises(drv.LogicError, match="one row"):
        drv.memcpy_htoa(make(4, 4), 0, np.zeros(4, "f4"))
    with pytest.raises(BufferError, match="read-only"):
        drv.memcpy_atoh(bytes(16), array, 0)
    with pytest.raises(ValueError, match="contiguous"):
        drv.memcpy_htoa(array, 0, np.zeros(16, "f4")[::2])
    with pytest.raises(drv.LogicError, match="whole elements"):
        drv.memcpy_atoa(make(8, num_channels=2), 0, array, 0, 16)
    with pytest.raises(TypeError, match="host buffer"):
        drv.memcpy_htoa(array, 0, [1, 2])


def test_an_array_that_was_never_made():
    ghost = drv.Array.__new__(drv.Array)
    for use in (ghost.get_descriptor, lambda: drv.SurfaceObject(ghost), ghost.free):
        with pytest.raises(TypeError):
            use()
