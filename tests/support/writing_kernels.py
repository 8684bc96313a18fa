"""Kernels that write values that a test checks."""

import numpy as np

from PyGPU import gpuarray

ONE = {"block": (1, 1, 1)}
FIVE = "__global__ void write(int *out) { *out = 5; }"
WRITE = "__global__ void write(int *out) { *out = VALUE; }"


def written(module, name="write", dtype=np.int32, count=1):
    """Return the values that a kernel with one pointer parameter writes."""
    out = gpuarray.zeros(count, dtype)
    module.get_function(name)(out, **ONE)
    return out.get()[0] if count == 1 else out.get()
