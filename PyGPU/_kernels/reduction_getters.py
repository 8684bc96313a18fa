"""Getters of reduction kernels: those behind ``pycuda.gpuarray``, for other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._kernels.reduction_kernel import ReductionKernel
from PyGPU._kernels.text.folding import limit
from PyGPU._kernels.types import dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize, docstrings

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

__all__ = [
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]


@context_dependent_memoize
def get_sum_kernel(dtype_out: DTypeLike | None, dtype_in: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that sums the elements of an array.

    :param dtype_out: Dtype of the sum; `dtype_in` if None.
    :param dtype_in: Dtype of the array.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_sum_kernel(None, np.int64)
    >>> kernel(gpuarray.to_gpu(np.array([1, 2, 3])))
    array(6)
    """
    out = common_dtype(dtype_out, dtype_in)
    return ReductionKernel(out, "0", "a + b", arguments=declared(dtype_in, "in"), name="sum")


@context_dependent_memoize
def get_any_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that tests whether any element is not zero.

    :param dtype_out: Dtype of the result.
    :param dtype_in: Dtype of the array.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_any_kernel(np.int32, np.int64)
    >>> kernel(gpuarray.to_gpu(np.array([0, 2, 0])))
    array(1, dtype=int32)
    """
    arguments = declared(dtype_in, "in")
    return ReductionKernel(dtype_out, "false", "a || b", is_not_zero(dtype_in), arguments, "any")


@context_dependent_memoize
def get_all_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that tests whether all elements are not zero.

    :param dtype_out: Dtype of the result.
    :param dtype_in: Dtype of the array.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_all_kernel(np.int32, np.int64)
    >>> kernel(gpuarray.to_gpu(np.array([0, 2, 0])))
    array(0, dtype=int32)
    """
    arguments = declared(dtype_in, "in")
    return ReductionKernel(dtype_out, "true", "a && b", is_not_zero(dtype_in), arguments, "all")


@context_dependent_memoize
def get_subset_sum_kernel(
    dtype_out: DTypeLike | None, dtype_subset: DTypeLike, dtype_in: DTypeLike
) -> ReductionKernel:
    """Make the kernel ``kernel(lookup_tbl, in)`` that sums the elements ``in[lookup_tbl]``.

    :param dtype_out: Dtype of the sum; `dtype_in` if None.
    :param dtype_subset: Dtype of the indices in `lookup_tbl`.
    :param dtype_in: Dtype of the array.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_subset_sum_kernel(None, np.int32, np.int64)
    >>> indices = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> kernel(indices, gpuarray.to_gpu(np.array([1, 2, 3])))
    array(4)
    """
    return ReductionKernel(
        common_dtype(dtype_out, dtype_in),
        "0",
        "a + b",
        "in[lookup_tbl[i]]",
        f"{declared(dtype_subset, 'lookup_tbl')}, {declared(dtype_in, 'in')}",
        "subset_sum",
    )


@context_dependent_memoize
def get_dot_kernel(
    dtype_out: DTypeLike | None, dtype_a: DTypeLike | None = None, dtype_b: DTypeLike | None = None
) -> ReductionKernel:
    """Make the kernel ``kernel(a, b)`` that sums the products of two arrays' elements.

    :param dtype_out: Dtype of the sum; if None, the dtype that `dtype_a` and `dtype_b` promote to.
    :param dtype_a, dtype_b: Dtypes of the arrays; by default each other's, else `dtype_out`.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_dot_kernel(np.int64)
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> kernel(a, a)
    array(14)
    """
    out = common_dtype(dtype_out, dtype_a, dtype_b)
    a, b = operand_dtypes(out, dtype_a, dtype_b)
    return ReductionKernel(
        out, "0", "a + b", product("a[i]", "b[i]"), f"{declared(a, 'a')}, {declared(b, 'b')}", "dot"
    )


@context_dependent_memoize
def get_subset_dot_kernel(
    dtype_out: DTypeLike | None,
    dtype_subset: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
) -> ReductionKernel:
    """Make the kernel ``kernel(lookup_tbl, a, b)`` that sums products at the indices given.

    The products are those of ``a[lookup_tbl]`` and ``b[lookup_tbl]``.

    :param dtype_out: Dtype of the sum; if None, the dtype that `dtype_a` and `dtype_b` promote to.
    :param dtype_subset: Dtype of the indices in `lookup_tbl`.
    :param dtype_a, dtype_b: Dtypes of the arrays; by default each other's, else `dtype_out`.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_subset_dot_kernel(np.int64, np.int32)
    >>> indices = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> kernel(indices, a, a)
    array(10)
    """
    out = common_dtype(dtype_out, dtype_a, dtype_b)
    a, b = operand_dtypes(out, dtype_a, dtype_b)
    return ReductionKernel(
        out,
        "0",
        "a + b",
        product("a[lookup_tbl[i]]", "b[lookup_tbl[i]]"),
        f"{declared(dtype_subset, 'lookup_tbl')}, {declared(a, 'a')}, {declared(b, 'b')}",
        "subset_dot",
    )


def get_minmax_neutral(what: str, dtype: DTypeLike) -> str:
    """Return C for the neutral element of "min" or "max" in a dtype.

    :param {"min", "max"} what: The operation.
    :param dtype: Dtype of bool, integers or real numbers.
    :returns: A literal in C: the largest value for "min", the smallest for "max".
    :raises TypeError: The dtype has no order, as complex numbers.

    >>> from PyGPU import reduction
    >>> reduction.get_minmax_neutral("max", np.uint8)
    '0ull'
    """
    if what not in ("min", "max"):
        raise ValueError(f"what={what!r}: expected 'min' or 'max'")
    dtype = np.dtype(dtype)
    if dtype.kind not in "biuf":
        raise TypeError(f"unsupported dtype specified: {dtype}")
    return limit(what, dtype)


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that finds the smallest or largest element, ignoring NaN.

    :param {"min", "max"} what: The operation.
    :param dtype: Dtype of the array and of the result.
    :returns: The kernel, cached for each context.
    :raises TypeError: The dtype is complex.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_minmax_kernel("max", np.float64)
    >>> kernel(gpuarray.to_gpu(np.array([1.0, np.nan, 3.0])))
    array(3.)
    """
    dtype = np.dtype(dtype)
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype, neutral, choice(what, dtype), arguments=declared(dtype, "in"), name=what
    )


@context_dependent_memoize
def get_subset_minmax_kernel(
    what: str, dtype: DTypeLike, dtype_subset: DTypeLike
) -> ReductionKernel:
    """Make the kernel ``kernel(lookup_tbl, in)`` for the smallest or largest element at indices.

    :param {"min", "max"} what: The operation.
    :param dtype: Dtype of the array and of the result.
    :param dtype_subset: Dtype of the indices in `lookup_tbl`.
    :returns: The kernel, cached for each context.

    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_subset_minmax_kernel("min", np.int64, np.int32)
    >>> indices = gpuarray.to_gpu(np.array([1, 2], np.int32))
    >>> kernel(indices, gpuarray.to_gpu(np.array([1, 2, 3])))
    array(2)
    """
    dtype = np.dtype(dtype)
    return ReductionKernel(
        dtype,
        get_minmax_neutral(what, dtype),
        choice(what, dtype),
        "in[lookup_tbl[i]]",
        f"{declared(dtype_subset, 'lookup_tbl')}, {declared(dtype, 'in')}",
        f"subset_{what}",
    )


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


docstrings.complete(__name__)
