"""Reductions by expression: the names of ``pycuda.reduction``."""

from PyGPU._runtime import context_dependent_memoize, hooks

#: Names that are loaded at first use, and their modules.
DEFERRED = hooks.by_name(
    {
        "PyGPU._kernels.reduction_getters": "get_all_kernel get_any_kernel get_dot_kernel "
        "get_minmax_kernel get_minmax_neutral get_subset_dot_kernel get_subset_minmax_kernel "
        "get_subset_sum_kernel get_sum_kernel",
        "PyGPU._kernels.reduction_kernel": "ReductionKernel",
        "PyGPU._kernels.stages": "get_reduction_kernel_and_types get_reduction_module",
        "PyGPU._kernels.types": "ScalarArg VectorArg dtype_to_ctype",
    }
)
__getattr__, __dir__ = hooks.late_names(globals(), DEFERRED)
__all__ = ["context_dependent_memoize", *DEFERRED]
