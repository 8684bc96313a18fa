"""Mathematical functions over all of their arguments: large angles, subnormal numbers, both ends of
the range. On `host` loops call vector functions of them."""

from itertools import product

import numpy as np
import pytest
from campaign import each_once, rare_but

import PyGPU
from PyGPU.gpuarray import to_gpu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OF_ONE = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh")
OF_ONE += ("cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "cbrt")
OF_TWO = ("arctan2", "power", "hypot")


def everywhere(count, seed):
    """Floats of all exponents and both signs, half of them of everyday sizes."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    x[::2] = rng.uniform(-20, 20, x[::2].size)
    return x


def units_off(got, exact):
    """How many units in the last place each result is off; other things must agree."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(got.dtype)
        plain = np.isfinite(nearest) & np.isfinite(got)
        same = (got == nearest) | (np.isnan(got) & np.isnan(exact))
        unit = np.spacing(np.maximum(abs(nearest), np.finfo(got.dtype).tiny)).astype(exact.dtype)
        off = abs(got.astype(exact.dtype) - exact) / unit
    same &= np.isnan(nearest) | (nearest != 0) | (np.signbit(got) == np.signbit(nearest))
    return np.where(plain & (got != nearest), off, np.where(same, 0, np.inf))


@pytest.mark.parametrize("name", OF_ONE)
def test_of_one_number(name):
    x = everywhere(200_000, 1)
    function = getattr(np, name)
    off = units_off(function(to_gpu(x)).get(), function(x.astype(np.float64)))
    assert off.max() < 8, x[off.argmax()]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_to_the_digits_that_pycudas_own_tests_want(name):
    x = np.linspace(-10, 10, 400_001, dtype=np.float32)
    function = getattr(np, name)
    of_float = 3.5e-8 if PyGPU.target == "host" else 1.3e-7  # theirs is 1e-7 from NumPy's float32
    for dtype, bound in ((np.float32, of_float), (np.float16, 2.5e-4)):
        some = x.astype(dtype)
        got = function(to_gpu(some)).get().astype(np.float64)
        assert abs(got - function(some.astype(np.float64))).max() < bound


@pytest.mark.parametrize("name", OF_TWO)
def test_of_two_numbers(name):
    x, y = everywhere(200_000, 2), everywhere(200_000, 3)
    x[::3] = abs(x[::3])
    function = getattr(np, name)
    off = units_off(function(to_gpu(x), to_gpu(y)).get(), function(*np.float64([x, y])))
    assert off.max() < 10, (x[off.argmax()], y[off.argmax()])


@pytest.mark.parametrize("name", rare_but(OF_ONE[1::2], OF_ONE))
def test_of_double_precision(name):
    x = np.random.default_rng(4).integers(0, 1 << 64, 100_000, np.uint64).view(np.float64)
    x[::2] = np.linspace(-745, 710, x[::2].size)
    x[::8] = np.linspace(-1, 1, x[::8].size)
    function = getattr(np, name)
    off = units_off(function(to_gpu(x)).get(), function(x.astype(np.longdouble)))
    assert off.max() < 5, x[off.argmax()]


def test_powers_of_double_precision():
    rng = np.random.default_rng(7)
    any_two = rng.integers(0, 1 << 64, (2, 30_000), np.uint64).view(np.float64)
    everyday = rng.uniform(-10, 10, 30_000), rng.uniform(-300, 300, 30_000)
    next_to_one = 1 + rng.uniform(-1e-3, 1e-3, 30_000), rng.uniform(-7e5, 7e5, 30_000)
    whole = np.meshgrid(np.arange(-20.0, 20.0), np.arange(-9.0, 10.0))
    special = np.array([0, 1, 2, 0.5, np.inf, np.nan, 5e-324, 2.0**53, 2.0**52 + 1, 1.5, 1e308])
    special = np.meshgrid(*[np.concatenate([special, -special])] * 2)
    for x, y in (any_two, everyday, next_to_one, whole, special):
        got, exact = np.power(to_gpu(x), to_gpu(y)).get(), np.power(*np.longdouble([x, y]))
        near = exact.astype(np.float64)
        close = np.isclose(got, near, rtol=4.5e-16, atol=1e-323, equal_nan=True)
        assert close.all(), (x[~close], y[~close])
        same_sign = np.isnan(near) | (np.signbit(got) == np.signbit(near))
        assert same_sign.all(), (x[~same_sign], y[~same_sign])


# On both sides of 1, where one function or another ends.
FEW = np.concatenate([np.linspace(0.1, 0.99, 389), np.linspace(1, 9, 388)])


DTYPES = [np.float32, np.float64]
USUAL = list(zip(OF_ONE[::4] + OF_TWO, DTYPES * 4))


@pytest.mark.parametrize(("name", "dtype"), rare_but(USUAL, product(OF_ONE + OF_TWO, DTYPES)))
def test_a_number_has_one_result_wherever_it_lies(name, dtype):
    x = FEW.astype(dtype)
    function = getattr(np, name)
    two = (to_gpu(x[::-1].copy()),) if name in OF_TWO else ()
    all_at_once = function(to_gpu(x), *two).get()
    apart = [to_gpu(np.repeat(one, 3))[::3] for one in (x, x[::-1])][: 1 + len(two)]
    np.testing.assert_array_equal(function(*apart).get(), all_at_once)
    for at in (0, 1, 5, 776):
        of_few = function(*[one[at : at + 3] for one in (to_gpu(x), *two)])
        np.testing.assert_array_equal(of_few.get(), all_at_once[at : at + 3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", rare_but(["exp", "arctan2"], OF_ONE + OF_TWO))
def test_a_number_has_one_result_beside_complex_ones(name, dtype):
    """Whose kernels are made for other vectors."""
    x, function, count = to_gpu(FEW.astype(dtype)), getattr(np, name), 1 + (name in OF_TWO)
    apart = function(*[x] * count)
    z = to_gpu(np.ones(FEW.size, np.complex64 if dtype == np.float32 else np.complex128))
    fused = PyGPU.fuse(lambda x, z: function(*[x] * count) * z)(x, z)
    np.testing.assert_array_equal(fused.get().real, apart.get())


def test_halves_of_all_bits():
    half = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    single = to_gpu(half).astype(np.float32)
    np.testing.assert_array_equal(single.get(), half.astype(np.float32))
    np.testing.assert_array_equal(single.astype(np.float16).get(), half)
    signs = np.signbit(single.get()[half == 0])
    assert signs.tolist() == [False, True]


def test_halves_are_rounded_to_even():
    rng = np.random.default_rng(5)
    for dtype in (np.float32, np.float64):
        x = rng.uniform(-70000, 70000, 20_000).astype(dtype)
        x[::2] *= 10.0 ** rng.integers(-12, 1, x[::2].size)
        middle = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(dtype)
        middle = (middle[1:] + middle[:-1]) / 2
        x = np.concatenate([x, middle, np.nextafter(middle, dtype(9e9)), -middle])
        got = to_gpu(x).astype(np.float16).get()
        np.testing.assert_array_equal(got.view(np.uint16), x.astype(np.float16).view(np.uint16))


def pairs_of_integers(dtype):
    """All pairs of bytes; of others any, and those whose quotient is next to a whole number."""
    info, rng, one = np.iinfo(dtype), np.random.default_rng(3), np.dtype(dtype).type(1)
    if info.bits == 8:
        every = np.arange(info.min, info.max + 1).astype(dtype)
        return [x.ravel() for x in np.meshgrid(every, every)]
    x = rng.integers(info.min, info.max, 40_000, dtype, endpoint=True)
    y = (rng.integers(0, 2**64, x.size, "u8") >> rng.integers(0, 64, x.size, "u8")).astype(dtype)
    multiples = x - np.fmod(x, y)
    return np.concatenate([x, multiples, multiples - one, multiples + one]), np.tile(y, 4)


QUOTIENTS = [np.floor_divide, np.remainder, np.fmod]


@pytest.mark.parametrize(
    ("dtype", "f"), each_once(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"], QUOTIENTS)
)
def test_quotients_of_integers(dtype, f):
    x, y = pairs_of_integers(dtype)
    np.testing.assert_array_equal(f(to_gpu(x), to_gpu(y)).get(), f(x, y))


def pairs_of_floats(dtype):
    """Any two; everyday ones; multiples, small and large, and their neighbours; special values."""
    rng, bits = np.random.default_rng(6), f"u{np.dtype(dtype).itemsize}"
    some = rng.integers(0, np.iinfo(bits).max, (2, 20_000), bits, endpoint=True).view(dtype)
    x, y = some
    times = rng.integers(-(2**22), 2**22, y.size) >> rng.integers(0, 22, y.size)
    multiples = (y * times).astype(dtype)
    around = [np.nextafter(multiples, dtype(end)) for end in (-np.inf, np.inf)]
    special = np.array([0, 1, 0.5, 3, np.inf, np.nan, np.finfo(dtype).tiny / 2], dtype)
    special = np.concatenate([special, -special])
    pairs = np.meshgrid(special, special)
    left = [x, rng.normal(size=x.size), multiples, *around, pairs[0].ravel()]
    right = [y, rng.normal(size=x.size), *[y] * 3, pairs[1].ravel()]
    return np.concatenate(left).astype(dtype), np.concatenate(right).astype(dtype)


@pytest.mark.parametrize(("dtype", "f"), each_once([np.float16, np.float32, np.float64], QUOTIENTS))
def test_quotients_of_floats(dtype, f):
    """To the last bit, and with the signs of zeros."""
    x, y = pairs_of_floats(dtype)
    got, expected = f(to_gpu(x), to_gpu(y)).get(), f(x, y)
    np.testing.assert_array_equal(got, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))
