"""Floating-point types that NumPy has from the package ml_dtypes: arrays and DLPack."""

import sys

import dlpack_tools as dlpack
import needs
import numpy as np
import pytest
from dlpack_tools import Producer

from PyGPU.compiler import SourceModule
from PyGPU.gpuarray import from_dlpack, to_gpu

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
