"""Reductions by expression: the names of ``pycuda.reduction``."""

import typing as _typing

from PyGPU._kernels.reduction_getters import *  # noqa: F403
from PyGPU._kernels.reduction_kernel import ReductionKernel as ReductionKernel
from PyGPU._kernels.stages import get_reduction_kernel_and_types as get_reduction_kernel_and_types
from PyGPU._kernels.stages import get_reduction_module as get_reduction_module
from PyGPU._kernels.types import ScalarArg as ScalarArg
from PyGPU._kernels.types import VectorArg as VectorArg
from PyGPU._kernels.types import dtype_to_ctype as dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize as context_dependent_memoize

if not _typing.TYPE_CHECKING:
    __all__ = sorted(name for name in globals() if name[0] != "_")
