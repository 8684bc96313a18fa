"""a[indices] = value and put(), indices on the device, against NumPy: all is written or nothing."""

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, rare_but
from hypothesis import given
from strategies import DTYPES, USUAL_DTYPES, arrays, assert_same, shapes, values

from PyGPU import driver, errors
from PyGPU.gpuarray import put, take, to_gpu, zeros

# Around what one block does, a plain launch, and several words for each thread.
SIZES = [1, 63, 1000, 1024, 1025, 5000, (1 << 20) + 3]


def permuted(n, kind=np.int64):
    """Each index once, some of them counted from the end."""
    index = np.random.default_rng(n).permutation(n).astype(kind)
    if np.dtype(kind).kind == "i":
        index[::3] -= n
    return index


@pytest.mark.parametrize(("n", "kind"), each_once(SIZES, [np.int32, np.uint32, np.int64, np.int16]))
def test_sizes(n, kind):
    if n > 2**15 and kind is np.int16:
        kind = np.int64
    x, index = values((n,), "f4"), permuted(n, kind)
    array = to_gpu(np.zeros_like(x))
    array[to_gpu(index)] = to_gpu(x)
    expected = np.zeros_like(x)
    expected[index] = x
    assert_same(array.get(), expected)
    assert_same(to_gpu(x)[to_gpu(index)].get(), x[index])
    put(array, to_gpu(index[::-1].copy()), to_gpu(x))
    expected[index[::-1]] = x
    assert_same(array.get(), expected)
    array[to_gpu(index[: n // 2])] = 7
    put(array, to_gpu(index[n // 2 :]), 8)
    expected[index[: n // 2]] = 7
    expected[index[n // 2 :]] = 8
    assert_same(array.get(), expected)


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_modes_of_many(mode):
    x = values((1000,), "i4")
    index = np.random.default_rng(1).integers(-3000, 3000, (1 << 20) + 3)
    assert_same(take(to_gpu(x), to_gpu(index), mode=mode).get(), x.take(index, mode=mode))
    array = to_gpu(x)
    put(array, to_gpu(index), to_gpu(np.int32([5])), mode=mode)
    x.put(index, 5, mode=mode)
    assert_same(array.get(), x)


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("place", [0, 0.6, -1])
@pytest.mark.parametrize("wrong", ["high", "low"])
def test_one_wrong_index(n, place, wrong):
    """Nothing is written."""
    x, index = values((n,), "f8"), permuted(n)
    wrong = n if wrong == "high" else -n - 1
    index[int(place * n) if place >= 0 else place] = wrong
    array, on_device = to_gpu(x), to_gpu(index)
    message = f"index {wrong} is out of bounds for axis 0 with size {n}"
    for write in (
        lambda: array.__setitem__(on_device, to_gpu(-x)),
        lambda: array.__setitem__(on_device, 5),
        lambda: put(array, on_device, to_gpu(-x)),
        lambda: put(array, on_device, to_gpu(x[:1])),
        lambda: put(array, on_device, 5),
        lambda: take(array, on_device),
        lambda: array[on_device],
    ):
        with pytest.raises(IndexError, match=message):
            write()
    assert_same(array.get(), x)
    array[on_device[:0]] = 5
    assert_same(array.get(), x)


@pytest.mark.parametrize("dtype", rare_but(USUAL_DTYPES, DTYPES), ids=str)
def test_dtypes(dtype):
    x = values((9, 4), dtype)
    index = np.array([[8, -9], [3, 4]])
    array, expected = to_gpu(x), x.copy()
    array[to_gpu(index)] = to_gpu(x[4:8].reshape(2, 2, 4))
    expected[index] = x[4:8].reshape(2, 2, 4)
    assert_same(array.get(), expected)
    array[to_gpu(index[0])] = expected[index[0]] = x[5, 3]
    assert_same(array.get(), expected)


@given(st.data())
def test_layouts_and_broadcast_values(data):
    shape = data.draw(shapes(max_dims=3).filter(lambda shape: shape and shape[0]))
    dtype = data.draw(st.sampled_from([np.dtype(text) for text in ("i1", "f4", "S5")]))
    x = data.draw(arrays(shape, dtype, writable=True))
    count = data.draw(st.integers(0, shape[0]))
    unique = data.draw(st.permutations(range(shape[0])))[:count]
    index = np.array(unique, np.int32).reshape(data.draw(st.sampled_from([(-1,), (-1, 1)])))
    whole = index.shape + shape[1:]
    left_out = data.draw(st.integers(0, len(whole)))
    own = tuple(data.draw(st.sampled_from([1, n])) for n in whole[left_out:])
    value = data.draw(arrays(own, dtype))
    array, expected = to_gpu(x), x.copy()
    array[to_gpu(index)] = to_gpu(value)
    expected[index] = value
    assert_same(array.get(), expected)


def test_views_with_gaps():
    x = np.arange(240.0).reshape(12, 20)
    index = np.array([3, -1, 0])
    for part in (np.s_[::-1, ::2], np.s_[1:-1, 3:5], np.s_[:, ::-3]):
        array, expected = to_gpu(x), x.copy()
        array[part][to_gpu(index)] = to_gpu(-x[part])[:3]
        expected[part][index] = -x[part][:3]
        put(array[part], to_gpu(np.array([5, -2])), to_gpu(np.array([1000.0, 2000.0])))
        expected[part].put([5, -2], [1000, 2000])
        assert_same(array.get(), expected)


@pytest.mark.parametrize("n", [600, 5000])
def test_repeated_indices(n):
    """Any one of the values stays."""
    index = np.random.default_rng(n).integers(0, 50, n)
    array = zeros(60, "i8")
    array[to_gpu(index)] = to_gpu(np.arange(n) + 1)
    got = array.get()
    assert not got[50:].any()
    for place in np.unique(index):
        assert got[place] - 1 in np.flatnonzero(index == place)


@pytest.mark.parametrize("n", [100, 3000])
def test_memory_that_is_read_and_written(n):
    """As if indices and values were read before anything is written."""
    x = permuted(n, np.int64) % n
    array = to_gpu(x)
    array[array] = array[::-1]
    expected = x.copy()
    expected[x] = x[::-1]
    assert_same(array.get(), expected)
    array, index = to_gpu(x), to_gpu(x)
    array[index] = array
    expected[x] = x.copy()
    assert_same(array.get(), expected)
    array = to_gpu(x)
    put(array, array, to_gpu(x))
    expected[x] = x
    assert_same(array.get(), expected)


def test_values_of_put_are_repeated():
    """In C order, which is not broadcasting."""
    index = np.arange(6).reshape(3, 2)
    for new in (
        np.array([[10], [20], [30]]),
        np.array([10, 20]),
        np.array(10),
        np.ones((3, 2), int),
    ):
        array, expected = zeros(6, int), np.zeros(6, int)
        put(array, to_gpu(index), to_gpu(new))
        expected.put(index, new)
        assert_same(array.get(), expected)


def test_values_that_do_not_fit():
    array, index = zeros((5, 3), "f4"), to_gpu(np.array([0, 2]))
    for wrong in (zeros(2, "f4"), zeros((3, 3), "f4"), zeros((2, 2, 3), "f4")):
        with pytest.raises(ValueError, match="broadcast"):
            array[index] = wrong
    for wrong in (1j, None, "text", [1, 2, 3]):
        with pytest.raises((TypeError, ValueError)):
            array[index] = wrong
    for wrong in (zeros((2, 3), "c8"), np.zeros((2, 3), "c8")):
        with pytest.raises(TypeError, match=r"complex64, the array float32; .*astype\('float32'\)"):
            array[index] = wrong
    assert not array.get().any()
    array[index] = zeros((2, 3), "i2")  # a cast that is safe
    array[index] = to_gpu(np.ones((1, 1, 2, 3), "f4"))
    assert array.get().sum() == 6


def test_put_in_a_streams_order():
    stream = driver.Stream()
    array, index = zeros(2000), to_gpu(np.arange(1999, -1, -1))
    put(array, index, to_gpu(np.arange(2000.0)), stream=stream)
    put(array, index[:3], to_gpu(np.array([-1.0])), stream=stream, mode="wrap")
    got = array.get_async(stream)
    stream.synchronize()
    expected = np.arange(2000.0)[::-1].copy()
    expected[index.get()[:3]] = -1
    assert_same(got, expected)


def test_indices_are_not_checked_in_a_graph():
    array, index = zeros(8), to_gpu(np.arange(3))
    stream = driver.Stream()
    for value in (to_gpu(np.arange(3.0)), 5.0):
        array[index] = value  # compiled
        with pytest.raises(errors.Error, match="captur"), stream.capture():
            array[index] = value
    array[index] = 1.0
    assert array.get().sum() == 3


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, np.int64(1)])
def test_take_along_any_axis(axis):
    x = values((3, 4, 5), "i4")
    index = np.array([[2, 0], [1, -1]])
    assert_same(take(to_gpu(x), to_gpu(index), axis=axis).get(), x.take(index, axis))
    with pytest.raises(IndexError, match=f"axis {0 if axis is None else axis % 3}"):
        take(to_gpu(x), to_gpu(np.array([60])), axis=axis)
    for wrong in (3, -4, 1 << 70):
        with pytest.raises((ValueError, OverflowError), match=r"axis|too large"):
            take(to_gpu(x), to_gpu(index), axis=wrong)


def test_rows_of_many_words():
    """Of a size that gives each thread several words."""
    x = values((3000, 200), "f8")
    index = permuted(3000)
    assert_same(to_gpu(x)[to_gpu(index)].get(), x[index])
    array, expected = zeros(x.shape), np.zeros_like(x)
    array[to_gpu(index)] = to_gpu(x)
    expected[index] = x
    assert_same(array.get(), expected)
    columns = to_gpu(np.asfortranarray(x))
    assert_same(columns[to_gpu(index)].get(), x[index])
    mask = to_gpu(x[:, 0] % 400 == 0)
    array[mask, :] = to_gpu(x[0])
    expected[mask.get(), :] = x[0]
    assert_same(array.get(), expected)
