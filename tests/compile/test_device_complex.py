"""Values of pycuda::complex, compiled by the host's compiler, beside Python's cmath and NumPy."""

import cmath
import ctypes
import itertools
import math
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import needs
import numpy as np
import pytest
from campaign import rare_but

pytestmark = pytest.mark.no_device

HEADERS = Path(__file__).resolve().parents[2] / "include"
FUNCTIONS = [
    "exp",
    "log",
    "log10",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
]
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e-310]


def source():
    lines = [
        "#include <PyGPU/device/pycuda-complex.hpp>",
        "typedef pycuda::complex<double> z;",
        "typedef pycuda::complex<float> c;",
    ]
    for kind in "zc":
        for name in [*FUNCTIONS, "conj", "proj"]:
            lines.append(
                f'extern "C" void {kind}_{name}({kind}* a, {kind}* r) {{ *r = {name}(*a); }}'
            )
        for name, symbol in [*OPERATORS.items(), ("pow", ",")]:
            value = "pow(*a, *b)" if name == "pow" else f"*a {symbol} *b"
            lines.append(
                f'extern "C" void {kind}_{name}({kind}* a, {kind}* b, {kind}* r)'
                f" {{ *r = {value}; }}"
            )
        lines.append(
            f'extern "C" void {kind}_power({kind}* a, double b, {kind}* r) {{ *r = pow(*a, b); }}'
        )
    return "\n".join(lines)


@pytest.fixture(scope="module", params=rare_but(["c++11"], ["c++11", "c++20"]))
def library(request, tmp_path_factory):
    compiler = needs.program("g++")
    folder = tmp_path_factory.mktemp("complex")
    (folder / "complex.cpp").write_text(source())
    options = [f"-std={request.param}", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command = [compiler, *options, f"-I{HEADERS}", "complex.cpp", "-o", "complex.so"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return ctypes.CDLL(str(folder / "complex.so"))


def call(library, name, *numbers):
    scalar = ctypes.c_float if name[0] == "c" else ctypes.c_double
    pair = scalar * 2
    result = pair()
    packed = [pair(x.real, x.imag) if isinstance(x, complex) else x for x in numbers]
    getattr(library, name)(*packed, result)
    return complex(result[0], result[1])


def numpy_name(name):
    return {"a": "arc"}.get(name[0], name[0]) + name[1:] if name[0] == "a" else name


def error(value, expected, epsilon):
    return abs(value - expected) / max(abs(expected), 1e-300) / epsilon


def samples(count):
    draw = random.Random(20)
    for _ in range(count):
        yield complex(
            *(
                draw.uniform(-4, 4)
                if draw.random() < 0.5
                else draw.choice([-1, 1]) * 10 ** draw.uniform(-8, 8)
                for _ in range(2)
            )
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_against_cmath(library, name):
    for z in samples(3000):
        try:
            expected = getattr(cmath, name)(z)
        except OverflowError:
            continue
        assert error(call(library, f"z_{name}", z), expected, 2.0**-52) < 6, z
        narrow = complex(np.complex64(z))
        expected = getattr(cmath, name)(narrow)
        if 1e-36 < abs(expected) < 1e38:
            assert error(call(library, f"c_{name}", narrow), expected, 2.0**-23) < 6, narrow


def same(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if a == b:
        return math.copysign(1, a) == math.copysign(1, b)
    return abs(a - b) <= 1e-13 * abs(b) + 5e-324


@pytest.mark.parametrize("name", FUNCTIONS)
def test_branch_cuts_and_extremes(library, name):
    for x, y in itertools.product(SPECIAL, SPECIAL):
        z = complex(x, y)
        try:
            expected = getattr(cmath, name)(z)
        except (OverflowError, ValueError):  # where cmath raises, NumPy has C's answer
            with np.errstate(all="ignore"):
                expected = complex(getattr(np, numpy_name(name))(np.complex128(z)))
        value = call(library, f"z_{name}", z)
        # Beside a NaN the sign of a zero is free.
        loose = cmath.isnan(expected)
        for got, wanted in [(value.real, expected.real), (value.imag, expected.imag)]:
            assert same(got, wanted) or (loose and got == wanted == 0), (z, value, expected)


@pytest.mark.parametrize("kind, epsilon", [("z", 2.0**-52), ("c", 2.0**-23)])
def test_operators(library, kind, epsilon):
    python = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
    }
    numbers = [complex(np.complex64(z)) for z in samples(2000)]
    for a, b in zip(numbers, numbers[1:]):
        for name, operation in python.items():
            expected = operation(a, b)
            assert error(call(library, f"{kind}_{name}", a, b), expected, epsilon) < 8, (name, a, b)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        (1e308 + 1e308j, 1e308 + 1e308j, 1 + 0j),
        (1e-310 + 1e-310j, 1e-310 + 1e-310j, 1 + 0j),
        (1e308 + 0j, 1e-10 + 1e-10j, complex(math.inf, -math.inf)),
        (1e-300 + 1e-300j, 1e-305 + 1e-305j, 1e5 + 0j),
        (1 + 1j, 1e308 + 1e308j, 1e-308 + 0j),
        (1e300 + 1e-300j, 1e-8 + 1e300j, 1e-308 - 1j),
        (3 + 4j, complex(math.inf, 1), 0j),
        (complex(math.inf, 1), 2 + 0j, complex(math.inf, math.nan)),
        (0j, 5e-324 + 0j, 0j),
        (6 + 8j, 2 + 0j, 3 + 4j),
    ],
)
def test_division_by_tiny_and_huge(library, a, b, expected):
    value = call(library, "z_div", a, b)
    for got, wanted in [(value.real, expected.real), (value.imag, expected.imag)]:
        if not math.isnan(wanted):
            assert got == wanted or abs(got - wanted) <= 1e-15 * max(1e-308, abs(expected))


def test_division_over_the_whole_range_against_fractions(library):
    draw = random.Random(7)

    def number(low, high):
        parts = [draw.choice([-1, 1]) * draw.uniform(1, 10) * 10.0 ** draw.randint(low, high)]
        return complex(parts[0], parts[0] * draw.uniform(-9, 9))

    for _ in range(4000):
        a, b = number(-300, 305), number(-300, 305)
        x, y, u, v = (Fraction(part) for part in (a.real, a.imag, b.real, b.imag))
        square = u * u + v * v
        re, im = (x * u + y * v) / square, (y * u - x * v) / square
        if max(abs(re), abs(im)) > Fraction(10) ** 307:
            continue
        value, expected = call(library, "z_div", a, b), complex(float(re), float(im))
        assert abs(value - expected) <= 2.0**-50 * abs(expected) + 1e-323, (a, b)


def test_division_by_zero(library):
    value = call(library, "z_div", 1 - 1j, 0j)
    assert (value.real, value.imag) == (math.inf, -math.inf)
    value = call(library, "z_div", 0j, 0j)
    assert math.isnan(value.real)
    assert math.isnan(value.imag)
    assert cmath.isnan(call(library, "z_div", complex(math.nan, 0), 1 + 1j))


def test_powers(library):
    power = library.z_power
    power.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]
    z = 0.7 - 1.3j
    for exponent in [0.0, 1.0, 2.0, -3.0, 17.0, 0.5, -2.25, 70.0]:
        given, result = (ctypes.c_double * 2)(z.real, z.imag), (ctypes.c_double * 2)()
        power(given, exponent, result)
        assert error(complex(*result), z**exponent, 2.0**-52) < 200
    assert call(library, "z_pow", 0j, 2 + 1j) == 0
    assert call(library, "z_pow", 0j, 0j) == 1
    assert error(call(library, "z_pow", z, 1.5 + 0.5j), z ** (1.5 + 0.5j), 2.0**-52) < 20


def test_conjugate_and_projection(library):
    assert call(library, "z_conj", 1 + 2j) == 1 - 2j
    value = call(library, "z_proj", complex(1, -math.inf))
    assert value.real == math.inf
    assert math.copysign(1, value.imag) == -1
