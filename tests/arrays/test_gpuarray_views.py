"""Indexing makes views: NumPy's shape, strides, place and elements, in the same memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, counted_strides, indices, part, values

from PyGPU import driver, errors, gpuarray
from PyGPU.gpuarray import GPUArray, to_gpu


def address(array):
    return array.__array_interface__["data"][0]


def assert_view(view, x, whole, host):
    """`view` of `whole` is to the device what `x` of `host` is to NumPy."""
    assert view.shape == x.shape
    assert view.dtype == x.dtype
    assert counted_strides(view) == counted_strides(x)
    if x.size:
        assert view.ptr - whole.ptr == address(x) - address(host)
    else:
        assert view.ptr == 0
    assert_same(view.get(), x)


@given(arrays(), st.data())
def test_any_index_of_any_array(x, data):
    whole, host = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    view, expected = whole[index], part(host, index)
    assert_view(view, expected, whole, host)
    again = data.draw(indices(expected.shape))
    assert_view(view[again], part(expected, again), whole, host)


@given(arrays(), st.data())
def test_a_view_and_its_base_share_the_memory(x, data):
    whole, host = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    view, expected = whole[index], part(host, index)
    new = values(x.shape, x.dtype)[::-1] if x.ndim else values((), x.dtype)
    whole.set(new)
    host[...] = new
    assert_same(view.get(), expected)
    source = data.draw(arrays(shape=expected.shape, dtype=x.dtype))
    view.set(source)
    expected[...] = source
    assert_same(whole.get(), host)


def test_indices_without_a_tuple():
    x = np.arange(12).reshape(3, 4)
    whole = to_gpu(x)
    for index in (1, -1, np.int64(2), np.uint8(2), slice(2), ..., None, (), np.array(1)):
        assert_same(whole[index].get(), np.asarray(x[index]))


def test_an_element_is_a_0d_array():
    x = np.arange(12).reshape(3, 4)
    element = to_gpu(x)[1, 2]
    assert isinstance(element, GPUArray)
    assert (element.shape, element.size, element.strides) == ((), 1, ())
    assert element.get().shape == ()
    assert element.get() == x[1, 2]


def test_a_new_axis_has_stride_zero():
    assert gpuarray.zeros(3)[:, None].strides == (8, 0)


@pytest.mark.parametrize(
    "index",
    [
        3,
        -4,
        (0, 4),
        (0, -5),
        (..., 4),
        2**70,
        -(2**70),
        (0, 0, 0),
        (slice(None),) * 3,
        (..., 0, 0, 0),
        (..., ...),
        (..., 0, ...),
        (None,) * 40,
        1.0,
        (0, 1.0),
        np.float64(1),
        1j,
        "a",
        np.array(1.5),
        object(),
        {},
    ],
    ids=lambda index: repr(index).split(" at ")[0][:30],
)
def test_what_is_no_index(index):
    array = gpuarray.zeros((3, 4))
    with pytest.raises(IndexError):
        array[index]
    with pytest.raises(IndexError):
        array[index] = 1
    assert not array.get().any()


def test_an_index_of_an_empty_axis():
    for index in (0, -1):
        with pytest.raises(IndexError):
            GPUArray(0)[index]
    with pytest.raises(IndexError):
        GPUArray(())[0]


def test_slices_that_are_wrong():
    array = gpuarray.zeros((3, 4))
    with pytest.raises(ValueError, match="step"):
        array[::0]
    with pytest.raises((TypeError, IndexError)):
        array[1.5:2]


def test_length():
    assert len(GPUArray((3, 4))) == 3
    assert len(GPUArray((0, 4))) == 0
    with pytest.raises(TypeError, match="0-d"):
        len(GPUArray(()))


def test_iteration():
    x = np.arange(12).reshape(3, 4)
    rows = list(to_gpu(x))
    assert [type(row) for row in rows] == [GPUArray] * 3
    assert [row.get().tolist() for row in rows] == x.tolist()
    assert [element.get().item() for element in rows[0]] == [0, 1, 2, 3]
    assert list(GPUArray((0, 4))) == []
    with pytest.raises(TypeError, match="0-d"):
        list(GPUArray(()))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_truth_of_one_element(shape):
    for element in (0, 1, -2.5, 3j, True, False, np.float32("nan")):
        x = np.full(shape, element)
        assert bool(to_gpu(x)) is bool(x)
    x = np.arange(6).reshape(2, 3)
    assert not to_gpu(x)[0, 0]
    assert to_gpu(x)[1, 2]


@pytest.mark.parametrize("shape", [0, 2, (1, 0), (1, 2)])
def test_no_truth_of_several_or_no_elements(shape):
    with pytest.raises(ValueError, match="ambiguous"):
        bool(gpuarray.zeros(shape))


VIEWS = {
    "slice": lambda array: array[1:],
    "whole slice": lambda array: array[...],
    "reshape": lambda array: array.reshape(6),
    "ravel": lambda array: array.ravel(),
    "view": lambda array: array.view(np.int32),
    "squeeze": lambda array: array.squeeze(),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_base_of_views(kind):
    """The array that was asked is the view's base; the view's gpudata is a bare address."""
    array = to_gpu(np.arange(6.0).reshape(2, 3))
    view = VIEWS[kind](array)
    assert view.base is array
    assert type(view.gpudata) is int
    assert view.gpudata == view.ptr
    again = view[:1]
    assert again.base is view
    assert again.ptr == view.ptr


def test_base_of_a_transpose():
    """Another way to see the same array: the same gpudata, and the owner as base."""
    array = to_gpu(np.arange(6.0).reshape(2, 3))
    part = array[:, 1:]
    for turned in (array.T, array.transpose(), array.transpose((1, 0))):
        assert turned.base is array
        assert turned.gpudata is array.gpudata
    assert array.T.T.base is array
    assert part.T.base is array
    assert part.T.gpudata == part.gpudata


def test_the_memory_object_of_a_transpose_is_made_when_it_is_asked_for():
    array = to_gpu(np.arange(6.0).reshape(2, 3))
    first, again, other = array.T, array.T.T, array[1:].T
    assert first.gpudata is again.gpudata is array.gpudata  # the transpose was asked first
    assert type(other.gpudata) is int and other.gpudata == other.ptr == array.ptr + 24
    assert gpuarray.zeros((0, 3)).T.gpudata is None
    held = to_gpu(np.arange(3.0), allocator=driver.mem_alloc)
    assert held.T.gpudata is held.gpudata


def test_a_transpose_keeps_its_memory_when_the_array_gets_other():
    array, more = to_gpu(np.arange(6.0).reshape(2, 3)), gpuarray.zeros((2, 3))
    before, transposed = array.ptr, array.T
    array.gpudata = more.gpudata
    assert array.ptr == more.ptr and int(transposed.gpudata) == transposed.ptr == before
    del array
    assert transposed.get().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_transpose_frees_the_memory_of_its_array():
    array = to_gpu(np.arange(6.0).reshape(2, 3))
    array.T.gpudata.free()
    with pytest.raises(errors.LogicError):
        array.get()


ITEMS = [np.dtype(code) for code in ("i1", "i2", "f4", "f8", "c16", "S3", "S6", "S12")]


@given(
    st.lists(st.sampled_from([0, 1, 1, 2, 3, 4, 6]), min_size=1, max_size=4),
    st.sampled_from(ITEMS),
    st.sampled_from(ITEMS),
    st.data(),
)
def test_views_of_other_item_sizes(shape, dtype, other, data):
    """As NumPy's, wherever NumPy has one; else of the same bytes, or none."""
    size = int(np.prod(shape)) * dtype.itemsize
    host = (np.arange(size) % 251).astype(np.uint8).view(dtype).reshape(shape)
    host = np.array(host, order=data.draw(st.sampled_from("CF")))
    axes = data.draw(st.permutations(range(host.ndim)))
    index = data.draw(indices(host.transpose(axes).shape))
    seen, view = part(host.transpose(axes), index), to_gpu(host).transpose(axes)[index]
    try:
        expected = seen.view(other)
    except (TypeError, ValueError):
        expected = None
    try:
        found = view.view(other)
    except (TypeError, ValueError):
        assert expected is None
        return
    if expected is not None:
        assert found.ptr == 0 or found.ptr == view.ptr
        assert found.shape == expected.shape and found.dtype == other
        assert counted_strides(found) == counted_strides(expected)
        assert found.get().tobytes() == expected.tobytes()
    else:
        assert found.nbytes == view.nbytes
        assert sorted(found.get().tobytes()) == sorted(seen.tobytes())


def test_a_last_axis_of_length_one_is_contiguous():
    x = np.arange(40, dtype=np.float32)
    for seen in (x.reshape(10, 4)[:, :1], x.reshape(40, 1)[::2], x.reshape(5, 8, 1)[::-1, 2]):
        array = to_gpu(x)[seen.ctypes.data // 4 - x.ctypes.data // 4 :]
        strided = GPUArray(seen.shape, x.dtype, gpudata=array.gpudata, strides=seen.strides)
        found = strided.view(np.int16)
        assert found.shape == seen.view(np.int16).shape
        assert (found.get() == seen.view(np.int16)).all()


def test_a_contiguous_array_is_viewed_along_its_last_axis_alone():
    array = GPUArray((8, 1), np.bool_)
    with pytest.raises(ValueError, match="axis 1 of 1 bytes cannot be viewed as items of 8"):
        array.view(np.uint64)


def test_an_array_of_its_own_memory():
    array = to_gpu(np.arange(6.0))
    assert array.base is None
    assert array.copy().base is None
    assert int(array.gpudata) == array.ptr
    assert array.gpudata is array.gpudata


USES = {
    "get": lambda a: a.get(),
    "get into": lambda a: a.get(np.empty(a.shape, a.dtype)),
    "get async": lambda a: a.get_async(),
    "set": lambda a: a.set(np.zeros(a.shape, a.dtype)),
    "set array": lambda a: a.set(gpuarray.zeros(a.shape, a.dtype)),
    "set async": lambda a: a.set_async(np.zeros(a.shape, a.dtype)),
    "source of set": lambda a: GPUArray(a.shape, a.dtype).set(a),
    "copy": lambda a: a.copy(),
    "assign": lambda a: a.__setitem__(Ellipsis, 1),
    "assign array": lambda a: a.__setitem__(Ellipsis, gpuarray.zeros(a.shape, a.dtype)),
    "text": str,
    "interface": lambda a: a._array_interface,
    "truth": lambda a: bool(a[(0,) * a.ndim]),
    "pickle": lambda a: a.__reduce__(),
}


@pytest.mark.parametrize("use", USES)
def test_views_of_memory_that_was_freed(use):
    array = to_gpu(np.arange(6.0).reshape(2, 3))
    views = [array, *(view(array) for view in VIEWS.values()), array[::-1, ::2], array.T[1:]]
    array.gpudata.free()
    for view in [*views, array[1], array.T, array.reshape(6)]:
        with pytest.raises(errors.LogicError):
            USES[use](view)
    assert gpuarray.zeros(3).get().tolist() == [0, 0, 0]


def test_freeing_twice():
    array = GPUArray(3)
    array.gpudata.free()
    with pytest.raises(errors.LogicError):
        array.gpudata.free()


@pytest.mark.parametrize("dtype", ["c16", "V16", "i8,f8", "f4,f4,f4,f4", "V24", "V32", "S16", "U4"])
@pytest.mark.parametrize("offset, gap", [(0, 0), (8, 8), (16, 24), (1, 3), (4, 4)])
def test_elements_of_many_bytes_are_copied_wherever_they_lie(dtype, offset, gap):
    dtype, data = np.dtype(dtype), np.arange(1920, dtype=np.uint16).view(np.uint8)
    base, stride = gpuarray.to_gpu(data), dtype.itemsize + gap
    shape = ((data.nbytes - offset) // stride,)
    host = np.ndarray(shape, dtype, data.data, offset, (stride,))
    array = gpuarray.GPUArray(shape, dtype, base=base, gpudata=base.ptr + offset, strides=(stride,))
    for chosen in (slice(None), slice(None, None, -1), slice(1, None, 2)):
        assert array[chosen].copy().get().tobytes() == host[chosen].tobytes()
