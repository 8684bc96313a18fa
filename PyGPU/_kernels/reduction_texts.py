"""Expressions in C, and dtypes, of the reductions that ``PyGPU.reduction`` offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._kernels.types import dtype_to_ctype

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike


def declared(dtype: DTypeLike, name: str) -> str:
    """Return the declaration in C of an array argument."""
    return f"const {dtype_to_ctype(dtype)} *{name}"


def common_dtype(dtype_out: DTypeLike | None, *dtypes: DTypeLike | None) -> DType:
    """Return `dtype_out`, or if it is None, the dtype that the other dtypes promote to."""
    if dtype_out is not None:
        return np.dtype(dtype_out)
    return np.result_type(*(np.dtype(one) for one in dtypes if one is not None))


def is_not_zero(dtype: DTypeLike) -> str:
    """Return C for "the element is not zero"."""
    return f"in[i] != ({dtype_to_ctype(dtype)})0"


def operand_dtypes(
    out: DTypeLike, dtype_a: DTypeLike | None, dtype_b: DTypeLike | None
) -> tuple[DTypeLike, DTypeLike]:
    """Return the operands' dtypes; by default each other's dtype, else the result's."""
    a = dtype_a if dtype_a is not None else dtype_b if dtype_b is not None else out
    return a, dtype_b if dtype_b is not None else a


def product(*factors: str) -> str:
    """Return C for the product of factors, each converted to the result's type."""
    return " * ".join(f"out_type({factor})" for factor in factors)


def choice(what: str, dtype: DType) -> str:
    """Return C for the smaller ("min") or larger of `a` and `b`, ignoring NaN."""
    sign = "<" if what == "min" else ">"
    return f"b {sign} a || a != a ? b : a" if dtype.kind == "f" else f"b {sign} a ? b : a"
