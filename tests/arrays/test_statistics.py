"""NumPy's functions of statistics: rules of NaN, dtypes and axes, and digits that cancel."""

import hypothesis.strategies as st
import numpy as np
import pytest
from campaign import each_once, each_with, rare_but
from hypothesis import given
from strategies import arrays, examples

from PyGPU.gpuarray import to_gpu

pytestmark = pytest.mark.filterwarnings(
    "ignore:Degrees of freedom", "ignore:invalid value", "ignore:divide by zero", "ignore:Mean of"
)
CODES = "?bBhHiIqQefdFD"
X = np.random.default_rng(7).normal(3, 2, size=(4, 5, 6))


def close(got, expected, rtol):
    expected = np.asarray(expected)
    got = got.get()
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    if rtol:
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    else:  # differences of numbers near the largest ones overflow
        np.testing.assert_array_equal(got, expected)


def tolerance(dtype):
    return {2: 2e-3, 4: 2e-5}.get(np.empty(0, dtype).real.dtype.itemsize, 1e-12)


AXES = [{}, {"axis": 1}, {"axis": (0, -1), "ddof": 1, "keepdims": True}]
SPREADS = [(function, arguments) for function in (np.var, np.std) for arguments in AXES]


@pytest.mark.parametrize(("function", "arguments", "code"), each_with(SPREADS, "fD?", CODES))
def test_variances(function, arguments, code):
    x = np.asarray(X - 2j * X[::-1] if code in "FD" else X).astype(code)
    a = to_gpu(x)
    wide = x.astype("f8") if code == "e" else x
    expected = np.asarray(function(wide, **arguments))
    if code == "e":
        expected = expected.astype("e")
    close(function(a, **arguments), expected, tolerance(expected.dtype))


def test_no_digits_cancel():
    x = 1e8 + np.random.default_rng(1).normal(size=100_000)
    np.testing.assert_allclose(float(np.var(to_gpu(x))), np.var(x), rtol=1e-9)
    small = (1000 + np.random.default_rng(1).normal(size=100_000)).astype("f4")
    expected = np.var(small.astype("f8"))
    np.testing.assert_allclose(float(np.var(to_gpu(small))), expected, rtol=1e-4)


def test_dtype_and_out():
    x = X.astype("f4")
    a = to_gpu(x)
    close(np.var(a, 0, dtype="f8"), np.var(x, 0, dtype="f8"), 1e-6)
    close(np.std(a, 0, "f4"), np.std(x, 0, "f4"), 1e-5)
    out = to_gpu(np.zeros((6, 5), "f8")).T
    assert np.std(a, axis=0, out=out) is out
    close(out, np.std(x, 0).astype("f8"), 1e-5)
    for call in (
        lambda: np.var(a, dtype="i4"),
        lambda: np.var(a, dtype="i4", where=a),
        lambda: np.nanstd(a, dtype="i4"),
        lambda: np.var(to_gpu(np.zeros(3, "S3"))),
        lambda: np.var(a, out=to_gpu(np.zeros((), "i4"))),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="axis 3"):
        np.var(a, 3)


@pytest.mark.parametrize(("code", "dtype"), rare_but([("F", "D")], [("F", "D"), ("i4", "F")]))
def test_variances_in_complex_numbers(code, dtype):
    x = X.astype(code)
    close(np.var(to_gpu(x), 0, dtype), np.var(x, 0, dtype), 1e-5)


LARGE = [((33, 40),), ((7, 300),), ((2,),), ((300, 7),), ((70000,),)]  # one parameter each


@pytest.mark.parametrize(("shape", "code"), each_once(LARGE, "dfe"))
def test_variances_of_numbers_whose_differences_overflow(shape, code):
    """The variances are infinite, and NaN only if an element is infinite or NaN."""
    most = np.finfo(code).max
    rng = np.random.default_rng(3)
    for numbers in ([most, -most, 1], [most, -most, np.inf], [1, np.nan, -most], [most / 2, -most]):
        x = rng.choice(np.array(numbers, code), shape)
        for axis in (None, *range(x.ndim)):
            got = np.var(to_gpu(x), axis=axis).get()
            alike = x.min(axis) == x.max(axis)
            is_nan = ~np.isfinite(x).all(axis)
            np.testing.assert_array_equal(np.isnan(got), is_nan)
            assert (np.isinf(got) | is_nan | alike).all()


CURVES = [((7,), -1), ((3, 5), 0), ((1, 4), 0), ((0, 3), 1), ((2, 3, 4), -2)]


@pytest.mark.parametrize(("shape", "axis", "code"), each_with(CURVES, "iD?", "bifdFD?"))
def test_trapezoid(shape, axis, code):
    trapezoid = getattr(np, "trapezoid", None) or np.trapz
    rng = np.random.default_rng(1)
    y = (rng.normal(size=shape) * 5).astype(code)
    for keywords in (
        {},
        {"dx": 2},
        {"x": np.arange(shape[axis]) ** 2.0},
        {"x": rng.normal(size=shape)},
    ):
        on_device = {k: to_gpu(v) if np.ndim(v) else v for k, v in keywords.items()}
        expected = trapezoid(y, axis=axis, **keywords)
        got = trapezoid(to_gpu(y), axis=axis, **on_device).get()
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
        assert got.dtype == np.asarray(expected).dtype


def test_positions_of_a_trapezoid_on_the_host():
    trapezoid = getattr(np, "trapezoid", None) or np.trapz
    with pytest.raises(TypeError, match="x: expected a GPUArray"):
        trapezoid(to_gpu(np.ones(3)), x=np.ones(3))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (1,), ()])
def test_few_elements(shape):
    x = np.zeros(shape)
    for ddof in (0, 1, 2):
        close(np.var(to_gpu(x), ddof=ddof), np.var(x, ddof=ddof), 0)
        if shape:
            close(np.std(to_gpu(x), 0, ddof=ddof), np.std(x, 0, ddof=ddof), 0)


PLACES = [np.argmax, np.argmin]
ARGUMENTS = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True}]
USUAL_PLACES = list(zip(PLACES * 3, "f?bQe"))
ANY_PLACES = [(function, code) for function in PLACES for code in "?bBhHiIqQefd"]


def integers(code):
    x = np.random.default_rng(3).integers(0, 2 if code == "?" else 5, size=(4, 5, 6)).astype(code)
    if code == "Q":
        x[0, 3, 4] = 2**64 - 1
    return x


@pytest.mark.parametrize(
    ("arguments", "function", "code"), each_with(ARGUMENTS, USUAL_PLACES, ANY_PLACES)
)
def test_places(arguments, function, code):
    x = integers(code)
    close(function(to_gpu(x), **arguments), function(x, **arguments), 0)


@pytest.mark.parametrize(("function", "code"), rare_but(USUAL_PLACES[1:3], ANY_PLACES))
def test_places_in_a_view_and_into_an_array(function, code):
    x = integers(code)
    a = to_gpu(x)
    close(function(a[::2, ::-1].T), function(x[::2, ::-1].T), 0)
    out = to_gpu(np.zeros((4, 6), np.int64))
    assert function(a, 1, out) is out
    close(out, function(x, 1), 0)


@pytest.mark.parametrize("function", PLACES)
def test_places_of_what_is_not_a_number(function):
    for x in ([1, np.nan, 3, np.nan], [np.nan] * 3, [np.inf, -np.inf, np.inf], [-0.0, 0.0]):
        close(function(to_gpu(np.array(x))), function(np.array(x)), 0)
    with pytest.raises(ValueError, match="zero elements"):
        function(to_gpu(np.zeros((3, 0))), axis=1)
    assert function(to_gpu(np.zeros((3, 0))), axis=0).shape == (0,)
    for code in ("D", "S3"):
        with pytest.raises(TypeError, match="expected real numbers"):
            function(to_gpu(np.zeros(3, code)))
    assert function(to_gpu(np.array(5.0))).shape == ()


ANY_AXES = [(np.count_nonzero, 0), (np.argmax, 0), (np.ptp, 0), (np.var, 1e-5)]


@examples(40)
@given(st.data())
def test_any_layout(data):
    x = data.draw(arrays(dtype=np.dtype("f4")))
    a = to_gpu(x)
    close(np.count_nonzero(a), np.int64(np.count_nonzero(x)), 0)
    if not x.size:
        return
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    function, rtol = data.draw(st.sampled_from(ANY_AXES))
    close(function(a, axis), function(x, axis), rtol)


@pytest.mark.parametrize("code", rare_but("fD", "efdFD"))
def test_nan_to_num(code):
    special = [1, np.nan, np.inf, -np.inf, -2]
    x = np.array([[r + 1j * i for r in special] for i in special]) if code in "FD" else special
    if code in "FD":
        x = np.array([[complex(r, i) for r in special] for i in special])
    x = np.array(x, code)
    for arguments in ({}, {"nan": 7, "posinf": 8, "neginf": 9}, {"posinf": -1.5}):
        close(np.nan_to_num(to_gpu(x), **arguments), np.nan_to_num(x, **arguments), 0)
    a = to_gpu(np.stack([x, x]))[..., ::-1]
    assert np.nan_to_num(a, copy=False) is a
    close(a, np.nan_to_num(np.stack([x, x])[..., ::-1]), 0)
    whole = to_gpu(np.arange(3))
    assert np.nan_to_num(whole, copy=False) is whole and np.nan_to_num(whole) is not whole
    numbers = np.arange(x.size, dtype="f4").reshape(x.shape)
    for names in (["nan"], ["posinf", "neginf"]):
        for some in (numbers, numbers[..., :1], numbers.ravel()[3]):
            given = dict.fromkeys(names, to_gpu(some))
            expected = np.nan_to_num(x, **dict.fromkeys(names, some))
            close(np.nan_to_num(to_gpu(x), **given), expected, 0)
    with pytest.raises(TypeError, match="nan: expected real numbers, got an array of complex64"):
        np.nan_to_num(to_gpu(x), nan=to_gpu(numbers.astype("c8")))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("function", [np.var, np.std, np.nanvar, np.nanstd])
def test_no_degrees_of_freedom(function, code):
    x = np.array([[1, 0, 3], [2, 5, 1]]).astype(code)
    for axis in (None, 0, 1):
        for ddof in (1, 2, 3, 7):
            expected = function(x, axis=axis, ddof=ddof)
            close(function(to_gpu(x), axis=axis, ddof=ddof), expected, tolerance(expected.dtype))


@pytest.mark.parametrize("code", CODES)
def test_angles_and_sizes(code):
    x = np.array([[1, 0, 3], [2, 5, 1]]).astype(code)
    for one in (x, x[0, 1], x[:0], x.T) if code in "?BHIQ" else (x, -x, x[0, 1], x[:0], -x.T):
        one = np.asarray(one)
        array = to_gpu(one)
        close(np.angle(array), np.angle(one), tolerance(np.angle(one).dtype))
        close(np.angle(array, deg=True), np.angle(one, deg=True), tolerance(np.angle(one).dtype))
    for axis in (None, 0, -1, (0, 1), ()):
        assert np.size(to_gpu(x), axis) == np.size(x, axis)
    with pytest.raises(ValueError, match="axis 2"):
        np.size(to_gpu(x), (0, 2))


@pytest.mark.parametrize(("function", "code"), each_with([np.cumsum, np.cumprod], "?bfD", CODES))
def test_running_sums_and_products(function, code):
    x = (np.arange(1, 1000) % 3).astype(code)
    x = x if function is np.cumsum else np.where(x == 0, 1, x)[:30].astype(code)
    close(function(to_gpu(x)), function(x), tolerance(code))
    close(function(to_gpu(x)[::-2], 0), function(x[::-2], 0), tolerance(code))
    square = x[:9].reshape(3, 3)
    close(function(to_gpu(square).T), function(square.T), tolerance(code))


def test_running_sums_into_an_array_and_without_what_is_not_a_number():
    x = np.array([1, np.nan, 3.5, np.nan, -2])
    for function in (np.nancumsum, np.nancumprod, np.cumsum):
        close(function(to_gpu(x)), function(x), 0)
    close(np.nancumsum(to_gpu(np.arange(5))), np.nancumsum(np.arange(5)), 0)
    out = to_gpu(np.zeros(10))[::2]
    assert np.cumsum(to_gpu(np.arange(5, dtype="f4")), out=out) is out
    close(out, np.array([0.0, 1, 3, 6, 10]), 0)
    small = np.ones(4, "i1")
    close(np.cumsum(to_gpu(small), dtype="i1"), np.cumsum(small, dtype="i1"), 0)
    close(np.cumsum(to_gpu(np.zeros(0))), np.cumsum(np.zeros(0)), 0)
    close(np.cumsum(to_gpu(np.array(3))), np.cumsum(np.array(3)), 0)
    with pytest.raises(ValueError, match="axis 1"):
        np.cumsum(to_gpu(x), 1)
    with pytest.raises(ValueError, match="out: expected shape"):
        np.cumsum(to_gpu(x), out=to_gpu(np.zeros(3)))
    with pytest.raises(TypeError, match="out: results of float64"):
        np.cumsum(to_gpu(x), out=to_gpu(np.zeros(5, "i4")))
