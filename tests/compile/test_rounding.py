"""CUDA's arithmetic with a rounding, each function beside exact rational numbers."""

import math
from fractions import Fraction

import kernel_sources
import numpy as np
import pytest
from everywhere import COMPILERS, build, require

import PyGPU
from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import empty, to_gpu

ROUNDINGS = ["rn", "rz", "ru", "rd"]
N = 160


def square_root(x):
    """A number on the same side of all numbers of the dtypes as the root of x."""
    over, below = x.numerator * x.denominator << 400, x.denominator << 200
    root = math.isqrt(over)
    return Fraction(2 * root + (root * root < over), 2 * below)


def arithmetic(name):
    """{name of a function: (its operands, what it gives exactly)}, of floats (f) or doubles (d)"""
    return {
        f"__{name}add": ("xy", lambda x, y: x + y),
        f"__{name}sub": ("xy", lambda x, y: x - y),
        f"__{name}mul": ("xy", lambda x, y: x * y),
        f"__{name}div": ("xy", lambda x, y: x / y if y else None),
        f"__{name}rcp": ("x", lambda x: 1 / x if x else None),
        f"__{name}sqrt": ("x", lambda x: square_root(x) if x >= 0 else None),
        "__fmaf" if name == "f" else "__fma": ("xyz", lambda x, y, z: x * y + z),
    }


C_TYPES = {
    "half": np.float16,
    "short": np.int16,
    "unsigned short": np.uint16,
    "float": np.float32,
    "double": np.float64,
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
}
INTEGERS = {
    "short": "short",
    "unsigned short": "ushort",
    "int": "int",
    "unsigned": "uint",
    "long long": "ll",
    "unsigned long long": "ull",
}


def conversion(name):
    return {name: ("x", lambda x: x)}


# {the types of operands and result: their functions}
FUNCTIONS = {
    ("float", "float"): arithmetic("f"),
    ("double", "double"): arithmetic("d"),
    ("double", "float"): conversion("__double2float"),
    ("float", "half"): conversion("__float2half"),
}
for one, name in INTEGERS.items():
    for real in ("half", "float", "double"):
        if real == "half" or "short" not in one:
            FUNCTIONS[real, one] = conversion(f"__{real}2{name}")
            if real != "double" or "long" in one:  # a double has every int
                FUNCTIONS[one, real] = conversion(f"__{name}2{real}")


def rounded(x, dtype, rounding):
    """What the exact number x becomes."""
    end = Fraction(2) ** np.finfo(dtype).maxexp  # for infinity: the number that would follow
    x = min(max(x, 1 - end), end - 1)

    def exact(number):
        return Fraction(float(number)) if np.isfinite(number) else end if number > 0 else -end

    most, infinity = np.finfo(dtype).max, dtype(math.inf)
    with np.errstate(over="ignore"):
        near = dtype(float(x)) if abs(x) < exact(most) else most if x > 0 else -most
        beside = [np.nextafter(near, -infinity), near, np.nextafter(near, infinity)]
    low = max(one for one in beside if exact(one) <= x)
    high = min(one for one in beside if exact(one) >= x)
    if rounding == "rn":
        middle = (exact(low) + exact(high)) / 2
        is_even = not int(low.view(f"u{low.itemsize}")) & 1
        return low if x < middle or (x == middle and is_even) else high
    return {"ru": high, "rd": low, "rz": low if x > 0 else high}[rounding]


def numbers(dtype):
    """Three rows of numbers of a dtype: usual ones, close ones, and of all sizes."""
    rng = np.random.default_rng(11)
    if np.dtype(dtype).kind != "f":
        found = rng.integers(0, 256, (3, N, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]
        found[:, :40] >>= rng.integers(0, 8 * found.itemsize, 40).astype(dtype)
        return found
    info = np.finfo(dtype)
    found = rng.normal(size=(3, N))
    found[1, :40] = found[0, :40] * (1 + rng.normal(size=40) * info.eps)
    sizes = rng.integers(info.minexp - info.nmant, info.maxexp, (3, 60)).astype(float)
    found[:, 40:100] *= 2.0 ** np.clip(sizes, -1000, 1000)
    with np.errstate(over="ignore"):
        found = found.astype(dtype)
    found[~np.isfinite(found)] = info.max
    found[0, 100:106] = [0, info.max, info.tiny, info.smallest_subnormal, 1, -info.max]
    found[1, 100:106] = [1, info.max, info.tiny, -info.smallest_subnormal, 3, info.max]
    return found


def text():
    """A kernel for each pair of types; each call has its row of the results."""
    kernels = ["#include <cuda_fp16.h>\n"]
    for (operand, result), functions in FUNCTIONS.items():
        calls = [
            f"{name}_{rounding}({', '.join(f'{one}[i]' for one in operands)})"
            for name, (operands, _) in functions.items()
            for rounding in ROUNDINGS
        ]
        rows = "".join(f"  out[{row} * n + i] = {call};\n" for row, call in enumerate(calls))
        kernels.append(
            f"__global__ void {kernel_name(operand, result)}({result} *out, const {operand} *x,\n"
            f"    const {operand} *y, const {operand} *z, int n)\n{{\n"
            "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
            f"{rows}}}\n"
        )
    return "".join(kernels)


def kernel_name(*types):
    return "_to_".join(one.replace(" ", "_") for one in types)


@pytest.fixture(scope="module")
def module():
    if PyGPU.target == "hip":
        pytest.skip("HIP's own functions round to nearest, or are not there")
    return SourceModule(text())


@pytest.mark.parametrize("types", FUNCTIONS, ids=lambda types: kernel_name(*types))
def test_rounds_as_the_name_says(module, types):
    operand, result = types
    given, dtype = numbers(C_TYPES[operand]), C_TYPES[result]
    functions = FUNCTIONS[types]
    out = empty((len(functions), len(ROUNDINGS), N), dtype)
    kernel = module.get_function(kernel_name(operand, result))
    kernel(out, *map(to_gpu, given), np.int32(N), block=(32, 1, 1), grid=(-(-N // 32), 1))
    tried = 0
    for (name, (operands, function)), rows in zip(functions.items(), out.get()):
        for i in range(N):
            exactly = function(*(Fraction(given["xyz".index(one), i].item()) for one in operands))
            for rounding, row in zip(ROUNDINGS, rows) if exactly is not None else ():
                expected = to_type(exactly, dtype, rounding)
                if expected is None:
                    continue
                tried += 1
                assert row[i] == expected, (name, rounding, [one[i] for one in given])
    assert tried > 100


def to_type(exactly, dtype, rounding):
    """The exact number in a dtype; None of an integer that does not fit."""
    if np.dtype(dtype).kind == "f":
        return rounded(exactly, dtype, rounding)
    whole = {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}[rounding](exactly)
    info = np.iinfo(dtype)
    return whole if info.min <= whole <= info.max else None


def test_a_rounding_is_of_its_call_alone(module):
    """The processor's direction is as before when a call is done."""
    kernel = SourceModule(
        "__global__ void f(double *a) { a[0] = __dadd_ru(1.0, a[3]); a[1] = 1.0 + a[3];\n"
        "  a[2] = __drcp_rd(3.0) < __drcp_ru(3.0); }"
    ).get_function("f")
    a = to_gpu(np.array([0, 0, 0, 1e-30]))
    kernel(a, block=(1, 1, 1))
    assert a.get().tolist() == [1 + 2**-52, 1, 1, 1e-30]


@pytest.mark.no_device
@pytest.mark.parametrize(("prefix", "backend", "arch"), COMPILERS[:2], ids=lambda value: value)
def test_compiles(prefix, backend, arch):
    require(prefix)
    entry = build(kernel_sources.Text(text()), backend, arch)
    assert entry.log == "", "kernels compile without warnings"


BESIDE = """
__global__ void branch(const float *x, const float *y, const float *z, float *out)
{
  const int i = threadIdx.x;
  const float product = x[i] * y[i];
  if (z[i] <= 0) { out[i] = z[i]; return; }
  out[i] = __fadd_ru(product, z[i]);
}
__global__ void line(const float *x, const float *y, const float *z, float *out)
{
  const int i = threadIdx.x;
  const float sum = __fadd_ru(x[i], z[i]);
  out[i] = sum * y[i];
}
__global__ void two_sum(const float *x, const float *y, const float *z, float *out)
{
  const int i = threadIdx.x;
  const float s = __fadd_rn(x[i], y[i]), t = __fsub_rn(s, x[i]);
  out[i] = __fadd_rn(__fsub_rn(x[i], __fsub_rn(s, t)), __fsub_rn(y[i], t));
}
"""


@pytest.mark.parametrize("options", [[], ["-O3"], ["-use_fast_math"]], ids=str)
def test_arithmetic_beside_is_rounded_to_nearest(options):
    if PyGPU.target == "hip":
        pytest.skip("HIP's own functions round to nearest, or are not there")
    x, y, z = (3 * np.random.default_rng(5).standard_normal((3, 1000))).astype(np.float32)
    module, out = SourceModule(BESIDE, options=options), empty(1000, np.float32)

    def run(name):
        module.get_function(name)(*map(to_gpu, (x, y, z)), out, block=(1000, 1, 1))
        return out.get()

    def up(numbers):  # of a sum that float64 has
        near = numbers.astype(np.float32)
        return np.where(near < numbers, np.nextafter(near, np.float32(np.inf)), near)

    product = (x * y).astype(float)
    np.testing.assert_array_equal(run("branch"), np.where(z <= 0, z, up(product + z)))
    np.testing.assert_array_equal(run("line"), up(x.astype(float) + z) * y)
    error = x.astype(float) + y - (x + y)
    np.testing.assert_array_equal(run("two_sum"), error.astype(np.float32))


def test_what_is_no_number_as_an_integer():
    """0, but the highest bit alone of 64 bits, and where the number was a double: as PTX says."""
    if PyGPU.target == "hip":
        pytest.skip("AMD's conversions are those of the processor")
    kernel = SourceModule("""
        #include <cuda_fp16.h>
        __global__ void f(unsigned long long *out, float f, double d)
        {
          out[0] = __float2int_rn(f), out[1] = __float2uint_ru(f), out[2] = __float2ll_rd(f);
          out[3] = __float2ull_rz(f), out[4] = unsigned(__double2int_rn(d));
          out[5] = __double2uint_rz(d), out[6] = __double2ll_rz(d), out[7] = __double2ull_rn(d);
          out[8] = __half2int_rn(__float2half(f)), out[9] = __half2ll_rn(__float2half(f));
        }""").get_function("f")
    out = empty(10, np.uint64)
    kernel(out, np.float32(np.nan), np.float64(np.nan), block=(1, 1, 1))
    most, short = 1 << 63, 1 << 31
    assert out.get().tolist() == [0, 0, most, most, short, short, most, most, 0, most]
