"""Elementwise kernels from an expression in C: the names of ``pycuda.elementwise``."""

import typing as _typing

from PyGPU._kernels.elementwise_kernel import ElementwiseKernel as ElementwiseKernel
from PyGPU._kernels.getters import *  # noqa: F403
from PyGPU._kernels.launch_shape import splay as splay
from PyGPU._kernels.text.indexed import get_elwise_kernel as get_elwise_kernel
from PyGPU._kernels.text.indexed import get_elwise_kernel_and_types as get_elwise_kernel_and_types
from PyGPU._kernels.text.indexed import get_elwise_module as get_elwise_module
from PyGPU._kernels.text.indexed import get_elwise_range_module as get_elwise_range_module
from PyGPU._kernels.types import ScalarArg as ScalarArg
from PyGPU._kernels.types import VectorArg as VectorArg
from PyGPU._kernels.types import dtype_to_ctype as dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize as context_dependent_memoize

if not _typing.TYPE_CHECKING:
    __all__ = sorted(name for name in globals() if name[0] != "_")
