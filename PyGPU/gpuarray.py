"""Arrays in device memory: the names of ``pycuda.gpuarray``.

The class and the frequently called functions are C++ (``src/python/array``,
``src/python/operations``).
"""

# ruff: noqa: F403
from __future__ import annotations as _annotations

import typing as _typing

from PyGPU._arrays.functions import *
from PyGPU._arrays.fusion import *
from PyGPU._arrays.gather import *
from PyGPU._arrays.interop import *
from PyGPU._arrays.joining import *
from PyGPU._arrays.pickling import _restored as _restored
from PyGPU._arrays.ranges import *
from PyGPU._arrays.reductions import *
from PyGPU._arrays.sharing import *
from PyGPU._arrays.spacing import *
from PyGPU._arrays.staging import *
from PyGPU._arrays.subclassing import _memcpy_discontig as _memcpy_discontig
from PyGPU._arrays.vec import vec as vec
from PyGPU._kernels.launch_shape import splay as splay
from PyGPU._runtime.targets import core as _core

if _typing.TYPE_CHECKING:
    from PyGPU._types import DType as _DType


GPUArray = _core.GPUArray
empty = _core.empty
empty_like = _core.empty_like
to_gpu = _core.to_gpu
to_gpu_async = _core.to_gpu_async
zeros = _core.zeros
zeros_like = _core.zeros_like


def _get_common_dtype(obj1: object, obj2: object) -> _DType:
    """Return the dtype of a sum, for programs that import this name from PyCUDA's gpuarray."""
    from PyGPU.compyte.array import get_common_dtype

    return get_common_dtype(obj1, obj2, allow_double=True)


if not _typing.TYPE_CHECKING:
    __all__ = sorted(name for name in globals() if name[0] != "_")

    def __getattr__(name):
        """Raise AttributeError; the message names the function of PyGPU.cumath, if it has one."""
        from PyGPU import cumath

        hint = f"; see PyGPU.cumath.{name}" if name in cumath.__all__ else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
