"""A slow kernel: work that does not wait for it sees old values."""

from functools import cache

import needs
import numpy as np

import PyGPU
from PyGPU.compiler import SourceModule

TEXT = """
__device__ void fill_late(int *x, int value, long long n, long long cycles)
{
  long long begin = clock64();
  while (clock64() - begin < cycles) { }
  for (long long i = blockIdx.x * (long long) blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (long long) blockDim.x)
    x[i] = value;
}
__global__ void slow_fill(int *x, int value, long long n, long long cycles)
{
  fill_late(x, value, n, cycles);
}
__global__ void slow_spoil(long long address, int value, long long n, long long cycles)
{
  fill_late((int *) address, value, n, cycles);
}
"""
SIZE = 1 << 16
CYCLES = 0 if needs.ON_MACHINE else 100_000_000  # about 50 ms; the host machine needs none


@cache
def kernel(name):
    return SourceModule(TEXT).get_function(name)


def launch(name, where, size, value, stream):
    arguments = (np.int32(value), np.int64(size), np.int64(CYCLES))
    kernel(name)(where, *arguments, block=(256, 1, 1), grid=(16, 1), stream=stream)


def slow_fill(array, value, stream=None):
    """Set all elements of an int32 array, after a delay."""
    launch("slow_fill", array, array.size, value, stream)


def slow_spoil(address, value, stream=None):
    """Set SIZE elements at an address, after a delay; like another library, unseen by PyGPU."""
    launch("slow_spoil", np.int64(address), SIZE, value, stream)


def prepare():
    """Load the kernels, which a device reset may have unloaded, and wait for all work."""
    kernel.cache_clear()
    kernel("slow_fill"), kernel("slow_spoil")
    PyGPU.cudaDeviceSynchronize()
