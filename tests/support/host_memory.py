"""Memory statistics of the host machine: bytes of device memory that this process holds."""

import ctypes
import functools
from pathlib import Path

import PyGPU

#: Bytes that may stay allocated: reduction kernels keep a buffer for partial results.
KEPT = 64 << 10

_USED = 7  # cudaMemPoolAttrUsedMemCurrent, which counts every allocation on the host machine


@functools.cache
def _library():
    return ctypes.CDLL(str(Path(PyGPU.get_library_dir()) / "libPyGPU_host.so"))


def used(device=0):
    """Return the allocated bytes of a device's memory, from all allocators."""
    pool, nbytes = ctypes.c_void_p(), ctypes.c_uint64()
    status = _library().PyGPU_host_cudaDeviceGetDefaultMemPool(ctypes.byref(pool), device)
    assert status == 0, status
    status = _library().PyGPU_host_cudaMemPoolGetAttribute(pool, _USED, ctypes.byref(nbytes))
    assert status == 0, status
    return nbytes.value
