"""to_gpu, get and set: any layout on either side, and what they refuse."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    DTYPES,
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


@given(arrays())
def test_there_and_back(x):
    array = to_gpu(x)
    got = array.get()
    assert_same(got, x)
    packed = x.copy(order="K")
    assert counted_strides(array) == counted_strides(got) == counted_strides(packed)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_there_and_back(dtype):
    x = values((3, 4), dtype)
    for source in (x, x.T, x[::-1, ::2], np.broadcast_to(x[:1], x.shape)):
        assert_same(to_gpu(source).get(), source)


@given(arrays(), st.data())
def test_get_of_any_view(x, data):
    """The axes stay in their order in memory; what a view leaves out does not come along."""
    index = data.draw(indices(x.shape))
    host = part(x.copy(order="K"), index)
    got = to_gpu(x)[index].get()
    assert_same(got, host)
    assert counted_strides(got) == counted_strides(host.copy(order="K"))


@given(arrays(), st.data())
def test_get_gives_fresh_memory(x, data):
    index = data.draw(indices(x.shape))
    array = to_gpu(x)[index]
    first = array.get()
    assert first.flags.owndata
    assert first.flags.writeable
    assert first.flags.aligned
    kept = first.copy()
    first[...] = np.zeros((), x.dtype)
    assert_same(array.get(), kept)


def test_to_gpu_copies():
    x = np.arange(3.0)
    array = to_gpu(x)
    x[:] = 7
    assert array.get().tolist() == [0, 1, 2]
    other = to_gpu(array)
    array.set(x)
    assert other.get().tolist() == [0, 1, 2]


def test_to_gpu_of_subclasses():
    class Measured(np.ndarray):
        pass

    x = np.arange(6.0).reshape(2, 3)
    for kind in (Measured, np.matrix, np.recarray):
        assert_same(to_gpu(x.view(kind)).get(), x)


def test_to_gpu_of_read_only_and_mapped_memory(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    assert_same(to_gpu(mapped).get(), np.arange(6.0))


def test_to_gpu_of_unaligned_memory():
    x = np.frombuffer(b"x" + np.arange(6.0).tobytes(), np.uint8)[1:].view(np.float64)
    assert not x.flags.aligned
    array = to_gpu(x)
    assert_same(array.get(), x)
    out = np.zeros(49, np.uint8)[1:].view(np.float64)
    array.get(out)
    assert_same(out, x)


@given(arrays(), st.data())
def test_get_into_any_layout(x, data):
    """Only the elements of `ary` change: not those between them."""
    whole = data.draw(arrays(dtype=x.dtype, writable=True)).copy(order="K")
    index = data.draw(indices(whole.shape))
    out, expected = part(whole, index), whole.copy(order="K")
    new = data.draw(arrays(shape=out.shape, dtype=x.dtype))
    part(expected, index)[...] = new
    assert to_gpu(new).get(out) is out
    assert_same(whole, expected)


@given(arrays(), st.data())
def test_get_of_any_view_into_any_layout(x, data):
    index = data.draw(indices(x.shape))
    host = part(x.copy(order="K"), index)
    out = data.draw(arrays(shape=host.shape, dtype=x.dtype, writable=True))
    assert to_gpu(x)[index].get(out) is out
    assert_same(out, host)


@given(arrays(), st.data())
def test_set_from_any_layout_into_any_layout(x, data):
    """Only the elements of the view change: not those between them."""
    whole, expected = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    source = data.draw(arrays(shape=part(expected, index).shape, dtype=x.dtype))
    before = source.copy()
    assert whole[index].set(source) is None
    part(expected, index)[...] = source
    assert_same(whole.get(), expected)
    assert_same(source, before)


@given(arrays(), st.data())
def test_set_from_another_array(x, data):
    whole, expected = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    source = data.draw(arrays(shape=part(expected, index).shape, dtype=x.dtype))
    whole[index].set(to_gpu(source))
    part(expected, index)[...] = source
    assert_same(whole.get(), expected)


@given(arrays(), st.data())
def test_set_from_a_view_of_another_array(x, data):
    index = data.draw(indices(x.shape))
    host = part(x.copy(order="K"), index)
    array = gpuarray.empty_like(to_gpu(x)[index])
    array.set(to_gpu(x)[index])
    assert_same(array.get(), host)


@given(shapes(), st.data())
def test_set_into_strides_of_ones_own(shape, data):
    """Strides that no index makes: gaps, and axes that run backwards in fresh memory."""
    host = data.draw(arrays(shape=shape, dtype=np.int16, writable=True))
    array = GPUArray(shape, np.int16, strides=host.strides)
    array.set(host)
    assert_same(array.get(), host)
    assert_same(array.copy().get(), host)


def test_other_sizes():
    array = gpuarray.zeros((2, 3))
    for shape in (5, (2, 4), (), 0, (2, 3, 2)):
        with pytest.raises(ValueError, match="size"):
            array.set(np.zeros(shape))
        with pytest.raises(ValueError, match="size"):
            array.get(np.zeros(shape))
        with pytest.raises(ValueError, match=r"size|shape"):
            array.set(gpuarray.zeros(shape))


@given(arrays(), st.data())
def test_set_of_another_shape_warns_and_reshapes(x, data):
    if x.ndim == 0:
        return
    source = data.draw(arrays(shape=(*x.shape[::-1], 1), dtype=x.dtype))
    expected = source.reshape(x.shape)
    array = to_gpu(x)
    with pytest.warns(UserWarning, match="shape"):
        array.set(source)
    assert_same(array.get(), expected)


@given(arrays(), st.data())
def test_set_from_an_array_of_another_shape_warns_and_reshapes(x, data):
    """By NumPy's reading of the elements, not in the order in which they lie."""
    index = data.draw(indices(x.shape))
    source = part(x.copy(order="K"), index)
    shape = (1, *source.shape[::-1], 1)
    array = GPUArray(shape, x.dtype, order=data.draw(st.sampled_from("CF")))
    with pytest.warns(UserWarning, match="shape"):
        array.set(to_gpu(x)[index])
    assert_same(array.get(), source.reshape(shape))


def test_get_of_another_shape_warns_and_reshapes():
    x = np.arange(6.0).reshape(2, 3)
    array = to_gpu(x)
    for out in (np.zeros((3, 2)), np.zeros(6), np.zeros(12)[::2], np.zeros((6, 1), order="F")):
        with pytest.warns(DeprecationWarning, match="shape"):
            got = array.get(out)
        assert_same(got, x)
        assert np.shares_memory(got, out)
        assert out.ravel().tolist() == x.ravel().tolist()
    turned = np.zeros((2, 3)).T  # cannot be seen in the shape (2, 3) without a copy
    with pytest.warns(DeprecationWarning), pytest.raises(ValueError, match="copy"):
        array.get(turned)
    assert not turned.any()


def test_a_warning_that_is_an_error_changes_nothing():
    array, out = gpuarray.zeros((2, 3)), np.ones(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            array.set(np.ones(6))
        with pytest.raises(DeprecationWarning):
            array.get(out)
    assert not array.get().any()
    assert out.all()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, ">f8", "S8", [("a", "f8")]])
def test_other_dtypes(dtype):
    """PyCUDA's choice of exceptions: ValueError for set, TypeError for get."""
    array, other = gpuarray.zeros(3), np.zeros(3, dtype)
    with pytest.raises(ValueError, match="float64"):
        array.set(other)
    with pytest.raises(TypeError, match="float64"):
        array.get(other)


def test_set_from_an_array_of_another_dtype():
    with pytest.raises(ValueError, match="float64"):
        gpuarray.zeros(3).set(gpuarray.zeros(3, np.float32))


def test_a_read_only_destination():
    out = np.zeros(3)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        to_gpu(np.ones(3)).get(out)
    assert not out.any()


class Arraylike:
    def __array__(self, dtype=None, copy=None):
        return np.zeros(3)


@pytest.mark.parametrize(
    "wrong", [[0.0, 1, 2], (0.0,), 1.0, np.float64(1), "abc", b"a", Arraylike()]
)
def test_wrong_types(wrong):
    array = gpuarray.zeros(3)
    for call in (array.set, array.get, gpuarray.to_gpu_async, array.set_async):
        with pytest.raises(TypeError):
            call(wrong)
    if not isinstance(wrong, (list, tuple, float)):  # of which to_gpu makes an ndarray
        with pytest.raises(TypeError, match="to_gpu: ary: expected a numpy"):
            to_gpu(wrong)


def test_missing_and_unknown_arguments():
    array = gpuarray.zeros(3)
    for call in (to_gpu, array.set):
        with pytest.raises(TypeError):
            call()
        with pytest.raises(TypeError):
            call(None)
    with pytest.raises(TypeError):
        array.get(nothing=1)
    with pytest.raises(TypeError):
        array.get(gpuarray.zeros(3))
