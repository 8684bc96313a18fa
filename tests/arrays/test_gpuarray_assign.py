"""copy() and a[index] = value."""

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
    values,
)

from PyGPU import gpuarray
from PyGPU.gpuarray import to_gpu


@given(arrays(), st.data())
def test_copy_of_any_view(x, data):
    index = data.draw(indices(x.shape))
    host = part(x.copy(order="K"), index)
    view = to_gpu(x)[index]
    copy = view.copy()
    assert_same(copy.get(), host)
    assert counted_strides(copy) == counted_strides(host.copy(order="K"))
    assert copy.base is None
    copy[...] = np.zeros((), x.dtype)
    assert_same(view.get(), host)


@given(arrays(), st.data())
def test_assign_an_element(x, data):
    whole, host = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    element = values((2,), x.dtype)[1]
    element = data.draw(st.sampled_from([element, np.array(element)]))
    whole[index] = element
    host[index] = element
    assert_same(whole.get(), host)


@pytest.mark.parametrize("dtype", ["f4", "i2", "u8", "c8", "?", ">f8", "f2"])
@pytest.mark.parametrize("value", [1, 0, True, np.int8(1), np.float64(1), np.bool_(True)], ids=repr)
def test_assign_numbers(dtype, value):
    x = np.zeros((3, 4), dtype)
    array = to_gpu(x)
    x[1:, ::2] = value
    array[1:, ::2] = value
    assert_same(array.get(), x)


def test_assign_other_scalars():
    for dtype, value in [
        ("c8", 2 + 3j),
        ("f4", 2.5),
        ("S5", b"abc"),
        ("S5", "abc"),
        ("U3", "äöü"),
        ("M8[s]", np.datetime64("2020-01-01")),
        ("M8[s]", "2020-01-01"),
        (RECORD, (1, b"a", (2.0, 3.0))),
    ]:
        x = np.zeros((2, 3), dtype)
        array = to_gpu(x)
        x[1] = value
        array[1] = value
        assert_same(array.get(), x)


@pytest.mark.parametrize(
    "value",
    [None, [1, 2], [[1]], {}, object(), "text", 1j, (1, 2)],
    ids=lambda one: str(one).split(" at ")[0],
)
def test_what_cannot_be_assigned(value):
    array = gpuarray.zeros((2, 2))
    with pytest.raises((TypeError, ValueError)):
        array[0] = value
    with pytest.raises((TypeError, ValueError)):
        array[0, 0] = value
    assert not array.get().any()


@given(arrays(), st.data())
def test_assign_an_ndarray(x, data):
    """Axes of length one and axes left out are repeated."""
    whole, host = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    shape = part(host, index).shape
    left_out = data.draw(st.integers(0, len(shape)))
    small = [data.draw(st.sampled_from([1, n])) for n in shape[left_out:]]
    value = data.draw(arrays(shape=tuple(small), dtype=x.dtype))
    whole[index] = value
    host[index] = value
    assert_same(whole.get(), host)


def test_ndarrays_that_do_not_fit():
    array = gpuarray.zeros((2, 3))
    for value in (np.ones(2), np.ones((3, 3)), np.ones((2, 2, 3)), np.ones(0)):
        with pytest.raises(ValueError):
            array[...] = value
    for dtype in (np.float32, np.int64, ">f8"):
        with pytest.raises(TypeError, match="dtype"):
            array[...] = np.ones(3, dtype)
    assert not array.get().any()


@given(arrays(), st.data())
def test_assign_an_array(x, data):
    whole, host = to_gpu(x), x.copy(order="K")
    index = data.draw(indices(x.shape))
    value = data.draw(arrays(shape=part(host, index).shape, dtype=x.dtype))
    whole[index] = to_gpu(value)
    host[index] = value
    assert_same(whole.get(), host)


@pytest.mark.parametrize("index", [np.s_[...], np.s_[1], np.s_[1, 2, ...]])
def test_values_with_more_axes_of_length_one(index):
    x = np.zeros((2, 3), np.int16)
    values = np.arange(1, 1 + x[index].size, dtype=x.dtype).reshape((1, 1, *np.shape(x[index])))
    for value in (values, to_gpu(values)):
        array, host = to_gpu(x), x.copy()
        array[index] = value
        host[index] = values
        assert_same(array.get(), host)


def test_arrays_that_do_not_fit():
    array = gpuarray.zeros((2, 3))
    for shape in ((3, 2), 6, (2, 2, 3), (2, 3, 1), (2, 1, 3)):
        with pytest.raises(ValueError, match="shape"):
            array[...] = gpuarray.zeros(shape)
    with pytest.raises(TypeError, match="dtype"):
        array[...] = gpuarray.zeros((2, 3), np.float32)


def test_arrays_are_repeated_to_fit():
    array = gpuarray.zeros((2, 3))
    array[...] = to_gpu(np.arange(3.0))
    assert_same(array.get(), np.array([[0.0, 1, 2]] * 2))
    array[:, 1:] = to_gpu(np.array([[5.0], [6.0]]))
    assert_same(array.get(), np.array([[0.0, 5, 5], [0, 6, 6]]))
    array[...] = to_gpu(np.array(7.0))
    assert_same(array.get(), np.full((2, 3), 7.0))


@pytest.mark.parametrize("send", [to_gpu, np.asarray])
@pytest.mark.parametrize(
    ("shape", "of_value"),
    [
        ((3,), (1, 3)),
        ((), (1,)),
        ((), (1, 1)),
        ((2, 3), (1, 1, 3)),
        ((2, 3), (1, 2, 1)),
        (0, (1, 0)),
    ],
)
def test_axes_of_length_one_in_front_of_a_value(send, shape, of_value):
    value = values(of_value, np.float64)
    host, array = np.zeros(shape), gpuarray.zeros(shape)
    host[...] = value
    array[...] = send(value)
    assert_same(array.get(), host)


OVERLAPS = [
    (np.s_[1:], np.s_[:-1]),
    (np.s_[:-1], np.s_[1:]),
    (np.s_[:], np.s_[::-1]),
    (np.s_[::2], np.s_[2:7]),
    (np.s_[2:7], np.s_[::2]),
    (np.s_[4::-1], np.s_[5:]),
    (np.s_[:, 1:], np.s_[:, :-1]),
    (np.s_[::-1, 1:], np.s_[:, :-1]),
]


@pytest.mark.parametrize(("target", "source"), OVERLAPS, ids=str)
@pytest.mark.parametrize("shape", [(10, 3), (10, 700)])
def test_parts_of_one_array_may_overlap(target, source, shape):
    """As if the source were read before anything is written."""
    for way in ("assign", "set"):
        x = np.arange(shape[0] * shape[1]).reshape(shape)
        array = to_gpu(x)
        if way == "assign":
            array[target] = array[source]
        else:
            array[target].set(array[source])
        x[target] = x[source].copy()
        assert_same(array.get(), x)


def test_transposed_onto_itself():
    x = np.arange(49).reshape(7, 7)
    for way in ("assign", "set"):
        array = to_gpu(x)
        if way == "assign":
            array[...] = array.T
        else:
            array.set(array.T)
        assert_same(array.get(), x.T)


def test_an_array_set_to_itself():
    x = np.arange(6)
    array = to_gpu(x)
    array.set(array)
    array[...] = array
    assert_same(array.get(), x)


SCATTERED = [np.s_[::2, ::-2], np.s_[::2, ::2, ::2], np.s_[:, ::-1, ::-1], np.s_[..., ::-1]]


@pytest.mark.parametrize("index", SCATTERED, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, RECORD], ids=str)
def test_elements_scattered_widely(index, dtype):
    """So many separate runs that they take another way than a few do."""
    x = values((40, 30, 20) if len(index) > 2 else (600, 600), dtype)
    array = to_gpu(x)
    assert_same(array[index].copy().get(), x[index])
    assert_same(array[index].get(), x[index])
    new = np.ascontiguousarray(x[index][::-1])
    fresh = to_gpu(np.zeros_like(x))
    expected = np.zeros_like(x)
    expected[index] = new
    fresh[index] = to_gpu(new)
    assert_same(fresh.get(), expected)
    fresh[index].set(array[index])
    expected[index] = x[index]
    assert_same(fresh.get(), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_copies_of_every_dtype(dtype):
    x = values((4, 3), dtype)
    array = to_gpu(x)
    assert_same(array.T[::2].copy().get(), x.T[::2])
    array[1:, ::2] = array[:-1, ::2]
    x[1:, ::2] = x[:-1, ::2].copy()
    assert_same(array.get(), x)


def test_nothing_to_copy():
    array = gpuarray.zeros((0, 3))
    array[...] = 1
    array[...] = array
    array.set(np.zeros((0, 3)))
    assert array.copy().get().shape == (0, 3)
    assert array[:, 1:].copy().get().shape == (0, 2)
