"""Elementwise kernels from an expression in C: the names of ``pycuda.elementwise``."""

from PyGPU._runtime import context_dependent_memoize, hooks

#: Names that are loaded at first use, and their modules.
DEFERRED = hooks.by_name(
    {
        "PyGPU._driver.launch_shape": "splay",
        "PyGPU._kernels.elementwise_kernel": "ElementwiseKernel",
        "PyGPU._kernels.getters": "get_arange_kernel get_axpbyz_kernel get_axpbz_kernel "
        "get_binary_func_kernel get_binary_func_scalar_kernel "
        "get_binary_minmax_kernel get_binary_op_kernel get_conj_kernel "
        "get_copy_kernel get_fill_kernel get_fmod_kernel get_frexp_kernel "
        "get_if_positive_kernel get_imag_kernel get_ldexp_kernel "
        "get_linear_combination_kernel get_logical_not_kernel get_modf_kernel "
        "get_pow_array_kernel get_pow_kernel get_put_kernel "
        "get_rdivide_elwise_kernel get_real_kernel get_reverse_kernel "
        "get_scalar_op_kernel get_take_kernel get_take_put_kernel "
        "get_unary_func_kernel get_where_kernel",
        "PyGPU._kernels.text.indexed": "get_elwise_kernel get_elwise_kernel_and_types "
        "get_elwise_module get_elwise_range_module",
        "PyGPU._kernels.types": "ScalarArg VectorArg dtype_to_ctype",
    }
)
__getattr__, __dir__ = hooks.late_names(globals(), DEFERRED)
__all__ = ["context_dependent_memoize", *DEFERRED]
