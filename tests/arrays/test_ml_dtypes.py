"""Floating-point types that NumPy has from the package ml_dtypes: arrays and DLPack."""

import sys

import dlpack_tools as dlpack
import needs
import numpy as np
import pytest
from dlpack_tools import Producer

from PyGPU.compiler import SourceModule
from PyGPU.driver import ArgumentError
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.gpuarray import from_dlpack, to_gpu
from PyGPU.tools import get_or_register_dtype

ML_DTYPES = {
    **{"bfloat16": 4, "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9},
    **{"float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13},
    "float8_e8m0fnu": 14,
}


@pytest.mark.parametrize("name", ML_DTYPES)
def test_types_of_ml_dtypes(name):
    dtype = np.dtype(getattr(needs.module("ml_dtypes"), name))
    x = np.array([[1, 2, 4], [0.5, 8, 16]]).astype(dtype)
    ours = to_gpu(x)
    tensor = dlpack.look(ours.__dlpack__()).tensor
    assert (tensor.code, tensor.bits, tensor.lanes) == (ML_DTYPES[name], 8 * dtype.itemsize, 1)
    array = from_dlpack(Producer(ours, code=tensor.code))
    assert array.dtype == dtype
    np.testing.assert_array_equal(array[:, ::2].get(), x[:, ::2])
    with pytest.raises(ValueError, match=f"unable to map dtype '{name}'"):
        array + array


def test_kernels_take_types_of_ml_dtypes():
    """A bfloat16 is the upper half of a float."""
    dtype = np.dtype(needs.module("ml_dtypes").bfloat16)
    twice = SourceModule(
        "typedef struct { unsigned short bits; } bfloat16;"
        "__global__ void twice(bfloat16 *x) {"
        "  x += threadIdx.x;"
        "  x->bits = __float_as_uint(2 * __uint_as_float((unsigned)x->bits << 16)) >> 16;"
        "}"
    ).get_function("twice")
    array = from_dlpack(to_gpu(np.arange(8).astype(dtype)))
    twice(array, block=(8, 1, 1))
    np.testing.assert_array_equal(array.get(), (2 * np.arange(8)).astype(dtype))


def test_types_of_ml_dtypes_without_it(monkeypatch):
    producer = Producer(to_gpu(np.zeros(3, "u2")), code=4, bits=16)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(BufferError, match=r"bfloat16.*package ml_dtypes"):
        from_dlpack(producer)


SCALED = """
typedef struct { unsigned short bits; } bfloat16;
__device__ float value(bfloat16 x) { return __uint_as_float((unsigned)x.bits << 16); }
__global__ void by_bits(float *x, bfloat16 factor) { x[threadIdx.x] *= value(factor); }
__global__ void by_value(float *x, float factor) { x[threadIdx.x] *= factor; }
__global__ void wide(float *x, double factor) { x[threadIdx.x] *= factor; }
__global__ void by_integer(float *x, int factor) { x[threadIdx.x] *= factor; }
"""


def test_scalars_are_arguments():
    """As the bits that they are, or where the kernel takes a number, by their values."""
    bfloat16 = needs.module("ml_dtypes").bfloat16
    module, x = SourceModule(SCALED), to_gpu(np.arange(8, dtype=np.float32))
    for factor in (bfloat16(2), np.array(1.5, bfloat16)):
        module.get_function("by_bits")(x, factor, block=(8, 1, 1))
    module.get_function("by_value")(x, bfloat16(0.5), block=(8, 1, 1))
    np.testing.assert_array_equal(x.get(), 1.5 * np.arange(8))
    with pytest.raises(
        ArgumentError, match=r"'factor'.*an integer of 4 bytes, got ml_dtypes\.bfloat16"
    ):
        module.get_function("by_integer")(x, bfloat16(2), block=(8, 1, 1))
    wide = needs.module("ml_dtypes").float8_e5m2(2)
    with pytest.raises(ArgumentError, match=r"'factor'.*it has 1 bytes"):
        module.get_function("by_bits")(x, wide, block=(8, 1, 1))


def test_kernels_by_expression_take_registered_names():
    dtype = np.dtype(needs.module("ml_dtypes").bfloat16)
    get_or_register_dtype("bits_of_bfloat16", dtype)
    double = ElementwiseKernel(
        "bits_of_bfloat16 *x, bits_of_bfloat16 y",
        "x[i].bits = __float_as_uint(wide(x[i]) * wide(y)) >> 16",
        preamble="typedef struct { unsigned short bits; } bits_of_bfloat16;"
        "__device__ float wide(bits_of_bfloat16 x)"
        "{ return __uint_as_float((unsigned)x.bits << 16); }",
    )
    x = to_gpu(np.arange(8).astype(dtype))
    double(x, dtype.type(2))
    np.testing.assert_array_equal(x.get().astype(float), 2 * np.arange(8))


@pytest.mark.parametrize("value", [np.zeros(1, "M8[s]"), np.array([None]), np.zeros(1, "S4")])
def test_arrays_of_no_numbers_are_no_numbers(value):
    kernel = SourceModule(SCALED).get_function("by_value" if value.itemsize == 4 else "wide")
    with pytest.raises(ArgumentError, match=r"'factor'.*its dtype is"):
        kernel(to_gpu(np.zeros(8, np.float32)), value, block=(8, 1, 1))


@pytest.mark.parametrize("name", ["bfloat16", "M8[s]"])
def test_arrays_on_the_host_are_no_arguments(name):
    """NumPy exports no buffer for these dtypes."""
    dtype = needs.module("ml_dtypes").bfloat16 if name == "bfloat16" else name
    kernel = SourceModule(SCALED).get_function("by_value")
    with pytest.raises(ArgumentError, match=r"'x'.*pass In\(\)"):
        kernel(np.zeros(8, dtype), np.float32(2), block=(8, 1, 1))
