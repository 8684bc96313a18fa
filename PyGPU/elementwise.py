"""Elementwise kernels from an expression in C: the names of ``pycuda.elementwise``."""

from typing import TYPE_CHECKING

from PyGPU._driver.launch_shape import splay
from PyGPU._kernels.elementwise_kernel import ElementwiseKernel
from PyGPU._kernels.getter_table import TABLE
from PyGPU._kernels.text.indexed import (
    get_elwise_kernel,
    get_elwise_kernel_and_types,
    get_elwise_module,
    get_elwise_range_module,
)
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype
from PyGPU._runtime import hooks
from PyGPU._runtime.memoize import context_dependent_memoize

if TYPE_CHECKING:
    from PyGPU._kernels.getters import *  # noqa: F403

#: Functions that are loaded at first use, and their module.
DEFERRED = hooks.by_name(
    {
        "PyGPU._kernels.getters": "get_binary_minmax_kernel get_linear_combination_kernel "
        "get_pow_array_kernel get_pow_kernel get_put_kernel get_take_kernel get_take_put_kernel "
        + " ".join(TABLE)
    }
)

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
    *DEFERRED,
]

if not TYPE_CHECKING:  # type checkers shall report names that do not exist

    def __getattr__(name):
        if name not in DEFERRED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return hooks.found_late(globals(), DEFERRED, name)

    def __dir__():
        return sorted({*globals(), *DEFERRED})
