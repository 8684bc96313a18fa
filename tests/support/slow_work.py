"""A kernel that takes its time: what comes too early does not see its result."""

from functools import cache

import numpy as np

import PyGPU
from PyGPU.compiler import SourceModule

TEXT = """
__global__ void slow_fill(int *x, int value, long long n, long long cycles)
{
  long long begin = clock64();
  while (clock64() - begin < cycles) { }
  for (long long i = blockIdx.x * (long long) blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (long long) blockDim.x)
    x[i] = value;
}
"""
SIZE = 1 << 16
CYCLES = 100_000_000 if PyGPU.cuda_enabled else 0  # some 50 ms; the host waits for nothing


@cache
def kernel():
    return SourceModule(TEXT).get_function("slow_fill")


def slow_fill(array, value, stream=None):
    """Set all elements of an int32 array, after a while."""
    arguments = (np.int32(value), np.int64(array.size), np.int64(CYCLES))
    kernel()(array, *arguments, block=(256, 1, 1), grid=(16, 1), stream=stream)


def slow_spoil(address, value, stream=None):
    """The same for SIZE elements at an address."""
    slow_fill(PyGPU.GPUArray(SIZE, np.int32, gpudata=address), value, stream)


def prepare():
    """Load the kernel, which a reset of the device may have taken, and wait for all work."""
    kernel.cache_clear()
    kernel()
    PyGPU.cudaDeviceSynchronize()
