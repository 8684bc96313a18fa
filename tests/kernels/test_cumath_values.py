"""The numbers that the mathematical functions give: accuracy, special values, branch cuts.

A kernel for each function and type would take a minute to compile. Here one kernel for each type
evaluates all expressions of PyGPU._kernels.operations; test_cumath.py tests the way to them
from the functions.
"""

import functools

import kernel_sources
import numpy as np
import pytest
from everywhere import COMPILERS, build, require

from PyGPU import compiler
from PyGPU._kernels import types
from PyGPU._kernels.operations import expressions
from PyGPU._kernels.text.device_functions import helpers
from PyGPU.gpuarray import GPUArray, to_gpu

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

BOTH = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "reciprocal"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "rint"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "negative", "absolute"),
]
REAL = [
    *BOTH,
    *("fabs", "ceil", "floor", "trunc", "sign", "cbrt", "deg2rad", "rad2deg", "signbit"),
    *("isnan", "isinf", "isfinite"),
]
REAL_PAIRS = [
    *("hypot", "arctan2", "copysign", "fmod", "nextafter", "logaddexp", "logaddexp2"),
    *("heaviside", "maximum", "minimum", "fmax", "fmin", "floor_divide", "remainder"),
]
COMPLEX = [*BOTH, "conjugate"]
WIDE = {"f4": "f8", "f8": "g", "c8": "c16", "c16": "G"}


def names_of(code):
    return COMPLEX if np.dtype(code).kind == "c" else REAL + REAL_PAIRS


def text(code):
    """Of a kernel that computes everything that is in names_of, one after the other."""
    dtype = np.dtype(code)
    texts = [expressions(name, dtype)[0] for name in names_of(code)]
    stores = "".join(f"  out[{k} * n + i] = A({one});\n" for k, one in enumerate(texts))
    return f"""
#include <pycuda-complex.hpp>
typedef {types.dtype_to_ctype(dtype)} A;
{helpers(texts, dtype.kind == "c")}
extern "C" __global__ void evaluate(const A *a_data, const A *b_data, A *out, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const A a = a_data[i], b = b_data[i];
  (void)b;
{stores}}}
"""


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[1:3], ids=lambda value: value)
@pytest.mark.parametrize("code", ["f4", "c16"])
def test_compiles(code, prefix, backend, arch):
    require(prefix)
    assert build(kernel_sources.Text(text(code), extern_c=False), backend, arch).log == ""


@functools.cache
def kernel(code):
    module = compiler.SourceModule(text(code), no_extern_c=True)
    return module.get_function("evaluate").prepare("PPPi")


def evaluate(code, x, y=None):
    """{name: results} of numbers."""
    names, x = names_of(code), np.asarray(x, code)
    y = x if y is None else np.asarray(y, code)
    out = GPUArray((len(names), x.size), np.dtype(code))
    grid = (-(-x.size // 128), 1)
    kernel(code).prepared_call(grid, (128, 1, 1), to_gpu(x), to_gpu(y), out, x.size)
    return dict(zip(names, out.get()))


def assert_accurate(got, x, name, ulps, *more):
    """Within units in the last place of NumPy's answer in higher precision."""
    wide = WIDE[got.dtype.str[1:]]
    exact = getattr(np, name)(x.astype(wide), *(y.astype(wide) for y in more))
    expected = np.asarray(exact).astype(got.dtype)
    finite = np.isfinite(expected)
    assert (np.isfinite(got) == finite).all(), (name, x[np.isfinite(got) != finite])
    info = np.finfo(got.dtype)
    error = abs(got[finite].astype(wide) - np.asarray(exact)[finite])
    bound = ulps * (float(info.eps) * abs(expected[finite]) + float(info.tiny) * float(info.eps))
    worst = x[finite][error > bound]
    assert not worst.size, (
        name,
        worst,
        got[finite][error > bound],
        expected[finite][error > bound],
    )
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(got[~finite], expected[~finite])


def real_numbers(code):
    sizes = np.geomspace(1e-7, 1e7, 57)
    return np.concatenate(
        [np.linspace(-10, 10, 173), np.linspace(-1, 1, 57), sizes, -sizes]
    ).astype(code)


@pytest.mark.parametrize("code", ["f4", "f8"])
def test_real_functions(code):
    x = real_numbers(code)
    for name, got in evaluate(code, x).items():
        if name in REAL:
            assert_accurate(got, x, name, ulps=8)


@pytest.mark.parametrize("code", ["f4", "f8"])
def test_real_functions_of_two(code):
    x, y = real_numbers(code), np.roll(real_numbers(code), 101)
    got = evaluate(code, x, y)
    for name in REAL_PAIRS:
        if name == "nextafter":
            np.testing.assert_array_equal(got[name], np.nextafter(x, y))
        elif name in ("fmod", "floor_divide", "remainder"):
            np.testing.assert_array_equal(got[name], getattr(np, name)(x, y))
        elif name in ("logaddexp", "logaddexp2"):  # near zero, operands cancel each other
            exact = getattr(np, name)(x.astype("f8"), y.astype("f8"))
            allowed = 8 * np.finfo(code).eps * np.maximum(abs(exact), np.maximum(abs(x), abs(y)))
            assert (abs(got[name] - exact) <= allowed).all()
        else:
            assert_accurate(got[name], x, name, 8, y)


# Absolute errors that PyCUDA's tests allow in float32; sin and cos: two units in the last place.
ALLOWED = {
    **{"exp": (3, 1e-5), "sqrt": (10, 2e-7), "sin": (10, 1.2e-7), "cos": (10, 1.2e-7)},
    **{"tan": (1.5, 1e-5), "sinh": (3, 2e-6), "cosh": (3, 2e-6), "tanh": (10, 2e-6)},
    **{"log": (10, 5e-7), "log10": (10, 3e-7), "arctan": (10, 2e-7)},
    **{"arcsin": (1, 5e-7), "arccos": (1, 5e-7)},
}


def test_what_pycudas_tests_allow():
    for name, (end, error) in ALLOWED.items():
        start = 1e-3 if name in ("log", "log10", "sqrt") else -end
        x = np.linspace(start, end, 511).astype("f4")
        exact = getattr(np, name)(x.astype("f8"))
        assert abs(evaluate("f4", x)[name] - exact).max() <= error, name


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1e-40, -1e-40]


@pytest.mark.parametrize("code", ["f4", "f8"])
def test_special_values(code):
    x = np.array(SPECIAL, code)
    x, y = (half.ravel() for half in np.meshgrid(x, x))
    got = evaluate(code, x, y)
    for name in REAL + REAL_PAIRS:
        expected = getattr(np, name)(*((x, y) if name in REAL_PAIRS else (x,))).astype(code)
        close = np.isclose(got[name], expected, rtol=1e-5, atol=0, equal_nan=True)
        assert close.all(), (name, x[~close], y[~close], got[name][~close], expected[~close])
        if name in ("maximum", "minimum", "fmax", "fmin"):
            continue  # of zeros of two signs, either is right
        signs = (np.signbit(got[name]) == np.signbit(expected)) | np.isnan(expected)
        assert signs.all(), (name, x[~signs], y[~signs])


def test_numbers_are_rounded_to_even():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997], "f4")
    np.testing.assert_array_equal(evaluate("f4", x)["rint"], [0, 2, 2, 0, -2, 0])


def test_no_overflow_on_the_way():
    x = np.array([3e38, 1e-38, 1e30], "f4")
    got = evaluate("f4", x, np.array([1e38, 1e-38, 1e30], "f4"))
    for name in ("hypot", "logaddexp", "logaddexp2", "arctan2"):
        assert np.isfinite(got[name]).all(), name


def complex_numbers(code):
    parts = np.array([-3.7, -1.2, -0.6, -1e-3, 1e-5, 0.3, 0.9, 1.4, 2.9])
    return (parts[:, None] + 1j * parts).ravel().astype(code)


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_complex_functions(code):
    x = complex_numbers(code)
    for name, got in evaluate(code, x).items():
        assert_accurate(got, x, name, ulps=24)


def test_complex_functions_near_zero():
    """Each part has its own accuracy: with 1 + z, the small one would be lost."""
    x = (complex_numbers("c16") * 1e-9).astype("c16")
    got, z = evaluate("c16", x), x.astype("G")
    for name, series in [("log1p", z - z**2 / 2 + z**3 / 3), ("expm1", z + z**2 / 2 + z**3 / 6)]:
        for part in (np.real, np.imag):
            error = abs(part(got[name]) - part(series))
            assert (error <= 1e-15 * abs(part(series))).all(), name


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_branch_cuts(code):
    """The sign of a zero says on which side of the cut a number lies."""
    minus = -np.array(0.0, code).real
    x = np.array([complex(-2, 0.0), complex(-2, minus), complex(2, 0.0), complex(2, minus)], code)
    x = np.concatenate([x, [complex(0.0, 2), complex(minus, 2), complex(0.0, -2)]]).astype(code)
    got = evaluate(code, x)
    for name in ("log", "log2", "log10", "sqrt", "arcsin", "arccos", "arctan", "arctanh"):
        expected = getattr(np, name)(x)
        np.testing.assert_allclose(got[name], expected, rtol=1e-5, atol=1e-6, err_msg=name)


def test_signs_of_complex_numbers():
    got = evaluate("c16", [3 + 4j, -2, 0])
    np.testing.assert_allclose(got["absolute"], [5, 2, 0])
    np.testing.assert_array_equal(got["conjugate"], [3 - 4j, -2, 0])
