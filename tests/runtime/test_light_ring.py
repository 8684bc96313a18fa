"""The build with PYGPU_PARTS=runtime: the low level alone, and messages about the missing parts."""

import importlib
import os

import numpy as np
import pytest

import PyGPU

pytestmark = pytest.mark.skipif(
    os.environ.get("PYGPU_PARTS") != "runtime",
    reason="needs a build with PYGPU_PARTS=runtime, and the variable set",
)
REMEDY = "built with PYGPU_PARTS=runtime.*install it again without PYGPU_PARTS"


def test_the_low_level_works():
    values = np.arange(6.0).reshape(2, 3)
    array = PyGPU.DeviceArray_float64(values.copy())
    assert not array.allocate() and not array.to_device()
    assert not PyGPU.cudaMemset(array.device_data(), 0, 8)
    assert not array.to_host()
    values[0, 0] = 0
    assert np.array_equal(array.host_data().get().reshape(2, 3), values)


@pytest.mark.parametrize("name", ["gpuarray", "GPUArray", "zeros", "_set_hook"])
def test_a_missing_name_is_explained(name):
    assert not hasattr(PyGPU, name)
    assert name not in PyGPU.__all__
    with pytest.raises(AttributeError, match=REMEDY):
        getattr(PyGPU, name)


@pytest.mark.parametrize("module", ["gpuarray", "driver", "compiler", "curandom", "tools"])
def test_a_missing_module_is_explained(module):
    with pytest.raises(AttributeError, match=REMEDY):
        importlib.import_module(f"PyGPU.{module}")


def test_star_import_is_complete():
    names = {}
    exec("from PyGPU import *", names)
    assert {"cudaMalloc", "DeviceArray_float64", "cudaStream_t"} <= names.keys()
