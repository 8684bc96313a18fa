"""take, put and their forms for many arrays, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import BadIndex
from strategies import DTYPES, arrays, assert_same, shapes, values

from PyGPU import driver, errors
from PyGPU.gpuarray import multi_put, multi_take, multi_take_put, put, take, to_gpu, zeros

SIZES = [np.dtype(text) for text in ("i1", "S5")]


@st.composite
def sources(draw):
    return draw(arrays(draw(shapes(max_dims=2)), draw(st.sampled_from(SIZES))))


def drawn_indices(data, length):
    numbers = st.lists(st.integers(-length, length - 1), max_size=6) if length else st.just([])
    index = np.array(data.draw(numbers), np.int64)
    if index.size % 2 == 0 and data.draw(st.booleans()):
        index = index.reshape(2, -1)
    return index, to_gpu(index) if data.draw(st.booleans()) else index


@given(sources(), st.data())
def test_take(x, data):
    """Of the flat array in C order, or along an axis."""
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    index, given_index = drawn_indices(data, x.size if axis is None else x.shape[axis])
    expected = x.take(index, axis)
    assert_same(take(to_gpu(x), given_index, axis=axis).get(), expected)
    out = data.draw(arrays(expected.shape, x.dtype, writable=True))
    target = to_gpu(out)
    assert take(to_gpu(x), given_index, target, axis=axis) is target
    assert_same(target.get(), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_of_elements(dtype):
    x = values((7,), dtype)
    index = np.array([6, 0, 2, 2], np.int64)
    assert_same(take(to_gpu(x), to_gpu(index)).get(), x[index])
    array = to_gpu(x)
    put(array, to_gpu(index[:3]), to_gpu(x[3:6]))
    x[index[:3]] = x[3:6].copy()
    assert_same(array.get(), x)


@pytest.mark.parametrize("mode", ["clip", "wrap"])
@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
def test_modes(mode, on_device):
    x = values((3, 4), np.float32)
    index = np.array([[-100, -13, -12, -1], [0, 11, 12, 10**6]])
    given_index = to_gpu(index) if on_device else index
    assert_same(take(to_gpu(x), given_index, mode=mode).get(), x.take(index, mode=mode))
    assert_same(
        take(to_gpu(x), given_index, axis=1, mode=mode).get(), x.take(index, axis=1, mode=mode)
    )
    array = to_gpu(x)
    put(array, given_index, 7.0, mode=mode)
    x.put(index, 7.0, mode=mode)
    assert_same(array.get(), x)


def test_indices_out_of_range():
    array, out = to_gpu(np.arange(12.0).reshape(3, 4)), zeros(2)
    for index in (np.array([0, 12]), np.array([-13, 0], np.int32)):
        for given_index in (index, to_gpu(index), index.tolist()):
            with pytest.raises(IndexError, match="out of bounds for axis 0 with size 12"):
                take(array, given_index, out)
            with pytest.raises(IndexError, match="out of bounds for axis 0 with size 12"):
                put(array, given_index, 1.0)
            with pytest.raises(IndexError, match="size 12"):
                multi_take_put([array], np.zeros_like(index), index, out=[array])
            with pytest.raises(IndexError, match="size 2"):
                multi_take_put([array], index, np.zeros_like(index), out=[out])
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
        take(array, [0, 4], axis=1)
    with pytest.raises(IndexError, match="size 0"):
        take(zeros(0), [0], mode="clip")
    assert not out.get().any()
    assert_same(array.get(), np.arange(12.0).reshape(3, 4))


def test_arguments_of_take():
    array = to_gpu(np.arange(5, dtype=np.int16))
    for wrong in (to_gpu(np.zeros(2)), [0.5], np.ones(2, bool), to_gpu(np.ones(2, bool))):
        with pytest.raises(TypeError, match="indices: expected an array of integers"):
            take(array, wrong)
    with pytest.raises(TypeError, match="a: expected a GPUArray, got ndarray"):
        take(np.arange(5), [0])
    with pytest.raises(TypeError, match="out: expected dtype int16, got float64"):
        take(array, [0], zeros(1))
    with pytest.raises(ValueError, match=r"out: expected shape \(1,\), got \(2,\)"):
        take(array, [0], zeros(2, np.int16))
    with pytest.raises(ValueError, match="axis 1"):
        take(array, [0], axis=1)
    with pytest.raises(ValueError, match="mode='wild'"):
        take(array, [0], mode="wild")
    assert take(array, []).get().tolist() == []


def test_take_in_a_streams_order():
    stream = driver.Stream()
    array, index = to_gpu(np.arange(1000.0)), to_gpu(np.arange(999, -1, -1))
    out = take(array, index, stream=stream)
    out = take(out, index.astype(np.int32), stream=stream, mode="clip")
    got = out.get_async(stream)
    stream.synchronize()
    assert_same(got, np.arange(1000.0))


@given(sources(), st.data())
def test_put(x, data):
    array, x = to_gpu(x), x.copy()
    unique = data.draw(st.permutations(range(x.size)))[: data.draw(st.integers(0, 6))]
    index = np.array(unique, np.int64)
    new = values((data.draw(st.sampled_from([1, 2, 3, max(index.size, 1)])) + 1,), x.dtype)[1:]
    given_index = to_gpu(index) if data.draw(st.booleans()) else index - x.size
    put(array, given_index, to_gpu(new) if data.draw(st.booleans()) else new)
    x.put(index, new)
    assert_same(array.get(), x)


def test_arguments_of_put():
    array = zeros(5, np.float32)
    with pytest.raises(TypeError, match="values: expected dtype float32, got float64"):
        put(array, [0], zeros(1))
    with pytest.raises(TypeError, match="indices"):
        put(array, [0.5], 1)
    put(array, [], 1)
    put(array, [0], [])
    assert not array.get().any()


def test_memory_that_is_read_and_written():
    x = np.arange(8)
    array = to_gpu(x)
    put(array, array[::-1], array)
    x[x[::-1].copy()] = x.copy()
    assert_same(array.get(), x)
    take(array, array, array)
    assert_same(array.get(), x[x])


PAIR = [np.arange(5.0), np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::-1]]


def pair():
    return [to_gpu(x) for x in PAIR]


@pytest.mark.parametrize("send", [np.array, to_gpu], ids=["host", "device"])
def test_multi_take(send):
    index = np.array([4, -1, 0], np.int64)
    got = multi_take(pair(), send(index))
    for one, x in zip(got, PAIR):
        assert_same(one.get(), x.ravel()[index])
    out = [zeros(3), zeros((3, 2), np.int16)[:, 1]]
    assert [id(one) for one in multi_take(pair(), send(index), out)] == [id(one) for one in out]
    for one, x in zip(out, PAIR):
        assert_same(one.get(), x.ravel()[index])
    assert multi_take([], send(index)) == []


@pytest.mark.parametrize("send", [np.array, to_gpu], ids=["host", "device"])
def test_multi_put(send):
    index = np.array([5, 0, -2, 1, 3], np.int64)
    sources = [PAIR[0], PAIR[0].astype("S3")]
    for shape in (8, (2, 4)):
        got = multi_put([to_gpu(x) for x in sources], send(index), dest_shape=shape)
        for one, x in zip(got, sources):
            expected = np.zeros(shape, x.dtype)
            expected.reshape(-1)[index] = x
            assert_same(one.get(), expected)
    expected = np.arange(10.0)
    out = [to_gpu(expected)]
    multi_put([to_gpu(PAIR[0])], send(index), out=out)
    expected[index] = PAIR[0]
    assert_same(out[0].get(), expected)


@pytest.mark.parametrize("send", [np.array, to_gpu], ids=["host", "device"])
def test_multi_take_put(send):
    dest, src = np.array([3, 0, 5], np.int64), np.array([1, 2, 0], np.int64)
    for offsets in (None, [2, 9]):
        got = multi_take_put(pair(), send(dest), send(src), (2, 3), src_offsets=offsets)
        for k, x in enumerate(PAIR):
            expected = np.zeros(6, x.dtype)
            expected[dest] = x.ravel()[src + (offsets[k] if offsets else 0)]
            assert_same(got[k].get(), expected.reshape(2, 3))
    both = pair()
    multi_take_put(both, send(dest[:2]), send(src[:2]), out=both)
    for one, x in zip(both, PAIR):
        expected = x.ravel().copy()
        expected[dest[:2]] = expected[src[:2]]
        assert_same(one.get(), expected.reshape(x.shape))
    assert multi_take_put([], send(dest), send(src), 6) == []


def test_arguments_of_the_forms_for_many():
    arrays, index = pair(), to_gpu(np.arange(3))
    for wrong in (np.zeros((2, 2), int), to_gpu(np.zeros((2, 2), int)), np.array(1)):
        with pytest.raises(ValueError, match="expected one axis"):
            multi_take(arrays, wrong)
        with pytest.raises(ValueError, match="expected one axis"):
            multi_put(arrays, wrong, 5)
    with pytest.raises(TypeError, match=r"src_indices: expected the dtype .* int64, got int32"):
        multi_take_put(arrays, index, index.astype(np.int32), 5)
    with pytest.raises(ValueError, match=r"src_indices: expected the shape .* \(3,\), got \(2,\)"):
        multi_take_put(arrays, index, index[1:], 5)
    with pytest.raises(ValueError, match=r"src_offsets: expected 2 items, one for each .*, got 1"):
        multi_take_put(arrays, index, index, 5, src_offsets=[1])
    with pytest.raises(ValueError, match="out: expected 2 items, one for each array, got 1"):
        multi_take(arrays, index, out=[zeros(3)])
    with pytest.raises(TypeError, match="out: expected dtype int16"):
        multi_take(arrays, index, out=[zeros(3), zeros(3)])
    with pytest.raises(ValueError, match="out: expected shape"):
        multi_take(arrays, index, out=[zeros(4), zeros(4, np.int16)])
    with pytest.raises(ValueError, match="dest_shape"):
        multi_take_put(arrays, index, index)
    with pytest.raises(ValueError, match=r"arrays\[0\]: expected the shape .* \(3,\), got \(5,\)"):
        multi_put(arrays, index, 8)
    with pytest.raises(TypeError, match=r"arrays\[1\]: expected a GPUArray"):
        multi_take([arrays[0], PAIR[1]], index)


def test_wrong_indices_where_nothing_is_taken():
    empty, wrong = zeros((3, 0), "f4"), to_gpu(np.array([5]))
    for call in (
        lambda: take(empty, wrong, axis=0),
        lambda: empty[wrong],
        lambda: take(empty, wrong),
    ):
        with pytest.raises(IndexError):
            call()
    assert take(empty, wrong, axis=0, mode="clip").shape == (1, 0)


@pytest.mark.parametrize("axis", [0.0, "0", BadIndex()])
def test_a_wrong_axis(axis):
    with pytest.raises((TypeError, KeyError)):
        take(zeros((2, 2)), to_gpu(np.array([0])), axis=axis)


def test_memory_that_was_freed():
    freed, here, index = zeros(64), zeros(64), to_gpu(np.arange(2))
    freed.gpudata.free()
    for use in (
        lambda: take(freed.reshape(8, 8), index, axis=1),
        lambda: take(here.reshape(8, 8), freed.view("i8"), axis=1),
        lambda: put(freed, index, here),
        lambda: put(here, index, freed),
        lambda: multi_take([freed], index),
        lambda: freed.__setitem__(index, 1.0),
        lambda: here.__setitem__(index, freed[:2]),
        lambda: freed.__setitem__(to_gpu(np.ones(64, bool)), 1.0),
    ):
        with pytest.raises(errors.LogicError):
            use()


def test_offsets_beyond_64_bits():
    index = to_gpu(np.arange(2))
    with pytest.raises(OverflowError):
        multi_take_put([zeros(4)], index, index, dest_shape=4, src_offsets=[1 << 70])
