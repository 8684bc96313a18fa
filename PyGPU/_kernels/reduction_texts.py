"""Expressions in C, and dtypes, of the reductions that ``PyGPU.reduction`` offers."""

import numpy as np

from PyGPU._kernels.types import dtype_to_ctype


def declared(dtype, name):
    """Return the declaration in C of an array argument."""
    return f"const {dtype_to_ctype(dtype)} *{name}"


def common_dtype(dtype_out, *dtypes):
    """Return `dtype_out`, or if it is None, the dtype that the other dtypes promote to."""
    if dtype_out is not None:
        return np.dtype(dtype_out)
    return np.result_type(*(np.dtype(one) for one in dtypes if one is not None))


def is_not_zero(dtype):
    """Return C for "the element is not zero"."""
    return f"in[i] != ({dtype_to_ctype(dtype)})0"


def operand_dtypes(out, dtype_a, dtype_b):
    """Return the operands' dtypes; by default each other's dtype, else the result's."""
    a = dtype_a if dtype_a is not None else dtype_b if dtype_b is not None else out
    return a, dtype_b if dtype_b is not None else a


def product(*factors):
    """Return C for the product of factors, each converted to the result's type."""
    return " * ".join(f"out_type({factor})" for factor in factors)


def choice(what, dtype):
    """Return C for the smaller ("min") or larger of `a` and `b`, ignoring NaN."""
    sign = "<" if what == "min" else ">"
    return f"b {sign} a || a != a ? b : a" if dtype.kind == "f" else f"b {sign} a ? b : a"
