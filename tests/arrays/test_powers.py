"""Powers, and special values of functions of complex numbers."""

import numpy as np
import pytest
from strategies import assert_same

from PyGPU.gpuarray import to_gpu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("code", ["f2", "f4", "f8"])
def test_cubes(code):
    dtype = np.dtype(code)
    limit = float(np.finfo(dtype).max) ** (1 / 3)
    x = np.random.default_rng(3).uniform(-limit, limit, 4001).astype(dtype)
    x[::2] /= dtype.type(limit)
    exact = (x.astype(np.longdouble) ** 3).astype(dtype)
    for got in (
        to_gpu(x) ** 3,
        to_gpu(x) ** 3.0,
        to_gpu(x[::-1])[::-1] ** 3,
        np.power(to_gpu(x), 3),
    ):
        assert got.dtype == dtype
        np.testing.assert_array_max_ulp(got.get(), exact, 1)
        np.testing.assert_array_max_ulp(got.get(), x**3, 1)
    edges = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, limit * 1.1, limit * -2]).astype(
        dtype
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal((to_gpu(edges) ** 3).get(), edges**3)
        assert (np.signbit((to_gpu(edges) ** 3).get()) == np.signbit(edges**3))[:6].all()
    a = to_gpu(x)
    a **= 3
    np.testing.assert_array_max_ulp(a.get(), exact, 1)


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_complex_cubes(code):
    parts = np.random.default_rng(4).normal(size=(1000, 2))
    z = (parts[:, 0] + 1j * parts[:, 1]).astype(code)
    got = (to_gpu(z) ** 3).get()
    wide = z.astype(np.complex128)
    exact = wide * wide * wide
    assert got.dtype == z.dtype
    assert (abs(got - exact) <= 4 * np.finfo(z.dtype).eps * abs(exact)).all()


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_whole_powers_of_complex_numbers(code):
    exact = np.array([-1, 1j, 2 - 1j, 0.5 + 0.25j, -3j], code)
    for exponent in (0, 1, 4, 5, -2, -3, 7.0, np.complex64(6)):
        expected = exact.astype("c16") ** exponent
        np.testing.assert_allclose((to_gpu(exact) ** exponent).get(), expected, rtol=2e-7)
    for exponent in (1, 4, 5):
        np.testing.assert_array_equal((to_gpu(exact[:3]) ** exponent).get(), exact[:3] ** exponent)


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_powers_of_extreme_complex_numbers(code):
    """NumPy's finite numbers, and its infinities and NaNs for exponents 0 to 5 and powers of 0."""
    huge = float(np.finfo(code).max) / 1e5
    parts = [0.0, -0.0, 1, -3, 0.5, huge, -huge, 1 / huge, huge**0.5, np.inf, -np.inf, np.nan]
    z = np.array([complex(x, y) for x in parts for y in parts], code)
    a, eps = to_gpu(z), 300 * np.finfo(code).eps * np.log(huge)
    for exponent in [*range(6), -1, -2, -3, 0.5, -0.5, 2.5, 7, 1j, 1 - 2j, 0.5 + 0.25j, np.nan]:
        powers = np.full(z.shape, exponent, code)
        results = [np.power(a, to_gpu(powers)), a ** powers[0]]
        if exponent != -1:  # a reciprocal, which is infinite for 0
            results.append(a**exponent)
        with np.errstate(all="ignore"):
            expected = np.power(z, powers)
            finite = np.isfinite(expected)
            for got in (result.get() for result in results):
                error = abs(got[finite] - expected[finite])
                assert (error <= eps * abs(expected[finite])).all(), exponent
                other = ~finite & ((z == 0) | (exponent in range(6)))
                for part in (np.real, np.imag):
                    np.testing.assert_array_equal(part(got[other]), part(expected[other]))


def test_signs_of_infinite_complex_numbers():
    """As since NumPy 2: of length one in their direction."""
    z = np.array([complex(0, np.inf), complex(-np.inf, 3), complex(np.inf, np.inf), 0, 3 - 4j])
    expected = [1j, -1, complex(np.nan, np.nan), 0, 0.6 - 0.8j]
    np.testing.assert_allclose(np.sign(to_gpu(z)).get(), expected, rtol=1e-15)


INVERSE = ["arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"]


@pytest.mark.parametrize("code", ["c8", "c16"])
@pytest.mark.parametrize("name", INVERSE)
def test_special_values_of_inverse_functions(name, code):
    """Values and signs of C99's Annex G, as NumPy's. The signs of a NaN's results are open."""
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(x, y) for x in special for y in special], code)
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":  # it had other values for some NaNs
        z = z[~np.isnan(z)]
    got = getattr(np, name)(to_gpu(z)).get()
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(z)
    assert got.dtype == expected.dtype
    for part in (np.real, np.imag):
        sizes, signs = (np.abs(part(got)), np.signbit(part(got)))
        np.testing.assert_allclose(sizes, np.abs(part(expected)), rtol=8 * np.finfo(code).eps)
        wrong = (signs != np.signbit(part(expected))) & ~np.isnan(z)
        assert not wrong.any(), z[wrong]


@pytest.mark.parametrize("name", ["log2", "exp2"])
def test_special_values_of_complex_functions(name):
    special = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan]
    z = np.array([complex(x, y) for x in special for y in special])
    got = getattr(np, name)(to_gpu(z)).get()
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(z)
    np.testing.assert_allclose(got.real, expected.real, rtol=1e-14)
    np.testing.assert_allclose(got.imag, expected.imag, rtol=1e-14)


def test_integers_to_the_third_wrap():
    for code in ("i1", "u1", "i4", "u8"):
        info = np.iinfo(code)
        x = np.array([info.min, info.min + 1, 0, 1, 2, 3, 100, info.max - 1, info.max]).astype(code)
        assert_same((to_gpu(x) ** 3).get(), x**3)
    assert_same((to_gpu(x.astype("i4")) ** 3.0).get(), x.astype("i4") ** 3.0)


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, -1, -1.0, np.float64(0.5), np.int8(2)], ids=repr)
@pytest.mark.parametrize("code", ["e", "f", "d"])
def test_powers_that_have_a_function_are_as_exact(code, exponent):
    """Squares, roots and reciprocals: NumPy's to the last bit, of infinities and zeros as well.

    The bits of a NaN are the processor's own.
    """
    x = np.array([-np.inf, -3.5, -0.0, 0.0, 0.1, 1 / 3, 2, 77, np.inf, np.nan], code)

    def assert_as_exact(got, expected):
        nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(got), nan)
        assert_same(np.where(nan, x.dtype.type(0), got), np.where(nan, x.dtype.type(0), expected))

    assert_as_exact((to_gpu(x) ** exponent).get(), x**exponent)
    a, y = to_gpu(x), x.copy()
    a **= exponent
    y **= exponent
    assert_as_exact(a.get(), y)


@pytest.mark.parametrize("code", ["i1", "u2", "i8", "F", "D"])
def test_squares(code):
    x = np.arange(-20, 20).astype(code)
    np.testing.assert_array_equal((to_gpu(x) ** 2).get(), x**2, strict=True)
    np.testing.assert_allclose((to_gpu(x) ** 3).get(), x**3, rtol=1e-5)
