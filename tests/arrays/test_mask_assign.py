"""a[mask] = value, of one element for all and of as many as are selected, against NumPy."""

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, rare_but
from hypothesis import given
from strategies import DTYPES, RECORD, USUAL_DTYPES, arrays, assert_same, shapes, values

from PyGPU import driver
from PyGPU.gpuarray import GPUArray, to_gpu, zeros

FEW = 1 << 14  # elements, which one block looks at


def scalar_of(dtype):
    """Unlike what values() begins with."""
    return values((100,), dtype)[67]


@pytest.mark.parametrize("dtype", rare_but(USUAL_DTYPES, DTYPES), ids=str)
def test_one_element_for_all_of_every_dtype(dtype):
    x = values((6, 5), dtype)
    mask = np.arange(30).reshape(6, 5) % 3 > 0
    for where in (mask, mask[:, 2], ~mask, np.zeros_like(mask)):
        array = to_gpu(x)
        expected = x.copy()
        array[to_gpu(where)] = expected[where] = scalar_of(dtype)
        assert_same(array.get(), expected)


@given(st.data())
def test_one_element_for_all_in_any_layout(data):
    """The mask may be of the leading axes, with a layout of its own."""
    shape = data.draw(shapes(max_dims=3))
    dtype = data.draw(st.sampled_from([np.dtype(text) for text in ("?", "f4", "D", "S3", "V8")]))
    x = data.draw(arrays(shape, dtype, writable=True))
    mask = data.draw(arrays(shape[: data.draw(st.integers(0, len(shape)))], np.dtype("?")))
    array = to_gpu(x)
    expected = x.copy()
    array[to_gpu(mask)] = expected[mask] = scalar_of(dtype)
    assert_same(array.get(), expected)


def test_views_of_larger_arrays():
    x = np.arange(240.0).reshape(12, 20)
    for part in (np.s_[::-1, ::2], np.s_[1:-1, 3:5], np.s_[:, ::-3]):
        array, expected = to_gpu(x), x.copy()
        mask = x[part] % 3 == 0
        array[part][to_gpu(mask)] = -1
        expected[part][mask] = -1
        assert_same(array.get(), expected)


@pytest.mark.parametrize("value", [7, 7.5, np.float32(3), np.array(9), True, 2**31, 1e300, "7"])
@pytest.mark.parametrize("dtype", ["i2", "u8", "f2", "f4", "F", "D", "?"])
def test_values_are_converted_as_numpy_converts_them(dtype, value):
    mask = np.array([True, False, True])
    x = np.ones(3, dtype)
    array = to_gpu(x)
    with np.errstate(all="ignore"):
        try:
            host = np.zeros((), dtype)
            host[()] = value
        except (ValueError, TypeError, OverflowError) as error:
            with pytest.raises(type(error)):
                array[to_gpu(mask)] = value
            assert_same(array.get(), x)
            return
        array[to_gpu(mask)] = value
    x[mask] = host
    assert_same(array.get(), x)


@pytest.mark.parametrize("value", [1j, None, [1, 2], "text", (1, 2), object], ids=repr)
def test_values_that_are_none(value):
    array, mask = zeros(4, "f4"), to_gpu(np.ones(4, bool))
    with pytest.raises((TypeError, ValueError)):
        array[mask] = value
    assert not array.get().any()


def test_what_is_not_selected_keeps_its_bits():
    bits = np.array([0x7F800001, 0xFFC12345, 0x80000000, 1], np.uint32)  # not-a-numbers, -0.0
    array = to_gpu(bits).view(np.float32)
    array[to_gpu(np.array([False, False, False, True]))] = 2
    assert array.view(np.uint32).get().tolist() == [*bits[:3].tolist(), 0x40000000]
    halves = np.array([0x7C01, 0xFE12, 0x8000, 1], np.uint16)
    array = to_gpu(halves).view(np.float16)
    array[to_gpu(np.array([False, False, False, True]))] = -0.0
    assert array.view(np.uint16).get().tolist() == [*halves[:3].tolist(), 0x8000]


def test_any_byte_but_zero_is_true():
    octets = np.arange(300).astype(np.uint8)
    mask = to_gpu(octets).view(np.bool_)
    array = zeros(300, "i4")
    array[mask] = 1
    assert_same(array.get(), (octets != 0).astype("i4"))
    chosen = np.arange(np.count_nonzero(octets), dtype="i4")
    array[mask] = to_gpu(chosen)
    assert_same(array.get()[octets != 0], chosen)


def test_elements_that_share_memory():
    """Where one of several that are one is selected, it is written."""
    memory = zeros(4, "i4")
    rows = GPUArray((3, 4), "i4", base=memory, gpudata=memory.gpudata, strides=(0, 4))
    rows[to_gpu(np.arange(12).reshape(3, 4) == 5)] = 9
    assert memory.get().tolist() == [0, 9, 0, 0]


def test_items_at_odd_addresses():
    for itemsize in (2, 4, 8, 16):
        data = np.arange(10 * itemsize + 1, dtype=np.uint8)
        device = to_gpu(data)
        code = {2: "u2", 4: "u4", 8: "u8", 16: "c16"}[itemsize]
        mask = np.arange(10) % 2 == 0
        device[1:].view(code)[to_gpu(mask)] = 1
        data[1:].view(code)[mask] = 1
        assert_same(device.get(), data)


def test_masks_in_the_arrays_own_memory():
    mask = np.array([True, False, True, True, False, False, True, False])
    for part in (np.s_[:], np.s_[::-1]):
        array, expected = to_gpu(mask), mask.copy()
        array[array[part]] = False
        expected[expected[part].copy()] = False
        assert_same(array.get(), expected)
    array, expected = to_gpu(mask), mask.copy()
    array[:4][array[4:]] = False
    expected[:4][mask[4:]] = False
    assert_same(array.get(), expected)
    values = np.array([False, True, False, True])
    array, expected = to_gpu(mask), mask.copy()
    array[array] = to_gpu(values)
    expected[mask] = values
    assert_same(array.get(), expected)


@pytest.mark.parametrize("fits", [np.zeros((3, 4), bool), np.zeros((4,), bool)])
def test_masks_that_do_not_fit(fits):
    with pytest.raises(IndexError):
        zeros((3, 5))[to_gpu(fits)] = 1.0
    with pytest.raises(IndexError):
        zeros((3, 5))[to_gpu(fits)] = zeros(2)


def test_a_number_waits_for_nothing():
    """So that graphs can hold it."""
    array, x = to_gpu(np.arange(8, dtype="f4")), np.arange(8, dtype="f4")
    mask = to_gpu(x > 3)
    stream = driver.Stream()
    array[mask] = 0  # compiled
    array.set(x)
    with stream.capture() as graph:
        array[mask] = 5
    assert_same(array.get(), x)
    graph.launch(stream)
    stream.synchronize()
    assert_same(array.get(), np.where(x > 3, np.float32(5), x))


@pytest.mark.parametrize(
    ("n", "dtype"),
    each_once(
        [1, 2, 31, 64, 1023, 1025, FEW, FEW + 1],
        [np.dtype(code) for code in ("i1", "f2", "f4", "D", "S3", RECORD)],
    ),
    ids=str,
)
def test_as_many_values_as_are_selected(n, dtype):
    rng = np.random.default_rng(n)
    x, new = values((n,), dtype), values((n,), dtype)[::-1].copy()
    for part in (0.0, 0.1, 0.9, 1.0):
        mask = rng.random(n) < part
        array, expected = to_gpu(x), x.copy()
        count = np.count_nonzero(mask)
        array[to_gpu(mask)] = to_gpu(new[:count])
        expected[mask] = new[:count]
        assert_same(array.get(), expected)


def test_of_several_axes_and_parts_of_arrays():
    x, mask = values((30, 40), "i4"), np.arange(1200).reshape(30, 40) % 7 < 3
    new = -values((np.count_nonzero(mask) + 3,), "i4")
    for values_of in (to_gpu(new)[3:], to_gpu(new[::-1].copy())[-4::-1], new[3:]):
        array, expected = to_gpu(x), x.copy()
        array[to_gpu(mask)] = values_of
        expected[mask] = new[3:]
        assert_same(array.get(), expected)
    array, expected = to_gpu(x), x.copy()
    array[to_gpu(mask)] = array.ravel()[: new.size - 3]
    expected[mask] = x.ravel()[: new.size - 3]
    assert_same(array.get(), expected)


@pytest.mark.parametrize("n", [1000, FEW + 1])
@pytest.mark.parametrize("more", [-1, 1, 100])
def test_too_many_and_too_few_values(n, more):
    """Nothing is written."""
    x = values((n,), "f4")
    mask = np.arange(n) % 2 == 0
    array = to_gpu(x)
    with pytest.raises(ValueError, match="broadcast"):
        array[to_gpu(mask)] = zeros(np.count_nonzero(mask) + more, "f4")
    with pytest.raises(ValueError, match="broadcast"):
        array[to_gpu(np.zeros(n, bool))] = zeros(2, "f4")
    assert_same(array.get(), x)


@pytest.mark.parametrize("is_one", [True, False])
def test_a_stream_that_comes_to_the_array_waits_for_it(is_one):
    stream = driver.Stream(1)  # which does not wait for the null stream by itself
    x, mask = np.arange(10_000, dtype="f4"), np.arange(10_000) % 3 == 0
    array, where = zeros(x.shape, "f4"), to_gpu(mask)
    array[where] = 7 if is_one else to_gpu(x[mask])
    got = array.get_async(stream)
    stream.synchronize()
    assert_same(got, np.where(mask, np.float32(7) if is_one else x, np.float32(0)))
