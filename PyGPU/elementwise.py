"""Elementwise kernels from an expression in C: the names of ``pycuda.elementwise``."""

from PyGPU._driver.launch_shape import splay
from PyGPU._kernels import getters
from PyGPU._kernels.elementwise_kernel import ElementwiseKernel
from PyGPU._kernels.getters import *  # noqa: F403
from PyGPU._kernels.text.indexed import (
    get_elwise_kernel,
    get_elwise_kernel_and_types,
    get_elwise_module,
    get_elwise_range_module,
)
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype
from PyGPU._runtime.memoize import context_dependent_memoize

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
    "splay",
    *getters.__all__,
]
