"""Indices on the device that are out of range: found wherever they are, and nothing is done."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from campaign import each_once, rare_but

from PyGPU import driver
from PyGPU.gpuarray import put, take, to_gpu

LENGTH = 3000
# A block, the next size, several blocks, several of a thread's words.
SIZES = [1, 1024, 1025, 70_000, (1 << 20) + 5]


def indices_of(size, dtype="i8"):
    return np.random.default_rng(size).integers(-LENGTH, LENGTH, size, dtype=dtype)


def with_wrong(size, place, wrong, dtype="i8"):
    indices = indices_of(size, dtype)
    indices[place] = wrong
    return to_gpu(indices)


WRONG = [LENGTH, -LENGTH - 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("size", "wrong", "stream"),
    each_once(SIZES, [(wrong, stream) for stream in (None, "another") for wrong in WRONG]),
)
def test_one_is_found_and_the_next_call_is_right(size, wrong, stream):
    stream = stream and driver.Stream()
    x = np.arange(LENGTH, dtype="f4")
    a, right, values = to_gpu(x), indices_of(size), to_gpu(np.full(size, -1, "f4"))
    for place in (0, size // 2, size - 1):
        indices = with_wrong(size, place, wrong)
        with pytest.raises(IndexError, match=rf"index {wrong} is out of bounds .* size {LENGTH}"):
            take(a, indices, stream=stream)
        with pytest.raises(IndexError, match=rf"index {wrong} is out of bounds"):
            put(a, indices, values, stream=stream)
        np.testing.assert_array_equal(a.get(), x)
        np.testing.assert_array_equal(take(a, to_gpu(right), stream=stream).get(), x[right])
    put(a, to_gpu(right), values, stream=stream)
    x[right] = -1
    np.testing.assert_array_equal(a.get(), x)


@pytest.mark.parametrize("dtype", ["i4", "u4"])
@pytest.mark.parametrize("size", SIZES)
def test_subscripts(size, dtype):
    x = np.arange(LENGTH * 3.0).reshape(LENGTH, 3)
    a = to_gpu(x)
    indices = with_wrong(size, -1, LENGTH, "i8").astype(dtype)
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        a[indices]
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        a[indices] = 1
    np.testing.assert_array_equal(a.get(), x)


@pytest.mark.parametrize("step", [1, 2])
def test_long_rows(step):
    x = np.random.default_rng(1).random((9, 70_001)).astype("f4")
    a, places = to_gpu(x), np.array([3, 8, -9, 0, 5, 3, -1, 7])
    for wrong in (9, -10):
        for at in (0, 6):
            indices = places.copy()
            indices[at] = wrong
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds .* size 9"):
                a[to_gpu(indices)[::step]]
    np.testing.assert_array_equal(a[to_gpu(places)[::step]].get(), x[places[::step]])


def test_many_wrong_ones():
    indices = to_gpu(np.full(300_000, LENGTH + 7))
    for _ in range(3):
        with pytest.raises(IndexError, match=f"index {LENGTH + 7} "):
            take(to_gpu(np.zeros(LENGTH)), indices)


def test_threads_have_their_own():
    x = np.arange(LENGTH)
    a = to_gpu(x)

    def work(seed):
        size = [1000, 5000, 200_000][seed % 3]
        right, values = to_gpu(indices_of(size)), to_gpu(np.zeros(size, x.dtype))
        expected = x[right.get()]
        wrong = with_wrong(size, seed % size, LENGTH + seed)
        own = a.copy()
        for _ in range(20):
            assert (take(a, right).get() == expected).all()
            with pytest.raises(IndexError, match=f"index {LENGTH + seed} "):
                take(a, wrong)
            with pytest.raises(IndexError, match=f"index {LENGTH + seed} "):
                own[wrong] = values
            assert (own.get() == x).all()
        own[right] = values
        return (own.get() == np.where(np.isin(x, expected), 0, x)).all()

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


@pytest.mark.parametrize("code", rare_but(["i4", "f8", "F"], ["u1", "i4", "f2", "f4", "f8", "F"]))
def test_results_of_comparisons_are_masks(code):
    x = np.array([5, 0, 100, 7], code)
    pairs = [(lambda v: v == 0), (lambda v: v != 0)]
    if code != "F":
        pairs += [(lambda v: v > 3), (lambda v: v >= v), (lambda v: 3 < v)]
    for compare in pairs:
        a, y = to_gpu(x), x.copy()
        np.testing.assert_array_equal(a[compare(a)].get(), x[compare(x)])
        np.testing.assert_array_equal(a[(compare(a),)].get(), x[compare(x)])
        a[compare(a)] = 9
        y[compare(y)] = 9
        np.testing.assert_array_equal(a.get(), y)
    a = to_gpu(x)
    np.testing.assert_array_equal(a[(a == 0).astype(int)].get(), x[(x == 0).astype(int)])


def test_masks_of_comparisons_in_every_place():
    x = np.arange(12.0).reshape(3, 4) - 5
    a = to_gpu(x)
    a[a < 0] = np.nan
    assert_array = np.testing.assert_array_equal
    assert_array(a.get(), np.where(x < 0, np.nan, x))
    a = to_gpu(x)
    rows = to_gpu(np.array([1.0, -1.0, 1.0]))
    assert_array(a[rows > 0].get(), x[[0, 2]])
    assert_array(a[rows > 0, 1].get(), x[[0, 2], 1])
    assert_array(a[1:, to_gpu(np.arange(4.0)) < 2].get(), x[1:, :2])
    whole = to_gpu(np.array(3.0))
    assert a[whole > 2].shape == (1, 3, 4)
    with pytest.raises(IndexError, match="mask"):
        a[to_gpu(np.arange(5.0)) < 2]


@pytest.mark.parametrize("code", rare_but(["i4"], ["u1", "i4", "i8"]))
def test_what_logic_makes_of_comparisons_is_a_mask(code):
    x = np.array([5, 0, 100, 7], code)
    a = to_gpu(x)
    low, high, at_low, at_high = a > 3, a < 50, x > 3, x < 50
    for answer, expected in (
        (low & high, at_low & at_high),
        (low | high, at_low | at_high),
        (low ^ high, at_low ^ at_high),
        (low * high, at_low & at_high),
        (~low, ~at_low),
        (~low & high, ~at_low & at_high),
        (low ^ True, ~at_low),
        (low.copy(), at_low),
        (low[::-1], at_low[::-1]),
        (low.reshape(2, 2).reshape(-1), at_low),
        (low == high, at_low == at_high),
    ):
        np.testing.assert_array_equal(a[answer].get(), x[expected])
    low &= high
    np.testing.assert_array_equal(a[low].get(), x[at_low & at_high])


def test_numbers_that_are_computed_from_comparisons_are_indices():
    x = np.array([5, 0, 100, 7], "i4")
    a = to_gpu(x)
    for compute in (
        lambda v: 2 * (v > 3) - (v > 50),
        lambda v: (v > 3) << 1,
        lambda v: (v > 3) * v % 4,
        lambda v: (v > 3) ^ 1,
    ):
        np.testing.assert_array_equal(a[compute(a)].get(), x[compute(x)])
