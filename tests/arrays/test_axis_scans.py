"""Running sums and products along an axis: few and many lines, short and long ones."""

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, each_with, rare_but
from hypothesis import given
from strategies import examples

import PyGPU
from PyGPU.gpuarray import to_gpu

#: Lines of one element, more lines than threads, several chunks of a line.
SHAPES = [(1, 1), (3, 5), (2, 5000), (5000, 2), (300, 300), (4, 3, 2500), (4, 2500, 3), (7, 1, 9)]
SHAPES += [] if PyGPU.target == "host" else [(2, 300_000), (300_000, 2), (3, 100_000, 5)]
ROWS = [(shape,) for shape in SHAPES]  # one parameter each
EXACT = ["?", "b", "H", "i", "Q"]
ALL = [*EXACT, "e", "f", "d", "F", "D"]


def check(function, x, axis, **named):
    expected = function(x, axis=axis, **named)
    got = function(to_gpu(x), axis=axis, **named)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.flags.c_contiguous
    if expected.dtype.kind in "fc":
        eps = float(np.finfo(expected.dtype).eps)
        rtol = eps * (4 if eps > 1e-4 else x.shape[axis])
        np.testing.assert_allclose(got.get(), expected, rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(got.get(), expected)


def numbers(shape, code):
    random = np.random.default_rng(len(shape))
    if code == "e":  # whole numbers whose sums are exact
        return (np.arange(np.prod(shape)).reshape(shape) % 7 == 0).astype(code)
    if code in "fdFD":
        x = random.random(shape) - 0.5
        return (x + (1j * random.random(shape) if code in "FD" else 0)).astype(code)
    return random.integers(0, 2 if code == "?" else 100, shape).astype(code)


@pytest.mark.parametrize(("shape", "code"), each_with(ROWS, ["b", "f", "D"], ALL))
def test_sums_along_each_axis(shape, code):
    x = numbers(shape, code)
    if code == "e" and x.size > 4096:
        x = x[:, :64] if x.ndim == 2 and x.shape[0] < 4096 else x[:64]
    for axis in range(x.ndim):
        check(np.cumsum, x, axis)


@pytest.mark.parametrize(
    ("shape", "code"), each_with(ROWS[:7], ["i", "f"], ["?", "b", "i", "Q", "f", "d", "F"])
)
def test_products_along_each_axis(shape, code):
    x = numbers(shape, code)
    if code in "fdF":
        x = np.exp(1j * x.real).astype(code) if code == "F" else (1 + x / 1000).astype(code)
    for axis in range(x.ndim):
        check(np.cumprod, x, axis)


@pytest.mark.parametrize("dtype", rare_but(["i1", "c8"], ["i1", "f4", "f8", "c8", "u8"]))
def test_dtypes_of_sums(dtype):
    x = np.random.default_rng(4).integers(0, 9, (6, 40, 30)).astype("i2")
    check(np.cumsum, x, 1, dtype=dtype)


def test_views_and_results():
    x = np.random.default_rng(4).integers(0, 9, (6, 40, 30)).astype("i2")
    a = to_gpu(x)
    for view in (np.s_[::2], np.s_[:, ::-1], np.s_[..., 3:20:2], np.s_[0], np.s_[:, 1:2]):
        for axis in range(x[view].ndim):
            expected = np.cumsum(x[view], axis)
            np.testing.assert_array_equal(np.cumsum(a[view], axis).get(), expected)
            np.testing.assert_array_equal(np.cumsum(a[view].T, -1 - axis).get(), expected.T)
    np.testing.assert_array_equal(
        np.cumsum(a[:1, :1, ::2], 2).get(),
        np.cumsum(x[:1, :1, ::2], 2),  # ravel() gives a view
    )
    out = to_gpu(np.zeros((6, 30, 40))).transpose((0, 2, 1))
    assert np.cumsum(a, axis=1, out=out) is out
    np.testing.assert_array_equal(out.get(), np.cumsum(x, axis=1))
    assert np.cumsum(a, 0, out=a.view("i2").astype("i8")) is not a
    for shape in ((0, 3), (3, 0)):
        for axis in (0, 1):
            check(np.cumsum, np.zeros(shape), axis)
    with pytest.raises(ValueError, match="axis 3"):
        np.cumsum(a, 3)
    with pytest.raises(ValueError, match="out: expected shape"):
        np.cumsum(a, 0, out=to_gpu(np.zeros(3, "i8")))
    with pytest.raises(TypeError, match="out: results of int64"):
        np.cumsum(a, 0, out=to_gpu(np.zeros(x.shape, "u4")))


@pytest.mark.parametrize(
    ("function", "code"), each_once([np.nancumsum, np.nancumprod], ["f8", "c16", "i4"])
)
def test_without_what_is_not_a_number(function, code):
    x = 1 + np.random.default_rng(8).random((40, 50)) / 100
    x[x > 1.008] = np.nan
    x = {"f8": x, "c16": x + 1j * x, "i4": np.nan_to_num(x).astype("i4")}[code]
    for axis in (0, 1):
        check(function, x, axis)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("code", ["F", "D"])
@pytest.mark.parametrize(
    "function", [np.cumprod, np.nancumprod, np.prod, np.nanprod, np.multiply.reduce]
)
def test_products_of_infinite_complex_numbers(function, code):
    """One times an infinity has a NaN: the first factor of cumprod is multiplied by nothing."""
    inf, nan = np.inf, np.nan
    lines = [[inf + 1j], [complex(inf, 1), 2], [1 + 1j, complex(0, inf)], [1, complex(-inf, 2)]]
    lines += [[complex(nan, 1), complex(inf, 1)], [complex(nan, inf), 2], [complex(inf, inf)], []]
    for line in lines:
        for x in (np.array(line, code), np.array(line, code)[:, None], np.array([line], code)):
            for axis in range(x.ndim):
                np.testing.assert_array_equal(
                    function(to_gpu(x), axis=axis).get(), function(x, axis=axis), repr(x)
                )
    long = np.exp(1j * np.arange(70_000)).astype(code)
    for at in (5, 69_999):
        long[at] = inf
        assert not np.isfinite(np.prod(to_gpu(long)).get())
        assert np.isfinite(np.cumprod(to_gpu(long))[:at].get()).all()
        long[at] = 1
    assert abs(abs(np.prod(to_gpu(long)).get()) - 1) < 0.01


@pytest.mark.parametrize("function", [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod])
def test_views_of_evenly_spaced_elements(function):
    x = np.arange(1, 25).reshape(4, 6)  # integers wrap: the order of products does not matter
    for view in (np.s_[::-1, ::-1], np.s_[::-1, ::-2], np.s_[:, ::3], np.s_[:, 1:2], np.s_[:2, 5:]):
        for axis in (0, 1, None):
            got = function(to_gpu(x)[view], axis)
            np.testing.assert_array_equal(got.get(), function(x[view], axis))


def test_elements_at_odd_addresses():
    x = np.arange(49, dtype="u1")[1:].view("f8").reshape(2, 3)
    a = to_gpu(np.arange(49, dtype="u1"))[1:].view("f8").reshape(2, 3)
    for axis in (0, 1, None):
        np.testing.assert_array_equal(np.cumsum(a, axis).get(), np.cumsum(x, axis))


@pytest.mark.parametrize("function", [np.cumsum, np.cumprod, np.argmax, np.argmin, np.nanargmin])
def test_axis_of_an_array_without_axes(function):
    x = np.array(5, "f4")
    for axis in (0, -1):
        got, expected = function(to_gpu(x), axis), function(x, axis)
        assert (got.shape, got.get()) == (expected.shape, expected)
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        function(to_gpu(x), 1)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=4), st.data())
@examples(40)
def test_any_shape(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.arange(np.prod(shape)).reshape(shape) % 11
    check(np.cumsum, x, axis)
