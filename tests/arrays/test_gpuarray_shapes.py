"""reshape, ravel, view, transpose, squeeze: other ways to see the same memory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    DTYPES,
    RECORD,
    arrays,
    assert_same,
    counted_strides,
    indices,
    part,
    shapes,
    values,
)

from PyGPU import gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu


@st.composite
def factors(draw, size):
    """A shape of `size` elements."""
    if size == 0:
        return tuple(draw(st.permutations([0, *draw(shapes(max_dims=2))])))
    shape = []
    while size > 1 and len(shape) < 4:
        length = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        shape.append(length)
        size //= length
    return (*shape, size)


ORDERS = st.sampled_from("CFA")


@given(arrays(), ORDERS, st.data())
def test_reshape_is_numpys(x, order, data):
    """The same elements, as a view exactly where NumPy has one, of the same strides.

    A contiguous array becomes one that is contiguous in the order of the call.
    """
    array = to_gpu(x)
    index = tuple(data.draw(st.sampled_from([np.s_[:], np.s_[::-1], np.s_[::2]])) for _ in x.shape)
    if data.draw(st.booleans()):
        x, array = x[(*index, ...)], array[index]
    if data.draw(st.booleans()):
        x, array = x.T, array.T
    new = data.draw(factors(x.size))
    expected, found = x.reshape(new, order=order), array.reshape(new, order=order)
    assert_same(found.get(), expected)
    is_f = order == "F" or (order == "A" and x.flags.f_contiguous and not x.flags.c_contiguous)
    is_in_order = expected.flags.f_contiguous if is_f else expected.flags.c_contiguous
    if x.size and array.strides == x.strides:
        if array.flags.forc and not is_in_order:
            assert found.flags[("C", "F")[is_f]] and found.base is None
        elif np.shares_memory(x, expected):
            assert counted_strides(found) == counted_strides(expected)
            assert found.ptr - array.ptr == address(expected) - address(x)
        else:
            assert found.base is None
    others = [axis for axis in range(len(new)) if math.prod(new[:axis] + new[axis + 1 :])]
    if others:
        free = data.draw(st.sampled_from(others))
        assert array.reshape(*new[:free], -1, *new[free + 1 :], order=order).shape == new


def address(x):
    return x.__array_interface__["data"][0]


@given(arrays(), st.sampled_from("CFAK"), st.booleans())
def test_ravel_is_numpys(x, order, is_turned):
    array = to_gpu(x)
    x, array = (x.T, array.T) if is_turned else (x, array)
    if array.strides == x.strides:  # else "K" would mean another memory
        assert_same(array.ravel(order).get(), x.ravel(order))
        assert_same(np.ravel(array, order).get(), x.ravel(order))


def test_transposed_arrays_are_read_row_by_row():
    x = np.arange(24).reshape(4, 6)
    a = to_gpu(x)
    for got, expected in (
        (a.T.reshape(-1), x.T.reshape(-1)),
        (a.T.ravel(), x.T.ravel()),
        (a.T.reshape(3, 8), x.T.reshape(3, 8)),
        (np.ravel(a.T), x.T.ravel()),
        (to_gpu(np.asfortranarray(x)).ravel(), x.ravel()),
    ):
        assert_same(got.get(), expected)
    memory = a.T.reshape(-1, order="A")  # PyCUDA's reading
    assert_same(memory.get(), np.arange(24))
    assert memory.ptr == a.ptr
    assert a.T.ravel("K").ptr == a.ptr


def test_a_shape_that_needs_a_copy():
    x = np.arange(24).reshape(4, 6)
    for turned in (to_gpu(x).T, to_gpu(x)[:, 1:]):
        before = turned.get()
        with pytest.raises(AttributeError, match=r"shape=.*copied"):
            turned.shape = (-1,)
        assert_same(turned.get(), before)
    view = to_gpu(x)[::2]
    view.shape = (2, 3, 2)
    assert_same(view.get(), x[::2].reshape(2, 3, 2))


def test_forms_of_reshape():
    array = to_gpu(np.arange(6))
    expected = np.arange(6).reshape(2, 3)
    for shape in [(2, 3), [2, 3], np.array([2, 3]), (np.int64(2), np.uint8(3)), (2, -1)]:
        assert_same(array.reshape(shape).get(), expected)
        assert_same(array.reshape(*shape).get(), expected)
    assert_same(array.reshape(-1).get(), np.arange(6))
    assert_same(array[:1].reshape(()).get(), np.array(0))
    assert_same(array[2].reshape(1, 1).get(), np.array([[2]]))


@pytest.mark.parametrize("shape", [(7,), (), (4, 2), (-1, 4), (-1, 0), (0,), (-2, -3), (2, -3)])
def test_wrong_sizes(shape):
    for array in (to_gpu(np.arange(6)), to_gpu(np.arange(12))[::2]):
        with pytest.raises(ValueError, match="shape"):
            array.reshape(shape)


def test_two_free_axes():
    with pytest.raises(ValueError, match="one unknown"):
        GPUArray(6).reshape(-1, -1)
    with pytest.raises(ValueError, match="reshape"):
        GPUArray((0, 3)).reshape(0, -1)


@pytest.mark.parametrize("shape", [2**70, (2**32, 2**32), (2**62, 4, 0)])
def test_reshapes_beyond_any_memory(shape):
    with pytest.raises((ValueError, OverflowError)):
        GPUArray(0).reshape(shape)


def test_wrong_arguments_of_reshape():
    array = GPUArray(6)
    with pytest.raises(IndexError):
        array.reshape()
    with pytest.raises(ValueError, match="order"):
        array.reshape(2, 3, order="K")
    for shape in [("6",), (6.0,), ((2.0, 3),), (None,)]:
        with pytest.raises(TypeError):
            array.reshape(*shape)


def test_reshape_to_the_same_shape_changes_nothing():
    for order in "CF":
        array = GPUArray((2, 3), order=order)
        assert array.reshape(2, 3, order=order) is array


@given(arrays(), st.data())
def test_a_view_of_the_same_item_size(x, data):
    """Arrays of any layout, and zero-dimensional arrays."""
    index = data.draw(indices(x.shape))
    if x.dtype.char in "gG":  # the padding of long doubles means nothing to other dtypes
        return
    same = [d for d in DTYPES if d.itemsize == x.dtype.itemsize and d.char not in "gG"]
    dtype = data.draw(st.sampled_from(same))
    host = part(x.copy(order="K"), index)
    view = to_gpu(x)[index].view(dtype)
    assert view.dtype == dtype
    assert_same(view.get(), host.view(dtype))
    assert counted_strides(view) == counted_strides(host)


SIZES = [("f8", "i2"), ("i2", "f8"), ("S6", "S2"), ("S2", "S4"), (RECORD, "u1"), ("u1", RECORD)]


@pytest.mark.parametrize(("old", "new"), SIZES, ids=str)
@pytest.mark.parametrize("shape", [(92,), (2, 92), (3, 0), (0, 92)])
def test_a_view_of_another_item_size(old, new, shape):
    """The axis that is packed in memory changes its length: the last in C order, else the first."""
    x = values(shape, old)
    view = to_gpu(x).view(new)
    assert_same(view.get(), x.view(new))
    assert counted_strides(view) == counted_strides(x.view(new))
    if x.size:
        turned = to_gpu(x.T).view(new)
        assert_same(turned.get(), x.view(new).T)


@pytest.mark.parametrize("shape", [(5, 0), (0, 5), (1, 5), (5, 1), (1, 1), (2, 0, 3)])
@pytest.mark.parametrize("codes", [("f8", "u1"), ("i4", "f8")])
def test_view_of_another_size_goes_along_the_last_axis(shape, codes):
    x = np.zeros(shape, codes[0])
    if x.shape[-1] * x.itemsize % np.dtype(codes[1]).itemsize:
        with pytest.raises(ValueError):
            to_gpu(x).view(codes[1])
    else:
        assert_same(to_gpu(x).view(codes[1]).get(), x.view(codes[1]))
        x = x[None]  # whose new axis may have a stride of zero
        assert_same(to_gpu(x[0])[None].view(codes[1]).get(), x.view(codes[1]))


def test_a_view_of_another_item_size_within_gaps():
    x = np.arange(24.0).reshape(4, 6)
    view = to_gpu(x)[::2, 1:5].view(np.int32)
    assert_same(view.get(), x.view(np.int32)[::2, 2:10])
    view[...] = 0
    assert not view.get().any()


def test_views_share_the_memory():
    array = gpuarray.zeros(3, np.float32)
    array.view(np.int32)[1:] = 0x3F800000
    assert array.get().tolist() == [0, 1, 1]
    assert array.view().dtype == np.float32
    assert array.view(None).ptr == array.view("S4").ptr == array.ptr


def test_views_that_do_not_fit():
    x = np.arange(6.0).reshape(2, 3)
    array = to_gpu(x)
    for view in (array, array.T, array[0]):
        with pytest.raises(ValueError, match="bytes"):
            view.view("c16")
    for view in (array[:, ::2], array[:, ::-1], array[0, 0]):
        for dtype in ("f4", "c16", "S1"):
            with pytest.raises(ValueError, match="view"):
                view.view(dtype)
    with pytest.raises(TypeError):
        array.view(object)


@given(arrays(), st.data())
def test_transpose(x, data):
    host, array = x.copy(order="K"), to_gpu(x)
    axes = data.draw(st.permutations(range(x.ndim)))
    axes = tuple(axis - data.draw(st.sampled_from([0, x.ndim])) for axis in axes)
    pairs = [
        (array.transpose(axes), host.transpose(axes)),
        (array.transpose(list(axes)), host.transpose(axes)),
        (array.transpose(), host.T),
        (array.transpose(None), host.T),
        (array.T, host.T),
    ]
    for view, expected in pairs:
        assert_same(view.get(), expected)
        assert counted_strides(view) == counted_strides(expected)
        assert view.ptr == array.ptr


@pytest.mark.parametrize(
    "axes", [(), (0,), (0, 1), (0, 1, 2, 3), (0, 0, 1), (0, -3, 1), (0, 1, 3), (0, 1, -4), 0]
)
def test_wrong_axes(axes):
    with pytest.raises(ValueError, match=r"ax[ei]s"):
        GPUArray((2, 3, 4)).transpose(axes)


def test_axes_that_are_no_axes():
    for axes in [(0.0, 1), "01", (None, 1)]:
        with pytest.raises(TypeError):
            GPUArray((2, 3)).transpose(axes)
    for axes in [(0, 0), (0, 2), (0,)]:
        with pytest.raises(ValueError):
            GPUArray((2, 3)).transpose(*axes)


def test_the_order_of_pycudas_reshape():
    """PyCUDA's own test: the result is contiguous in the order of the call."""
    x = np.arange(128, dtype="f4").reshape(8, 16)
    turned = to_gpu(x).reshape(4, 32, order="C").reshape(4, 32, order="F")
    assert turned.flags.f_contiguous and not turned.flags.c_contiguous
    again = turned.reshape((4, 32))
    assert again.flags.c_contiguous
    for one in (turned, again, turned.reshape((4, 32), order="F")):
        assert_same(one.get(), x.reshape(4, 32))


@pytest.mark.parametrize("x", [np.arange(6).reshape(2, 3), np.zeros((0, 2)), np.array(3.0)])
def test_keywords_of_numpys_methods(x):
    whole = to_gpu(x)
    for host, array in ((x, whole), (x.T, whole.T), (x[None], whole[None])):
        for order in "CFAK":
            assert_same(array.copy(order=order).get(), host.copy(order=order))
            assert array.copy(order).flags.c_contiguous == host.copy(order).flags.c_contiguous
            cast = array.astype("f4", order=order, copy=False)
            assert cast.flags.f_contiguous == host.astype("f4", order=order).flags.f_contiguous
            assert_same(cast.get(), host.astype("f4"))
        assert array.astype(array.dtype, copy=False) is array
        assert array.astype(array.dtype) is not array
        assert_same(array.transpose(*range(host.ndim)[::-1]).get(), host.T)
        assert type(array)(array.shape, dtype=array.dtype).shape == host.shape
    with pytest.raises(TypeError, match="casting='safe' does not allow"):
        to_gpu(x).astype("i2", casting="safe")


def test_copies_of_reshape():
    x = np.arange(6).reshape(2, 3)
    array = to_gpu(x)
    assert array.reshape(3, 2, copy=False).ptr == array.ptr
    assert array.reshape(2, 3, copy=True).ptr != array.ptr
    with pytest.raises(ValueError, match=r"copy=False: shape .* needs a copy"):
        array.T.reshape(6, copy=False)


def test_names_of_flags():
    for x in (np.zeros((2, 3)), np.zeros((2, 3)).T, np.zeros(3), np.zeros((4, 4))[::2, ::2]):
        flags = to_gpu(x)[...].flags if x.flags.forc else to_gpu(np.zeros((4, 4)))[::2, ::2].flags
        for name in ("C", "F", "C_CONTIGUOUS", "F_CONTIGUOUS", "CONTIGUOUS", "FORTRAN", "FORC"):
            assert flags[name] == x.flags[name], name
    with pytest.raises(KeyError, match="expected C_CONTIGUOUS"):
        flags["X"]


@given(arrays(), st.data())
def test_squeeze(x, data):
    """Axes of length one go, those of length zero stay."""
    index = data.draw(indices(x.shape))
    view, host = to_gpu(x)[index], part(x.copy(order="K"), index)
    assert_same(view.squeeze().get(), host.squeeze())
    assert counted_strides(view.squeeze()) == counted_strides(host.squeeze())
    assert view.squeeze().ptr == view.ptr


def test_shapes_are_views():
    x = np.arange(6).reshape(2, 3)
    array = to_gpu(x)
    ways = [array.reshape(3, 2), array.ravel(), array.T, array.squeeze(), array.view(np.uint64)]
    for number, view in enumerate(ways):
        view[(0,) * view.ndim] = 100 + number
        assert array.get()[0, 0] == 100 + number
