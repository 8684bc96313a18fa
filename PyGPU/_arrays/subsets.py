"""Reductions of the elements at given flat indices, as PyCUDA's gpuarray has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import core, docstrings

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

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a: Array to choose elements from.
    :param dtype: Dtype of the computation and of the result; by default, as for
        :func:`gpuarray.sum`.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The sum, a zero-dimensional array.

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

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a, b: Arrays to choose elements from.
    :param dtype: Dtype of the computation and of the result; that of `a` by default.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The dot product, a zero-dimensional array.

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

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a: Array to choose elements from.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The largest element, a zero-dimensional array.

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

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a: Array to choose elements from.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The smallest element, a zero-dimensional array.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_min(subset, a)
    array(1)
    """
    return core._reduce_subset("min", subset, (a,), None, stream, allocator)


docstrings.complete(__name__)
