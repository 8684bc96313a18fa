"""Places of extremes and variances over several blocks, parts and widths of a load."""

from itertools import product

import numpy as np
import pytest
from campaign import each_once, each_with
from reduction_tools import SMALL, blocks  # noqa: F401  (a fixture for the whole module)

from PyGPU._runtime import core
from PyGPU.gpuarray import to_gpu

SHAPES = [(1,), (5001,), (40_000,), (70, 301), (301, 70), (3, 9000), (9000, 3), (17, 5, 64)]
ROWS = [(shape,) for shape in SHAPES]  # one parameter each
PLACES = [np.argmin, np.argmax]


def axes_of(shape):
    return [None, *range(len(shape))]


def ties(shape, dtype):
    """Return few different numbers, so that each extreme is in many places."""
    return np.random.default_rng(len(shape)).integers(0, 4, shape).astype(dtype)


ALL = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8"]
USUAL = [(np.argmin, "i1"), (np.argmax, "f4"), (np.argmax, "f8")]


@pytest.mark.parametrize(
    ("shape", "function", "dtype"), each_with(ROWS, USUAL, list(product(PLACES, ALL)))
)
def test_the_first_of_equal_elements(shape, function, dtype):
    x = ties(shape, dtype)
    for axis in axes_of(shape):
        np.testing.assert_array_equal(function(to_gpu(x), axis=axis).get(), function(x, axis=axis))


@pytest.mark.parametrize("function", PLACES)
def test_a_single_extreme_anywhere(function):
    x = np.zeros((64, 333), "f4")
    for place in (0, 1, 332, 333, 9999, x.size - 1):
        x[:] = np.random.default_rng(place).random(x.shape)
        x.flat[place] = -5 if function is np.argmin else 5
        assert int(function(to_gpu(x))) == place
        x.flat[place] = np.nan
        assert int(function(to_gpu(x))) == place
        np.testing.assert_array_equal(function(to_gpu(x), axis=0).get(), function(x, axis=0))


VIEWS = [np.s_[1:, 3:], np.s_[::-1,], np.s_[:, ::-2], np.s_[..., ::-1], np.s_[::3, 1::2, 2]]


@pytest.mark.parametrize(("view", "function"), each_once([(view,) for view in VIEWS], PLACES))
def test_places_in_views(view, function):
    x = ties((40, 50, 6), "f4")
    a = to_gpu(x)
    for axis in axes_of(x[view].shape):
        for one, other in ((a[view], x[view]), (a[view].T, x[view].T)):
            np.testing.assert_array_equal(
                function(one, axis=axis).get(), function(other, axis=axis), str(axis)
            )


SPREADS = list(product([np.var, np.std], ["i4", "u1", "f2", "f4", "f8"]))


@pytest.mark.parametrize(
    ("shape", "function", "dtype"), each_with(ROWS, [(np.std, "f8"), (np.var, "f4")], SPREADS)
)
def test_variances_of_any_size(shape, function, dtype):
    scale = 1 if np.dtype(dtype).kind == "f" else 50
    x = (np.random.default_rng(5).normal(3, 1, shape) * scale).clip(0).astype(dtype)
    a = to_gpu(x)
    rtol = {"f2": 2e-3, "f4": 1e-5}.get(dtype, 1e-12)
    for axis in axes_of(shape):
        for ddof in (0, 1):
            if x.size // (1 if axis is None else x.shape[axis]) == 0:
                continue
            count = x.size if axis is None else x.shape[axis]
            if count <= ddof:
                continue
            expected = function(x.astype("f8"), axis=axis, ddof=ddof)
            got = function(a, axis=axis, ddof=ddof)
            assert got.dtype == (dtype if scale == 1 else "f8")
            np.testing.assert_allclose(got.get(), expected, rtol=rtol, atol=rtol)


def test_variances_of_large_means_and_of_outliers():
    random = np.random.default_rng(6)
    for x in (
        1e8 + random.normal(size=(300, 400)),
        np.concatenate([[[1e9] * 400], random.normal(size=(300, 400))]),
        np.where(random.random((300, 400)) < 0.01, 1e6, random.random((300, 400))),
        np.full((300, 400), 0.1),
    ):
        for axis in (None, 0, 1, (1, 0)):
            expected = np.var(x.astype(np.longdouble), axis=axis).astype("f8")
            got = np.var(to_gpu(x), axis=axis).get()
            np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-20)


def test_what_is_not_a_number_spreads():
    x = np.ones((5, 700))
    x[1, 3], x[2, 600] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        expected = np.var(x, axis=1)
    np.testing.assert_array_equal(np.var(to_gpu(x), axis=1).get(), expected)


@pytest.mark.parametrize("shape", SHAPES[1:5])
def test_an_infinite_element_anywhere(shape):
    for place in {0, 1, np.prod(shape) // 2, np.prod(shape) - 1}:
        x = np.ones(shape, "f4")
        x.flat[place] = np.inf
        for axis in axes_of(shape):
            with np.errstate(invalid="ignore"):
                expected = np.var(x, axis=axis)
            np.testing.assert_array_equal(np.var(to_gpu(x), axis=axis).get(), expected)


@pytest.mark.parametrize(("function", "dtype"), each_once([np.var, np.std], ["f4", "f8"]))
def test_squares_that_overflow_are_infinite(function, dtype):
    x = np.zeros((7, 900), dtype)
    x[1::2, ::2] = np.sqrt(np.finfo(dtype).max) * 4
    for axis in (None, 0, 1):
        with np.errstate(over="ignore"):
            expected = function(x, axis=axis)
        np.testing.assert_array_equal(function(to_gpu(x), axis=axis).get(), expected)


@pytest.mark.parametrize(
    ("function", "shape"), each_with([np.argmin, np.var, np.argmax], ROWS[2:4], ROWS[1:5])
)
def test_indices_of_64_bits(blocks, function, shape):  # noqa: F811
    """Arrays of 2**31 elements need them; the override makes the plan use them for few elements."""
    core._override_device_properties({**SMALL, "index32": 10})
    try:
        x = ties(shape, "f4")
        for axis in axes_of(shape):
            np.testing.assert_allclose(
                function(to_gpu(x), axis=axis).get(), function(x, axis=axis), rtol=1e-5
            )
    finally:
        core._override_device_properties(blocks)
