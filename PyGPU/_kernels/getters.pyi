"""Types of the getters, most of which are created from a table."""

from collections.abc import Callable

from PyGPU._driver.module import Function

__all__ = [
    "get_arange_kernel",
    "get_axpbyz_kernel",
    "get_axpbz_kernel",
    "get_binary_func_kernel",
    "get_binary_func_scalar_kernel",
    "get_binary_minmax_kernel",
    "get_binary_op_kernel",
    "get_conj_kernel",
    "get_copy_kernel",
    "get_fill_kernel",
    "get_fmod_kernel",
    "get_frexp_kernel",
    "get_if_positive_kernel",
    "get_imag_kernel",
    "get_ldexp_kernel",
    "get_linear_combination_kernel",
    "get_logical_not_kernel",
    "get_modf_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_rdivide_elwise_kernel",
    "get_real_kernel",
    "get_reverse_kernel",
    "get_scalar_op_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
    "get_unary_func_kernel",
    "get_where_kernel",
]

get_copy_kernel: Callable[..., Function]
get_axpbyz_kernel: Callable[..., Function]
get_axpbz_kernel: Callable[..., Function]
get_binary_op_kernel: Callable[..., Function]
get_rdivide_elwise_kernel: Callable[..., Function]
get_binary_func_kernel: Callable[..., Function]
get_binary_func_scalar_kernel: Callable[..., Function]
get_fill_kernel: Callable[..., Function]
get_reverse_kernel: Callable[..., Function]
get_real_kernel: Callable[..., Function]
get_imag_kernel: Callable[..., Function]
get_conj_kernel: Callable[..., Function]
get_arange_kernel: Callable[..., Function]
get_fmod_kernel: Callable[..., Function]
get_modf_kernel: Callable[..., Function]
get_frexp_kernel: Callable[..., Function]
get_ldexp_kernel: Callable[..., Function]
get_unary_func_kernel: Callable[..., Function]
get_if_positive_kernel: Callable[..., Function]
get_where_kernel: Callable[..., Function]
get_scalar_op_kernel: Callable[..., Function]
get_logical_not_kernel: Callable[..., Function]
get_binary_minmax_kernel: Callable[..., Function]
get_linear_combination_kernel: Callable[..., tuple[Function, list[object]]]
get_pow_array_kernel: Callable[..., Function]
get_pow_kernel: Callable[..., Function]
get_put_kernel: Callable[..., Function]
get_take_kernel: Callable[..., Function]
get_take_put_kernel: Callable[..., Function]
