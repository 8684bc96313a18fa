"""a[key] and a[key] = value with masks and index arrays, against NumPy."""

import math

import numpy as np
import pytest
from campaign import rare_but
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, assert_same, examples, shapes, slices, usual_or_any, values

from PyGPU import driver, gpuarray
from PyGPU._arrays import index_copies as at
from PyGPU._runtime import core
from PyGPU.gpuarray import to_gpu

DTYPES = [np.dtype(text) for text in ("i1", "?", "S5", "S7")]  # moved byte by byte


def both(draw, array):
    """An array of a key for NumPy, and the same for us: on the host or on the device."""
    kind = draw(st.sampled_from(["device", "device", "host", "list"]))
    if kind == "list" and array.size:
        return array, array.tolist()
    return array, to_gpu(array) if kind == "device" else array


def stretched_away(draw, shape):
    """An array's shape that broadcasts to `shape`."""
    left_out = draw(st.integers(0, len(shape)))
    return tuple(draw(st.sampled_from([1, n, n])) for n in shape[left_out:])


@st.composite
def keys(draw, shape):
    """(NumPy's key, ours): masks of one or two axes, index arrays that broadcast, and the rest."""
    made = draw(st.sampled_from([(3,), (2, 3), (1,), (0,), ()]))
    items, axis = [], 0
    while axis < len(shape):
        length = shape[axis]
        kinds = ["slice", "rest", "int", "index", "index", "mask"]
        kind = draw(st.sampled_from(kinds + ["wide mask"] * (axis + 1 < len(shape))))
        if kind == "rest":
            break
        width = 1
        if kind == "slice":
            items.append((draw(slices(length)),) * 2)
        elif length == 0 or kind == "int":
            number = draw(st.integers(-length, length - 1)) if length else slice(None)
            items.append((number, number))
        elif kind == "index":
            own = stretched_away(draw, made)
            flat = [draw(st.integers(-length, length - 1)) for _ in range(math.prod(own))]
            items.append(both(draw, np.array(flat, np.int64).reshape(own)))
        else:
            width = 1 + (kind == "wide mask")
            own = shape[axis : axis + width]
            bits = draw(st.integers(0, 2 ** math.prod(own) - 1))
            mask = np.array([bits >> i & 1 for i in range(math.prod(own))], bool).reshape(own)
            items.append(both(draw, mask))
        axis += width
    if draw(st.booleans()):  # `...` stands for the axes that are left, if any
        place = draw(st.integers(0, len(items))) if axis == len(shape) else len(items)
        items.insert(place, (..., ...))
    for place in draw(st.lists(st.integers(0, len(items)), max_size=1)):
        items.insert(place, (None, None))
    theirs, ours = (tuple(item[side] for item in items) for side in (0, 1))
    if len(items) == 1 and draw(st.booleans()):
        return theirs[0], ours[0]
    return theirs, ours


def selected(x, key):
    """x[key], or None where the index arrays of the key do not go together."""
    try:
        return np.asarray(x[key], x.dtype)
    except IndexError:
        return None


@st.composite
def cases(draw):
    dtype = draw(usual_or_any(DTYPES[1:3], DTYPES))
    x = draw(arrays(draw(shapes(max_dims=3, max_length=4)), dtype))
    return x, *draw(keys(x.shape))


@examples(80)
@given(cases())
def test_get(case):
    x, theirs, ours = case
    expected, array = selected(x, theirs), to_gpu(x)
    if expected is None:
        with pytest.raises(IndexError):
            array[ours]
        return
    assert_same(array[ours].get(), expected)


@examples(80)
@given(cases(), st.data())
def test_assign(case, data):
    x, theirs, ours = case
    x = x.copy(order="K")
    array, expected = to_gpu(x), selected(x, theirs)
    if expected is None:
        with pytest.raises(IndexError):
            array[ours] = np.zeros((), x.dtype)
        return
    value = data.draw(arrays(stretched_away(data.draw, expected.shape), x.dtype))
    once = selected(np.arange(x.size).reshape(x.shape), theirs)
    if len(np.unique(once)) < once.size:  # which of several values stays is not told
        value = value.ravel()[:1].reshape(()) if value.size else values((), x.dtype)
    x[theirs] = value
    on_device = data.draw(st.booleans())
    array[ours] = to_gpu(value) if on_device else value
    assert_same(array.get(), x)


@pytest.mark.parametrize("code", rare_but("bHqQ", "bBhHiIqQ"))
def test_dtypes_of_index_arrays(code):
    x = values((5, 3), np.float32)
    index = np.array([4, 0, 0, 3], code)
    for key in (index, to_gpu(index), to_gpu(np.repeat(index, 2))[::2]):
        assert_same(to_gpu(x)[key].get(), x[index])
    if code.islower():
        assert_same(to_gpu(x)[to_gpu(-index)].get(), x[-index])


def test_scalars_of_numpy_and_arrays_without_axes():
    x = values((3, 4), np.int16)
    array = to_gpu(x)
    for key in (np.array(2), np.bool_(True), np.array(False), (np.array(1), [0, 2])):
        assert_same(array[key].get(), x[key])
    assert_same(array[to_gpu(np.array(2))].get(), x[2])
    assert_same(array[to_gpu(np.array(True))].get(), x[np.array(True)])


@pytest.mark.parametrize("one", [True, False, np.True_, np.False_], ids=repr)
@pytest.mark.parametrize("shape", [(), (3,), (3, 2), (0, 2)])
def test_bools_are_masks(one, shape):
    """Not the ints 1 and 0, which Python's are as well."""
    x = values(shape, np.float32)
    array = to_gpu(x)
    keys = [one, (one,), (one, one), (..., one), (one, None), (True, one)]
    if shape:
        keys += [(one, slice(1)), (slice(None), one)]
    if x.size:
        keys += [(one, *(-1 for _ in shape)), (one, [0])[: 1 + len(shape)]]
    for key in keys:
        assert_same(array[key].get(), x[key])
        changed, expected = to_gpu(x), x.copy()
        changed[key] = expected[key] = 7
        assert_same(changed.get(), expected)


NOTHING = np.zeros(0, int)


@pytest.mark.filterwarnings("ignore:Out of bound index:DeprecationWarning")  # of older NumPys
@pytest.mark.parametrize("send", [to_gpu, np.asarray])
@pytest.mark.parametrize(
    ("shape", "key"),
    [
        ((0, 3), (np.array([1]), NOTHING)),
        ((0, 3), (np.array([[1], [2]]), NOTHING)),
        ((3, 0), (NOTHING, np.array([[1], [2]]))),
        ((3, 0), (np.zeros(3, bool), np.array([0]))),
        ((0, 0), (np.zeros(0, bool), np.array([0]))),
        ((0, 2), (NOTHING, 1)),
        ((0, 2), (slice(None), NOTHING)),
    ],
)
def test_indices_that_select_nothing(send, shape, key):
    x = np.zeros(shape)
    array = to_gpu(x)
    sent = tuple(send(part) if isinstance(part, np.ndarray) else part for part in key)
    assert_same(array[sent].get(), x[key])
    array[sent] = 7
    assert_same(array.get(), x)


@pytest.mark.parametrize("send", [to_gpu, np.asarray])
@pytest.mark.parametrize(
    "key",
    [
        (np.zeros(0, bool),),
        (slice(None), np.zeros(0, bool)),
        (np.zeros(0, bool), 0),
        (np.zeros((2, 0), bool),),
        (np.zeros((0, 3), bool),),
    ],
    ids=str,
)
def test_masks_of_length_zero(send, key):
    """An axis of a mask without elements fits an axis of any length, as in NumPy."""
    x = np.arange(6.0).reshape(2, 3)
    array = to_gpu(x)
    sent = tuple(send(part) if isinstance(part, np.ndarray) else part for part in key)
    assert_same(array[sent].get(), x[key])
    for value in (7, to_gpu(np.array([8.0])), to_gpu(x[key])):
        array[sent] = value
    assert_same(array.get(), x)
    with pytest.raises(ValueError, match="does not broadcast"):
        array[sent] = to_gpu(np.ones(5))


@pytest.mark.parametrize("send", [to_gpu, np.asarray])
@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            np.ones(3, bool),
            r"shape \(3,\) does not fit: axis 0 of the array has size 2, of the mask 3",
        ),
        (
            np.ones(1, bool),
            r"shape \(1,\) does not fit: axis 0 of the array has size 2, of the mask 1",
        ),
        (
            (0, np.ones(2, bool)),
            r"shape \(2,\) does not fit: axis 1 of the array has size 3, of the mask 2",
        ),
        (
            np.ones((3, 2), bool),
            r"shape \(3, 2\) does not fit: axis 0 of the array has size 2, of the mask 3",
        ),
        (
            np.ones((0, 2), bool),
            r"shape \(0, 2\) does not fit: axis 1 of the array has size 3, of the mask 2",
        ),
        (np.ones((2, 3, 1), bool), "too many indices: 3 for an array of 2 dimensions"),
    ],
    ids=str,
)
def test_masks_of_a_wrong_shape(send, key, message):
    x = np.arange(6.0).reshape(2, 3)
    array = to_gpu(x)
    parts = key if isinstance(key, tuple) else (key,)
    sent = tuple(send(part) if isinstance(part, np.ndarray) else part for part in parts)
    for work in (array.__getitem__, lambda key: array.__setitem__(key, 7)):
        with pytest.raises(IndexError, match=message):
            work(sent)
        if len(sent) == 1:
            with pytest.raises(IndexError, match=message):
                work(sent[0])
    with pytest.raises(IndexError):
        x[key]
    assert_same(array.get(), x)


@pytest.mark.parametrize("value", [7, 7.0, np.float64(7), np.int8(7), np.array(7), True], ids=repr)
def test_assign_numbers(value):
    x = np.zeros((3, 4), np.float32)
    array = to_gpu(x)
    for key in (np.eye(3, 4) > 0, [2, 0], (slice(None), [1, 1])):
        x[key] = value
        array[key] = value
    assert_same(array.get(), x)


@pytest.mark.parametrize(("dtype", "value"), [("S5", b"abc"), ("i4,f8", (1, 2.0)), ("?", True)])
def test_assign_other_scalars(dtype, value):
    x = np.zeros(5, dtype)
    array = to_gpu(x)
    x[[3, -1]] = value
    array[[3, -1]] = value
    x[np.array([True, False] * 2 + [False])] = value
    array[to_gpu(np.array([True, False] * 2 + [False]))] = value
    assert_same(array.get(), x)


def test_assigned_arrays_are_cast():
    x = np.zeros(6, np.float32)
    array = to_gpu(x)
    for value in (np.arange(3), np.arange(3.0), to_gpu(np.arange(3.0) + 1)):
        x[[1, 3, 5]] = value if isinstance(value, np.ndarray) else value.get()
        array[[1, 3, 5]] = value
        assert_same(array.get(), x)


def test_values_that_cannot_be_assigned():
    array = to_gpu(np.zeros(6, np.int32))
    mask = to_gpu(np.arange(6) % 2 == 0)
    for key in ([1, 3, 5], mask, mask.get()):
        for value in (np.ones(3), to_gpu(np.ones(3, np.float32)), None, [1, 2, 3], 1j, "text"):
            with pytest.raises((TypeError, ValueError)):
                array[key] = value
        for value in (np.ones(2, np.int32), np.ones(0, np.int32), np.ones((2, 3), np.int32)):
            with pytest.raises(ValueError, match="broadcast"):
                array[key] = to_gpu(value)
    assert not array.get().any()


WRONG = [3, -4, 2**31 - 1, -(2**31), 2**40]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
def test_indices_out_of_range(wrong, on_device):
    """Nothing is written."""
    x = values((4, 3), np.float64)
    array = to_gpu(x)
    index = np.array([0, 1, wrong, 2])
    given = to_gpu(index) if on_device else index
    message = f"index {wrong} is out of bounds for axis 1 with size 3"
    with pytest.raises(IndexError, match=message):
        array[:, given]
    with pytest.raises(IndexError, match=message):
        array[:, given] = 5.0
    assert_same(array.get(), x)


def test_an_index_that_becomes_wrong_behind_the_check_moves_nothing():
    array = to_gpu(np.zeros(4, np.int32))
    index = to_gpu(np.array([1, 4, -5, 2**62, -(2**62), 3]))
    value = to_gpu(np.full((), 7, np.int32))
    places = at.Index(index, index.strides, array.shape, array.strides, scatters=True)
    at.gather(index.shape, [array], (array.ptr, (0,)), (value.ptr, (0,)), [places])
    assert array.get().tolist() == [0, 7, 0, 7]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([1.0], "integers or bools"),
        (np.zeros(0), "integers or bools"),
        (np.ones(4, bool), "axis 0 of the array has size 3, of the mask 4"),
        ((slice(None), np.ones(3, bool)), "axis 1 of the array has size 4, of the mask 3"),
        (np.ones((3, 3), bool), "axis 1"),
        (np.ones((3, 4, 1), bool), "too many"),
        (([0], [0], [0]), "too many"),
        ((..., [0], ...), "once"),
        (([0, 1], [0, 1, 2]), r"\(2,\), \(3,\) do not broadcast"),
        ((5, [0, 1]), "5"),
        (([0], "text"), "text"),
    ],
    ids=str,
)
def test_keys_that_are_wrong(key, message):
    array = to_gpu(np.zeros((3, 4)))
    with pytest.raises(IndexError, match=message):
        array[key]
    with pytest.raises(IndexError, match=message):
        array[key] = 1.0


def test_keys_on_the_device_that_are_wrong():
    array = to_gpu(np.zeros((3, 4)))
    with pytest.raises(IndexError, match="integers or bools"):
        array[to_gpu(np.zeros(2))]
    with pytest.raises(IndexError, match="axis 1 of the array has size 4, of the mask 3"):
        array[:, to_gpu(np.ones(3, bool))]


def test_nothing_to_select_from():
    array = to_gpu(np.zeros((0, 3)))
    for key in ([], np.zeros((0, 3), bool), (slice(None), [1, 1]), ([], [])):
        assert_same(array[key].get(), np.zeros((0, 3))[key])
        array[key] = 1.0
    with pytest.raises(IndexError, match="size 0"):
        array[[0]]
    with pytest.raises(IndexError, match="size 0"):
        array[to_gpu(np.array([0]))]


def test_memory_that_is_read_and_written():
    """As if keys and values were read before anything is written."""
    x = np.arange(8)
    array = to_gpu(x)
    array[array[::-1]] = array[:]
    x[x[::-1].copy()] = x.copy()
    assert_same(array.get(), x)
    mask = np.array([True, False, True, True])
    on_device = to_gpu(mask)
    on_device[on_device] = on_device[1:2]
    mask[mask.copy()] = mask[1]
    assert_same(on_device.get(), mask)


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 6, 8, 12, 16, 32, 40])
def test_items_of_every_size(itemsize):
    """At addresses that are aligned for the item, and at those that are not."""
    data = np.random.default_rng(itemsize).integers(0, 256, 30 * itemsize + 1).astype(np.uint8)
    device = to_gpu(data)
    index = to_gpu(np.array([4, 29, 0, 11, 11]))
    for start in (0, 1):
        x = data[start : start + 30 * itemsize].view(f"V{itemsize}")
        array = device[start : start + 30 * itemsize].view(x.dtype)
        assert_same(array[index].get(), x[index.get()])
        fresh = np.zeros_like(x)
        target = to_gpu(fresh)
        target[index] = array[:5]
        fresh[[4, 29, 0]] = x[:3]
        got = target.get()
        left, both = got[11:12].view(np.uint8), x[3:5].view(np.uint8).reshape(2, itemsize)
        assert (left == both).any(0).all()
        if itemsize in (1, 2, 4, 8, 16) and not start:
            assert (left == both).all(1).any()
        fresh[11] = got[11]
        assert_same(got, fresh)


def test_the_allocator_is_the_arrays():
    sizes = []

    def allocator(nbytes):
        sizes.append(nbytes)
        return driver.mem_alloc(nbytes)

    array = to_gpu(np.zeros(10), allocator)
    assert array[[1, 2, 3]].allocator is allocator
    assert sizes == [80, 24]


@pytest.fixture
def counted_in_64_bits():
    core._override_index32(1)
    yield
    core._override_index32(0)


def test_offsets_of_64_bits(counted_in_64_bits):
    x = values((4, 5, 6), np.int32)
    array = to_gpu(x)
    for key in ((slice(None, None, 2), [3, 1], [0, -1]), x % 3 == 0, [2, 2, 0]):
        assert_same(array[key].get(), x[key])
        x[key] = -1
        array[key] = -1
        assert_same(array.get(), x)


@pytest.mark.parametrize("dtype", ["?", "e", "f4", "f8", "c16"])
def test_masks_of_many_elements(dtype):
    """Beyond what one block goes through, around whole chunks, beyond one round of the sums."""
    rng = np.random.default_rng(8)
    for n in (16385, 8 * 4096 - 1, 8 * 4096, 250_001):
        x = rng.integers(0, 100, n + 3).astype(dtype)
        a = to_gpu(x)
        for part in (0, 0.001, 0.4, 1):
            mask = rng.random(n + 3) < part
            m = to_gpu(mask)
            for own, its in ((slice(n), slice(n)), (slice(1, n + 1), slice(3, n + 3))):
                got = a[own][m[its]]
                assert (got.dtype, got.ndim) == (x.dtype, 1)
                np.testing.assert_array_equal(got.get(), x[own][mask[its]])
                changed, values = a.copy(), x[own][mask[its]][::-1].copy()
                changed[own][m[its]] = to_gpu(values)
                expected = x.copy()
                expected[own][mask[its]] = values
                np.testing.assert_array_equal(changed.get(), expected)


def test_values_that_do_not_fit_a_mask_of_many_change_nothing():
    x = np.arange(40_000, dtype=np.float32)
    a, mask = to_gpu(x), to_gpu(x % 3 == 0)
    for number in (13_333, 13_335):
        with pytest.raises(ValueError, match="13334"):
            a[mask] = to_gpu(x[:number])
    np.testing.assert_array_equal(a.get(), x)


def test_masks_of_many_rows_and_of_an_allocator():
    x = np.arange(400 * 500, dtype=np.int32).reshape(400, 500)
    mask = x % 7 == 3
    a = to_gpu(x, allocator=driver.mem_alloc)
    got = a[to_gpu(mask)]
    assert got.allocator is driver.mem_alloc
    np.testing.assert_array_equal(got.get(), x[mask])
    np.testing.assert_array_equal(a.T[to_gpu(mask).T].get(), x.T[mask.T])


def test_sums_of_more_counts_than_a_round():
    n = (8 * 1024 + 5) * 4096 + 17
    a = gpuarray.arange(n, dtype=np.int32)
    mask = gpuarray.zeros(n, np.bool_)
    mask[::4096] = True
    np.testing.assert_array_equal(a[mask].get(), np.arange(0, n, 4096))
