"""Arrays in device memory: the names of ``pycuda.gpuarray``.

The class and its functions are C++ (``src/bind_gpuarray.cpp``); this module gives them their place.
"""

import PyGPU.errors  # noqa: F401  registers how device errors become exceptions
from PyGPU._targets import core

GPUArray = core.GPUArray
empty = GPUArray
empty_like = core.empty_like
to_gpu = core.to_gpu
to_gpu_async = core.to_gpu_async
zeros = core.zeros
zeros_like = core.zeros_like


def _restored(ary):
    """What a pickled array is made from: a plain function, found on every target."""
    return to_gpu(ary)


__all__ = ["GPUArray", "empty", "empty_like", "to_gpu", "to_gpu_async", "zeros", "zeros_like"]

for _public in (GPUArray, empty_like, to_gpu, to_gpu_async, zeros, zeros_like):
    _public.__module__ = __name__
