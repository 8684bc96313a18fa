"""CUDA's functions and operators of __half, __nv_bfloat16 and pairs of them, beside NumPy."""

import operator
import re

import kernel_sources
import numpy as np
import pytest
from campaign import rare_but
from everywhere import COMPILERS, build, require

import PyGPU
from PyGPU import errors
from PyGPU._compile.compilers import rtc
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import empty, to_gpu

N = 1500
SPECIAL = (0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan)


class Half:
    name, header, number, pair = "half", "cuda_fp16.h", "half", "half2"
    special = (65504, -65504, 6e-8, -6e-8, 6.1e-5)
    near = 2**-9  # two units

    @staticmethod
    def round(values):
        return np.asarray(values).astype(np.float16).astype(np.float64)

    @staticmethod
    def bits(values):
        return np.asarray(values).astype(np.float16).view(np.uint16)

    @staticmethod
    def values(bits):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return bits.view(np.float16).astype(np.float64)


class Bfloat16:
    name, header, number, pair = "bfloat16", "cuda_bf16.h", "nv_bfloat16", "nv_bfloat162"
    largest = float.fromhex("0x1.fep127")
    special = (largest, -largest, 1e-40, -1e-40, 2.0**-126)
    near = 2**-6

    @staticmethod
    def round(values):
        values = np.asarray(values, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            unit = 2.0 ** (np.maximum(np.frexp(values)[1], -125) - 8)
            rounded = np.rint(values / unit) * unit
        rounded = np.where(abs(rounded) >= 2.0**128, np.copysign(np.inf, rounded), rounded)
        return np.where(np.isfinite(values), rounded, values)

    @classmethod
    def bits(cls, values):
        bits = (cls.round(values).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return np.where(np.isnan(values), np.uint16(0x7FFF), bits)

    @staticmethod
    def values(bits):
        with np.errstate(invalid="ignore"):
            return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


@pytest.fixture(scope="module", params=[Half, Bfloat16], ids=lambda number: number.name)
def of(request):
    """The type of numbers."""
    if PyGPU.target == "hip":
        pytest.skip("which of them HIP's compiler has, and how, is AMD's")
    return request.param


def saturated(values):
    return np.where(values > 0, np.minimum(values, 1), 0)  # 0 of a NaN too


def least(x, y, function):
    """The function's result, which is -0 rather than 0."""
    return np.where((x == y) & np.signbit(x), x, np.where(x == y, y, function(x, y)))


# What is done with halves as float64, before one rounding.
EXACT = {
    "__hadd(a, b)": lambda x, y: x + y,
    "__hsub(a, b)": lambda x, y: x - y,
    "__hmul(a, b)": lambda x, y: x * y,
    "__hadd_rn(a, b)": lambda x, y: x + y,
    "__hsub_rn(a, b)": lambda x, y: x - y,
    "__hmul_rn(a, b)": lambda x, y: x * y,
    "__hadd_sat(a, b)": lambda x, y: saturated(x + y),
    "__hsub_sat(a, b)": lambda x, y: saturated(x - y),
    "__hmul_sat(a, b)": lambda x, y: saturated(x * y),
    "__hmin(a, b)": lambda x, y: least(x, y, np.fmin),
    "__hmax(a, b)": lambda x, y: -least(-x, -y, np.fmin),
    "__hmin_nan(a, b)": lambda x, y: least(x, y, np.minimum),
    "__hmax_nan(a, b)": lambda x, y: -least(-x, -y, np.minimum),
    "__hfma(a, b, c)": lambda x, y, z: x * y + z,
    "__hfma_sat(a, b, c)": lambda x, y, z: saturated(x * y + z),
    "__hfma_relu(a, b, c)": lambda x, y, z: np.maximum(x * y + z, 0),
    "__habs(a)": abs,
    "__hneg(a)": np.negative,
    "hfloor(a)": np.floor,
    "hceil(a)": np.ceil,
    "htrunc(a)": np.trunc,
    "hrint(a)": np.rint,
}
# The same where a GPU may be a unit or two off.
NEAR = {
    "__hdiv(a, b)": lambda x, y: x / y,
    "hsqrt(a)": np.sqrt,
    "hrsqrt(a)": lambda x: 1 / np.sqrt(x),
    "hrcp(a)": lambda x: 1 / x,
    "hexp(a)": np.exp,
    "hexp2(a)": np.exp2,
    "hexp10(a)": lambda x: 10.0**x,
    "hlog(a)": np.log,
    "hlog2(a)": np.log2,
    "hlog10(a)": np.log10,
    "hsin(a)": np.sin,
    "hcos(a)": np.cos,
    "htanh(a)": np.tanh,
    "htanh_approx(a)": np.tanh,
}
TESTS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "gt": operator.gt,
    "le": operator.le,
    "ge": operator.ge,
}
SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}


def of_pairs(call):
    """The call of the same function of __half2."""
    name, arguments = call.split("(")
    stem, *suffix = name.lstrip("_").split("_")
    stem = "__h2div" if stem == "hdiv" else f"__{stem}2" if name[0] == "_" else f"h2{stem[1:]}"
    return "_".join([stem, *suffix]) + "(" + arguments.upper()


def of_numbers(of, x, y, z):
    """{a call that gives a pair: its two numbers}"""
    found = {}
    for call, function in (EXACT | NEAR).items():
        arguments = (x, y, z)[: call.count(",") + 1]
        value = of.round(function(*arguments))
        name, given = call[:-1].split("(")
        low, high = (", ".join(f"{one.upper()}.{of}" for one in given.split(", ")) for of in "xy")
        found[f"__halves2half2({name}({low}), {name}({high}))"] = value
        found[of_pairs(call)] = value
    for sign, function in {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
    }.items():
        found[f"A {sign} B"] = found[f"__halves2half2(A.x {sign} B.x, A.y {sign} B.y)"] = of.round(
            function(x, y)
        )
        found[f"(D = A, D {sign}= B)"] = of.round(function(x, y))
    found["-A"], found["+A"] = -x, x
    found["(D = A, D++)"], found["(D = A, --D)"] = x, of.round(x - 1)
    found["(D = A, ++D.x, D.y--, D)"] = of.round(x + np.tile([1, -1], len(x) // 2))
    found["__lowhigh2highlow(A)"] = x.reshape(-1, 2)[:, ::-1].ravel()
    found["__lows2half2(A, B)"] = np.stack([x[::2], y[::2]], 1).ravel()
    found["__highs2half2(A, B)"] = np.stack([x[1::2], y[1::2]], 1).ravel()
    found["__low2half2(A)"], found["__high2half2(A)"] = x[::2].repeat(2), x[1::2].repeat(2)
    found["__hisnan2(A)"] = np.isnan(x)
    for name, function in TESTS.items():
        is_none = np.isnan(x) | np.isnan(y)
        found[f"__h{name}2(A, B)"] = function(x, y) & ~is_none
        found[f"__h{name}u2(A, B)"] = function(x, y) | is_none
    (a, ai), (b, bi), (c, ci) = (one.reshape(-1, 2).T for one in (x, y, z))
    real, imaginary = of.round(a * b + c), of.round(a * bi + ci)
    found["__hcmadd(A, B, C)"] = of.round([real - ai * bi, imaginary + ai * b]).T.ravel()
    return {call.replace("half", of.name): value for call, value in found.items()}


def of_words(of, x, y):
    """{a call that gives an integer: that}"""
    found = {}
    for name, function in TESTS.items():
        is_none = np.isnan(x) | np.isnan(y)
        for u, result in {"": function(x, y) & ~is_none, "u": function(x, y) | is_none}.items():
            low, high = result[::2], result[1::2]
            found[f"__h{name}{u}(A.x, B.x)"] = low
            found[f"__hb{name}{u}2(A, B)"] = low & high
            found[f"__h{name}{u}2_mask(A, B)"] = low * 0xFFFF + high * 0xFFFF0000
        ordered = found[f"__hb{name}2(A, B)"]
        found[f"A {SIGNS[name]} B"] = found["__hbneu2(A, B)"] if name == "ne" else ordered
        found[f"A.x {SIGNS[name]} B.x"] = function(x, y)[::2]
    first = x[::2]
    found["__hisnan(A.x)"], found["A.x != A.x"] = np.isnan(first), np.isnan(first)
    found["__hisinf(A.x) + 1"] = np.isinf(first) * np.sign(np.nan_to_num(first)) + 1
    whole = np.trunc(np.nan_to_num(first))
    found["__half2char_rz(A.x) + 128"] = np.clip(whole, -128, 127) + 128
    found["__half2uchar_rz(A.x)"] = np.clip(whole, 0, 255)
    found["__half_as_ushort(A.x)"] = of.bits(first)
    return {
        call.replace("half", of.name): np.asarray(value).astype(np.int64)
        for call, value in found.items()
    }


def text(of, halves, words):
    rows = [f"out[{row} * n + i] = {call};" for row, call in enumerate(halves)]
    rows += [f"words[{row} * n + i] = {call};" for row, call in enumerate(words)]
    return (
        f"#include <{of.header}>\ntypedef {of.pair} pair;\n"
        "__global__ void all(pair *out, unsigned *words, const pair *a, const pair *b,\n"
        "                    const pair *c, int n)\n{\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        "  const pair A = a[i], B = b[i], C = c[i];\n  pair D;\n  " + "\n  ".join(rows) + "\n}\n"
    )


def made(of, expected, compile):
    """Compile all calls: what `compile` gives of the text, and the calls.

    CUDA's headers before version 13 lack some of the functions, which are left out.
    """
    try:
        return compile(text(of, *expected)), expected
    except errors.CompileError as error:
        lacking = {*re.findall(r'identifier "(\w+)" is undefined', error.stderr)}
        if not lacking or rtc.library("nvrtc").version() >= (13, 0):
            raise
    present = [
        {call: value for call, value in calls.items() if lacking.isdisjoint(words_of(call))}
        for calls in expected
    ]
    assert sum(map(len, present)) > 0.7 * sum(map(len, expected)), lacking
    return compile(text(of, *present)), present


def words_of(call):
    return re.findall(r"\w+", call)


@pytest.fixture(scope="module")
def numbers(of):
    rng = np.random.default_rng(3)
    found = of.round(rng.normal(size=(3, N)) * 2.0 ** rng.integers(-10, 5, (3, N)))
    special = SPECIAL + of.special
    pairs = [*np.meshgrid(special, special), np.ones((len(special), len(special)))]
    found[:, : len(special) ** 2] = of.round(pairs).reshape(3, -1)
    return found


@pytest.fixture(scope="module")
def expected(of, numbers):
    with np.errstate(all="ignore"):
        return of_numbers(of, *numbers), of_words(of, *numbers[:2])


@pytest.fixture(scope="module")
def found(of, numbers, expected):
    module, (halves, words) = made(of, expected, SourceModule)
    out, flags = empty((len(halves), N), np.uint16), empty((len(words), N // 2), np.uint32)
    kernel = module.get_function("all")
    given = [to_gpu(of.bits(one)) for one in numbers]
    kernel(out, flags, *given, np.int32(N // 2), block=(64, 1, 1), grid=(-(-N // 128), 1))
    values = of.values(out.get())
    return dict(zip(halves, values)), dict(zip(words, flags.get()))


def test_numbers_and_pairs(of, found, expected):
    near = tuple(call.split("(")[0].strip("_")[1:] for call in NEAR)
    for call, result in found[0].items():
        value = expected[0][call]
        if any(name in call for name in near) or "/" in call:
            np.testing.assert_allclose(result, value, rtol=of.near, atol=2**-13, err_msg=call)
        else:
            np.testing.assert_array_equal(result, value, call)


def test_zeros_have_their_signs(found, expected):
    """Of zeros, the positive one is the larger."""
    for call, result in found[0].items():
        if "min" in call or "max" in call:
            value = expected[0][call]
            zero = value == 0
            np.testing.assert_array_equal(np.signbit(result)[zero], np.signbit(value)[zero])


def test_tests_and_integers(found, expected):
    for call, result in found[1].items():
        np.testing.assert_array_equal(result, expected[1][call], call)


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[:2], ids=lambda value: value)
def test_compiles(prefix, backend, arch, of, expected):
    require(prefix)
    if of is Bfloat16:
        arch = "sm_90"  # which has them all
    entry, _ = made(of, expected, lambda text: build(kernel_sources.Text(text), backend, arch))
    assert entry.log == "", "kernels compile without warnings"


CASTS = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
}


@pytest.mark.parametrize(
    "c_type", rare_but(["signed char", "unsigned short", "int", "unsigned long long"], CASTS)
)
def test_casts_to_integers(of, c_type):
    """They are saturated; what is no number is 0, or the highest bit alone of 64."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = of.values(bits)
    dtype = np.dtype(CASTS[c_type])
    info = np.iinfo(dtype)
    whole = np.trunc(np.nan_to_num(x, posinf=1e30, neginf=-1e30))
    expected = np.array([min(max(int(one), info.min), info.max) for one in whole.tolist()], dtype)
    if dtype.itemsize == 8:
        expected.view(np.uint64)[np.isnan(x)] = 1 << 63
    text = f"""
    #include <{of.header}>
    __global__ void f({c_type} *out, const {of.number} *x)
    {{
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      const {c_type} one = x[i];
      out[2 * i] = one, out[2 * i + 1] = ({c_type})x[i];
    }}"""
    out = empty((1 << 16, 2), dtype)
    given = to_gpu(bits.view(np.float16) if of is Half else bits)
    SourceModule(text).get_function("f")(out, given, block=(256, 1, 1), grid=(256, 1))
    np.testing.assert_array_equal(out.get(), np.stack([expected] * 2, 1))
