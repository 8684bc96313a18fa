"""Reductions of the elements at given flat indices, as PyCUDA's gpuarray has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, DTypeLike, StreamLike

__all__ = ["subset_dot", "subset_max", "subset_min", "subset_sum"]


def subset_sum(
    subset: core.GPUArray,
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Sum the elements of `a` at the given indices.

    Parameters
    ----------
    subset : GPUArray
        Array of integers: flat indices into `a`, in C order. They are not checked and must be in
        [0, a.size).
    a : GPUArray
        Array to choose elements from.
    dtype : numpy.dtype, optional
        Dtype of the computation and of the result; by default, as for :func:`gpuarray.sum`.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the allocator of `a` by default.

    Returns
    -------
    GPUArray
        The sum, a zero-dimensional array.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_sum(subset, a)
    array(4)
    """
    return core._reduce_subset("sum", subset, (a,), dtype, stream, allocator)


def subset_dot(
    subset: core.GPUArray,
    a: core.GPUArray,
    b: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Sum the products of the elements of `a` and `b` at the given indices.

    Parameters
    ----------
    subset : GPUArray
        Array of integers: flat indices into `a`, in C order. They are not checked and must be in
        [0, a.size).
    a, b : GPUArray
        Arrays to choose elements from.
    dtype : numpy.dtype, optional
        Dtype of the computation and of the result; that of `a` by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the allocator of `a` by default.

    Returns
    -------
    GPUArray
        The dot product, a zero-dimensional array.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_dot(subset, a, a)
    array(10)
    """
    return core._reduce_subset("dot", subset, (a, b), dtype, stream, allocator)


def subset_max(
    subset: core.GPUArray,
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Find the largest of the elements of `a` at the given indices.

    Parameters
    ----------
    subset : GPUArray
        Array of integers: flat indices into `a`, in C order. They are not checked and must be in
        [0, a.size).
    a : GPUArray
        Array to choose elements from.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the allocator of `a` by default.

    Returns
    -------
    GPUArray
        The largest element, a zero-dimensional array.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_max(subset, a)
    array(3)
    """
    return core._reduce_subset("max", subset, (a,), None, stream, allocator)


def subset_min(
    subset: core.GPUArray,
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Find the smallest of the elements of `a` at the given indices.

    Parameters
    ----------
    subset : GPUArray
        Array of integers: flat indices into `a`, in C order. They are not checked and must be in
        [0, a.size).
    a : GPUArray
        Array to choose elements from.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the allocator of `a` by default.

    Returns
    -------
    GPUArray
        The smallest element, a zero-dimensional array.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_min(subset, a)
    array(1)
    """
    return core._reduce_subset("min", subset, (a,), None, stream, allocator)
