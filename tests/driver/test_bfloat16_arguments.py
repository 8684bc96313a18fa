"""Numbers and elements for kernels with parameters of type __nv_bfloat16."""

import math
import warnings

import needs
import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule
from PyGPU.errors import ArgumentError, ArgumentWarning

if PyGPU.target == "hip":
    pytest.skip("HIP has no cuda_bf16.h", allow_module_level=True)

TEXT = """
#include <cuda_bf16.h>
__global__ void widen(float *out, __nv_bfloat16 x) { *out = __bfloat162float(x); }
__global__ void widen_alias(float *out, const nv_bfloat16 x) { *out = __bfloat162float(x); }
__global__ void first(float *out, const __nv_bfloat16 *x) { *out = __bfloat162float(*x); }
"""
# Every positive one, and what follows the largest.
VALUES = (np.arange(0x7F81, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
VALUES[-1] = 2.0**128


def passed(x, kernel="widen"):
    out = gpuarray.zeros(1, np.float32)
    SourceModule(TEXT).get_function(kernel)(out, x, block=(1, 1, 1))
    return float(out.get()[0])


def rounded(x):
    """The nearest bfloat16, of two the even one."""
    above = min(int(np.searchsorted(VALUES, abs(x))), 0x7F80)
    if VALUES[above] != abs(x):
        low, high = abs(x) - VALUES[above - 1], VALUES[above] - abs(x)
        above -= low < high or (low == high and above % 2 == 1)
    return math.copysign(VALUES[above] if above < 0x7F80 else math.inf, x)


@pytest.mark.parametrize("kernel", ["widen", "widen_alias"])
def test_python_numbers_are_rounded_once(kernel):
    half_way = 1 + 2.0**-8
    cases = [0.0, -0.0, 1, -3, True, 0.1, half_way, half_way + 2.0**-40, half_way - 2.0**-40]
    cases += [3 * half_way, 2.0**-133, 2.0**-134, 2.0**-134 * (1 + 2.0**-30), 1e-45, 5e-324]
    cases += [VALUES[-2], VALUES[-2] * (1 + 2.0**-10), 2.0**128 - 2.0**119, 1e39, 1e300]
    cases += list(np.random.default_rng(5).standard_normal(20) * 10.0 ** np.arange(-10, 10))
    for case in cases:
        number = case if isinstance(case, int) else float(case)
        for x in (number, -number):
            got, expected = passed(x, kernel), rounded(x)
            assert got == expected and math.copysign(1, got) == math.copysign(1, expected), x
    assert passed(math.inf) == math.inf and math.isnan(passed(math.nan))


def test_scalars_of_ml_dtypes_and_arrays_of_one():
    bfloat16 = needs.module("ml_dtypes").bfloat16
    for x in (bfloat16(1.5), np.array(1.5, bfloat16), needs.module("ml_dtypes").float8_e5m2(1.5)):
        assert passed(x) == 1.5


def test_bits_are_an_unsigned_integer():
    assert passed(np.uint16(0x3FC0)) == passed(np.array(0x3FC0, np.uint16)) == 1.5
    out, widen = gpuarray.zeros(1, np.float32), SourceModule(TEXT).get_function("widen")
    widen.prepare("PH").prepared_call((1, 1), (1, 1, 1), out.gpudata, 0x3FC0)
    assert out.get() == [1.5]


def test_a_signed_integer_is_converted_with_a_warning():
    with pytest.warns(ArgumentWarning, match="'x' is a bfloat16: got .*int16"):
        assert passed(np.int16(2)) == 2


@pytest.mark.parametrize("x", [np.float16(1.5), np.array(1.5, np.float16), np.float32(1), 1j])
def test_other_floats_are_refused(x):
    with pytest.raises(ArgumentError, match=r"'x'.*expected a bfloat16 of 2 bytes"):
        passed(x)


def test_what_prepare_promises():
    widen = SourceModule(TEXT).get_function("widen")
    for code in "efih":
        with pytest.raises(
            ArgumentError, match=r"expects a bfloat16 of 2 bytes, but prepare\(\) declares"
        ):
            widen.prepare("P" + code)


def test_elements():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert passed(gpuarray.to_gpu(np.uint16([0x3FC0])), "first") == 1.5
    for dtype in ("f2", "f4", "i2"):
        with pytest.warns(ArgumentWarning, match="each a bfloat16: got an array of dtype"):
            passed(gpuarray.zeros(2, dtype), "first")


def test_arrays_without_axes_are_scalars():
    """By their values, in whichever byte order; an integer for a float with the warning."""
    out = gpuarray.zeros(1, np.float32)
    store = SourceModule("__global__ void f(float *out, float x) { *out = x; }").get_function("f")
    for dtype in ("f4", ">f4"):
        store(out, np.array(2, dtype), block=(1, 1, 1))
        assert out.get() == [2]
    with pytest.warns(ArgumentWarning, match="'x' is a floating-point number: got .*int32"):
        store(out, np.array(3, np.int32), block=(1, 1, 1))
    assert out.get() == [3]
    with pytest.raises(ArgumentError, match=r"'x'.*got numpy\.float64; it has another width"):
        store(out, np.array(4.0), block=(1, 1, 1))
