"""Reductions by expression: the names of ``pycuda.reduction``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._kernels.reduction_kernel import ReductionKernel
from PyGPU._kernels.stages import get_reduction_kernel_and_types, get_reduction_module
from PyGPU._kernels.text.folding import limit
from PyGPU._kernels.types import ScalarArg, VectorArg, dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike

__all__ = [
    "ReductionKernel",
    "ScalarArg",
    "VectorArg",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_reduction_kernel_and_types",
    "get_reduction_module",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]


def _of(dtype, name):
    return f"const {dtype_to_ctype(dtype)} *{name}"


def _common(dtype_out, *dtypes):
    """Return `dtype_out`, or if it is None, the dtype that the other dtypes promote to."""
    if dtype_out is not None:
        return np.dtype(dtype_out)
    return np.result_type(*(np.dtype(one) for one in dtypes if one is not None))


@context_dependent_memoize
def get_sum_kernel(dtype_out: DTypeLike | None, dtype_in: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that sums the elements of an array.

    Parameters
    ----------
    dtype_out : numpy.dtype or None
        Dtype of the sum; `dtype_in` if None.
    dtype_in : numpy.dtype
        Dtype of the array.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_sum_kernel(None, np.int64)
    >>> kernel(gpuarray.to_gpu(np.array([1, 2, 3])))
    array(6)
    """
    out = _common(dtype_out, dtype_in)
    return ReductionKernel(out, "0", "a + b", arguments=_of(dtype_in, "in"), name="sum")


def _truth(dtype):
    """Return C for "the element is not zero"."""
    return f"in[i] != ({dtype_to_ctype(dtype)})0"


@context_dependent_memoize
def get_any_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that tests whether any element is not zero.

    Parameters
    ----------
    dtype_out : numpy.dtype
        Dtype of the result.
    dtype_in : numpy.dtype
        Dtype of the array.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_any_kernel(np.int32, np.int64)
    >>> kernel(gpuarray.to_gpu(np.array([0, 2, 0])))
    array(1, dtype=int32)
    """
    arguments = _of(dtype_in, "in")
    return ReductionKernel(dtype_out, "false", "a || b", _truth(dtype_in), arguments, "any")


@context_dependent_memoize
def get_all_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that tests whether all elements are not zero.

    Parameters
    ----------
    dtype_out : numpy.dtype
        Dtype of the result.
    dtype_in : numpy.dtype
        Dtype of the array.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_all_kernel(np.int32, np.int64)
    >>> kernel(gpuarray.to_gpu(np.array([0, 2, 0])))
    array(0, dtype=int32)
    """
    arguments = _of(dtype_in, "in")
    return ReductionKernel(dtype_out, "true", "a && b", _truth(dtype_in), arguments, "all")


@context_dependent_memoize
def get_subset_sum_kernel(
    dtype_out: DTypeLike | None, dtype_subset: DTypeLike, dtype_in: DTypeLike
) -> ReductionKernel:
    """Make the kernel ``kernel(lookup_tbl, in)`` that sums the elements ``in[lookup_tbl]``.

    Parameters
    ----------
    dtype_out : numpy.dtype or None
        Dtype of the sum; `dtype_in` if None.
    dtype_subset : numpy.dtype
        Dtype of the indices in `lookup_tbl`.
    dtype_in : numpy.dtype
        Dtype of the array.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_subset_sum_kernel(None, np.int32, np.int64)
    >>> indices = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> kernel(indices, gpuarray.to_gpu(np.array([1, 2, 3])))
    array(4)
    """
    return ReductionKernel(
        _common(dtype_out, dtype_in),
        "0",
        "a + b",
        "in[lookup_tbl[i]]",
        f"{_of(dtype_subset, 'lookup_tbl')}, {_of(dtype_in, 'in')}",
        "subset_sum",
    )


@context_dependent_memoize
def get_dot_kernel(
    dtype_out: DTypeLike | None, dtype_a: DTypeLike | None = None, dtype_b: DTypeLike | None = None
) -> ReductionKernel:
    """Make the kernel ``kernel(a, b)`` that sums the products of two arrays' elements.

    Parameters
    ----------
    dtype_out : numpy.dtype or None
        Dtype of the sum; if None, the dtype that `dtype_a` and `dtype_b` promote to.
    dtype_a, dtype_b : numpy.dtype, optional
        Dtypes of the arrays; by default each other's, else `dtype_out`.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_dot_kernel(np.int64)
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> kernel(a, a)
    array(14)
    """
    out = _common(dtype_out, dtype_a, dtype_b)
    a, b = _pair(out, dtype_a, dtype_b)
    return ReductionKernel(
        out, "0", "a + b", _product("a[i]", "b[i]"), f"{_of(a, 'a')}, {_of(b, 'b')}", "dot"
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

    Parameters
    ----------
    dtype_out : numpy.dtype or None
        Dtype of the sum; if None, the dtype that `dtype_a` and `dtype_b` promote to.
    dtype_subset : numpy.dtype
        Dtype of the indices in `lookup_tbl`.
    dtype_a, dtype_b : numpy.dtype, optional
        Dtypes of the arrays; by default each other's, else `dtype_out`.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_subset_dot_kernel(np.int64, np.int32)
    >>> indices = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> kernel(indices, a, a)
    array(10)
    """
    out = _common(dtype_out, dtype_a, dtype_b)
    a, b = _pair(out, dtype_a, dtype_b)
    return ReductionKernel(
        out,
        "0",
        "a + b",
        _product("a[lookup_tbl[i]]", "b[lookup_tbl[i]]"),
        f"{_of(dtype_subset, 'lookup_tbl')}, {_of(a, 'a')}, {_of(b, 'b')}",
        "subset_dot",
    )


def _pair(out, dtype_a, dtype_b):
    """Return the operands' dtypes; by default each other's dtype, else the result's."""
    a = dtype_a if dtype_a is not None else dtype_b if dtype_b is not None else out
    return a, dtype_b if dtype_b is not None else a


def _product(*factors):
    return " * ".join(f"out_type({factor})" for factor in factors)


def get_minmax_neutral(what: str, dtype: DTypeLike) -> str:
    """Return C for the neutral element of "min" or "max" in a dtype.

    Parameters
    ----------
    what : {"min", "max"}
        The operation.
    dtype : numpy.dtype
        Dtype of bool, integers or real numbers.

    Returns
    -------
    str
        A literal in C: the largest value for "min", the smallest for "max".

    Raises
    ------
    TypeError
        The dtype has no order, as complex numbers.

    Examples
    --------
    >>> import numpy as np
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


def _smaller(what, dtype):
    sign = "<" if what == "min" else ">"
    return f"b {sign} a || a != a ? b : a" if dtype.kind == "f" else f"b {sign} a ? b : a"


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: DTypeLike) -> ReductionKernel:
    """Make the kernel ``kernel(in)`` that finds the smallest or largest element, ignoring NaN.

    Parameters
    ----------
    what : {"min", "max"}
        The operation.
    dtype : numpy.dtype
        Dtype of the array and of the result.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Raises
    ------
    TypeError
        The dtype is complex.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray, reduction
    >>> kernel = reduction.get_minmax_kernel("max", np.float64)
    >>> kernel(gpuarray.to_gpu(np.array([1.0, np.nan, 3.0])))
    array(3.)
    """
    dtype = np.dtype(dtype)
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype, neutral, _smaller(what, dtype), arguments=_of(dtype, "in"), name=what
    )


@context_dependent_memoize
def get_subset_minmax_kernel(
    what: str, dtype: DTypeLike, dtype_subset: DTypeLike
) -> ReductionKernel:
    """Make the kernel ``kernel(lookup_tbl, in)`` for the smallest or largest element at indices.

    Parameters
    ----------
    what : {"min", "max"}
        The operation.
    dtype : numpy.dtype
        Dtype of the array and of the result.
    dtype_subset : numpy.dtype
        Dtype of the indices in `lookup_tbl`.

    Returns
    -------
    ReductionKernel
        The kernel, cached for each context.

    Examples
    --------
    >>> import numpy as np
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
        _smaller(what, dtype),
        "in[lookup_tbl[i]]",
        f"{_of(dtype_subset, 'lookup_tbl')}, {_of(dtype, 'in')}",
        f"subset_{what}",
    )
