"""searchsorted, bincount, histogram and pad beside NumPy."""

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, each_with, rare_but
from hypothesis import given
from strategies import examples

import PyGPU
from PyGPU import gpuarray
from PyGPU.gpuarray import to_gpu

RANDOM = np.random.default_rng(12)


def same(got, expected):
    expected = np.asarray(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize(("side", "code"), each_with(["left", "right"], "if", "?bHiqQefd"))
def test_places_in_a_sorted_array(side, code):
    a = np.sort(RANDOM.integers(0, 50, 300)).astype(code)
    v = RANDOM.integers(0, 60, (7, 9)).astype(code)
    same(np.searchsorted(to_gpu(a), to_gpu(v), side), np.searchsorted(a, v, side))
    same(np.searchsorted(to_gpu(a[::2]), to_gpu(v.T), side), np.searchsorted(a[::2], v.T, side))
    same(np.searchsorted(to_gpu(a), v[0, 0], side), np.searchsorted(a, v[0, 0], side))
    same(np.searchsorted(to_gpu(a[:0]), to_gpu(v), side), np.searchsorted(a[:0], v, side))


def test_places_of_other_dtypes_and_of_what_is_not_a_number():
    a = np.array([-np.inf, 0, 1, 1, 5, np.inf, np.nan, np.nan])
    v = np.array([np.nan, 1, -np.inf, np.inf, 7])
    for side in ("left", "right"):
        same(np.searchsorted(to_gpu(a), to_gpu(v), side), np.searchsorted(a, v, side))
        same(np.searchsorted(to_gpu(a), 3, side), np.searchsorted(a, 3, side))
    ints = np.arange(0, 100, 7)
    same(np.searchsorted(to_gpu(ints), to_gpu(v[1:2] + 6.5)), np.searchsorted(ints, v[1:2] + 6.5))
    mixed = np.array([30, 10, 20])
    order = mixed.argsort()
    got = np.searchsorted(to_gpu(mixed), to_gpu(np.array([15, 20])), sorter=to_gpu(order))
    same(got, np.searchsorted(mixed, [15, 20], sorter=order))


@pytest.mark.parametrize(
    ("how", "code"), each_with(["whole", "view", "weights"], "BqQ", "?bBhHiIqQ")
)
def test_numbers_of_equal_elements(how, code):
    top = 2 if code == "?" else 100
    for size in (0, 1, 1000, 70_000):
        x = RANDOM.integers(0, top, size).astype(code)
        if how == "whole":
            same(np.bincount(to_gpu(x)), np.bincount(x))
        elif how == "view":
            same(np.bincount(to_gpu(x)[::-2], minlength=150), np.bincount(x[::-2], minlength=150))
        else:
            weights = RANDOM.integers(0, 9, size).astype("f4")
            same(np.bincount(to_gpu(x), to_gpu(weights)), np.bincount(x, weights))


def test_numbers_of_many_bins():
    x = RANDOM.integers(0, 20_000, 50_000)
    same(np.bincount(to_gpu(x)), np.bincount(x))
    same(np.bincount(to_gpu(np.array([4096]))), np.bincount([4096]))


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("code", rare_but("if", "?bHqefd"))
def test_histograms(code):
    for size in (0, 1, 1001, 60_000):
        x = RANDOM.integers(0, 2 if code == "?" else 100, size).astype(code)
        if code == "?" and not size:
            continue
        for arguments in (
            {},
            {"bins": 7},
            {"bins": 100},
            {"range": (10, 60)},
            {"bins": 5000, "range": (0, 99.5)},
            {"bins": [0, 1, 10, 50, 99]},
        ):
            if code == "e" and arguments.get("bins") in (100, 5000):
                continue  # more bins than NumPy allows for halves
            expected, edges = np.histogram(x, **arguments)
            got, got_edges = np.histogram(to_gpu(x), **arguments)
            same(got, expected)
            same(got_edges, edges)


def test_histograms_of_weights_and_densities():
    x = RANDOM.random((50, 60))
    weights = RANDOM.integers(0, 5, x.shape).astype("f8")
    same(np.histogram(to_gpu(x), weights=to_gpu(weights))[0], np.histogram(x, weights=weights)[0])
    got, edges = np.histogram(to_gpu(x), 20, density=True)
    expected, _ = np.histogram(x, 20, density=True)
    np.testing.assert_allclose(got.get(), expected, rtol=1e-12)
    uneven = np.array([0, 0.1, 0.5, 1])
    got, _ = np.histogram(to_gpu(x.T), to_gpu(uneven), density=True)
    np.testing.assert_allclose(got.get(), np.histogram(x, uneven, density=True)[0], rtol=1e-12)
    x[3, 4] = np.nan
    same(np.histogram(to_gpu(x), range=(0, 1))[0], np.histogram(x, range=(0, 1))[0])
    assert edges.dtype == np.float64


@given(st.lists(st.floats(-1e3, 1e3, width=32), max_size=60), st.integers(1, 40))
@examples(60)
def test_any_histogram(numbers, bins):
    x = np.array(numbers, "f4")
    expected, edges = np.histogram(x, bins)
    got, got_edges = np.histogram(to_gpu(x), bins)
    same(got_edges, edges)
    same(got, expected)


MODES = ["constant", "edge", "wrap", "reflect", "symmetric"]


@pytest.mark.parametrize("mode", MODES)
def test_padded_arrays(mode):
    x = np.arange(60).reshape(3, 4, 5)
    for width in (1, 0, (1, 2), ((0, 1), (2, 0), (3, 3)), [(2,), (1,), (0,)]):
        same(np.pad(to_gpu(x), width, mode), np.pad(x, width, mode))
        same(
            np.pad(to_gpu(x).transpose((2, 0, 1)), width, mode),
            np.pad(x.transpose(2, 0, 1), width, mode),
        )


@pytest.mark.parametrize(("mode", "dtype"), each_once(MODES, ["f2", "?", "c8", "S3"]))
def test_padded_arrays_of_other_dtypes(mode, dtype):
    small = np.arange(5).astype(dtype)
    if dtype == "S3" and mode == "constant":
        pytest.skip("text has no constant to pad with")
    same(np.pad(to_gpu(small), (2, 7), mode), np.pad(small, (2, 7), mode))


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f4", "c16"])
def test_odd_reflections(mode, dtype):
    whole = np.array([[1, 0, 3, 7], [2, 5, 1, 4], [9, 8, 8, 0]]).astype(dtype)
    for x in (whole, whole.T, whole[::2, ::-1], whole[:1], whole[0, :1], whole[0, 0:2]):
        for width in (1, 3, (2, 9), 0):
            expected = np.pad(x, width, mode, reflect_type="odd")
            same(np.pad(to_gpu(x), width, mode, reflect_type="odd"), expected)
            same(np.pad(to_gpu(x), width, mode), np.pad(x, width, mode))


@pytest.mark.parametrize("mode", MODES)
def test_an_array_without_axes_is_padded_by_nothing(mode):
    for width in (0, 1, (2, 3)):
        same(np.pad(to_gpu(np.array(2.5)), width, mode), np.pad(np.array(2.5), width, mode))


def test_constants_around_an_array():
    x = np.arange(6.0).reshape(2, 3)
    for values in (7, (1, 2), ((1, 2), (3, 4))):
        same(np.pad(to_gpu(x), 2, constant_values=values), np.pad(x, 2, constant_values=values))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: np.searchsorted(a.reshape(2, 3), a), ValueError, "one axis"),
        (lambda a: np.searchsorted(a, a, side="top"), ValueError, "side='top'"),
        (lambda a: np.searchsorted(a, [1, 2]), TypeError, "to_gpu"),
        (lambda a: np.searchsorted(a * 1j, a), TypeError, "real numbers"),
        (lambda a: np.bincount(a - 1), TypeError, "integers"),
        (
            lambda a: np.bincount(a.astype("i4") - 1),
            ValueError,
            "expected nonnegative integers, got -1",
        ),
        (lambda a: np.bincount(a.astype("i4"), minlength=-1), ValueError, "minlength=-1"),
        (lambda a: np.bincount(a.astype("i4"), a[:2]), ValueError, "weights: expected shape"),
        (lambda a: np.bincount(a.reshape(2, 3).astype("i4")), ValueError, "one axis"),
        (lambda a: np.histogram(a, 0), ValueError, "bins=0"),
        (lambda a: np.histogram(a, "auto"), TypeError, "bins='auto'"),
        (lambda a: np.histogram(a, [3, 1]), ValueError, "increasing order"),
        (lambda a: np.histogram(a, range=(2, 1)), ValueError, "range"),
        (lambda a: np.histogram(a / 0), ValueError, "expected finite numbers"),
        (lambda a: np.histogram(a * 1j), TypeError, "real numbers"),
        (lambda a: np.pad(a, -1), ValueError, "expected nonnegative integers"),
        (lambda a: np.pad(a, 1, "mean"), TypeError, "mode='mean'"),
        (lambda a: np.pad(a, 1.5), TypeError, "float"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text), np.errstate(all="ignore"):
        call(to_gpu(np.arange(6.0)))
    assert gpuarray.zeros(1).get() == 0


@pytest.mark.parametrize("function", [np.sort, np.argsort, np.unique])
def test_sorting_is_for_other_libraries(function):
    a = to_gpu(np.array([3, 1, 2]))
    with pytest.raises(TypeError, match=r"cupy\.asarray\(a\) or torch\.from_dlpack\(a\)"):
        function(a)


@pytest.mark.skipif(PyGPU.target != "host", reason="NumPy reaches arrays on the target host alone")
@pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 takes them as read-only")
def test_numpy_sorts_an_array_of_the_host_machine():
    a = to_gpu(np.array([3, 1, 2]))
    np.from_dlpack(a).sort()
    assert a.get().tolist() == [1, 2, 3]
