"""Joining, transposing, reshaping and reversing arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PyGPU._arrays.index_copies import copy_in_c_order
from PyGPU._runtime import as_list, core, docstrings, on_device_of_first, require_array

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, Int, Shape, StreamLike

__all__ = ["concatenate", "reshape", "stack", "transpose"]


def plain(name: str, a: object) -> core.GPUArray:
    """Return a GPUArray itself, and a view of class GPUArray for an object of a subclass.

    A subclass may override attributes such as ``shape``, from which functions compute launches.
    Raise TypeError for other objects; `name` is the name of the argument.
    """
    array = require_array(name, a)
    return array if type(array) is core.GPUArray else array[...]


def in_c_order(a: core.GPUArray) -> core.GPUArray:
    """Return the array if it is aligned and contiguous in C order; otherwise return such a copy.

    ``ravel`` may return a view with gaps between the elements, which some kernels cannot read.
    """
    if a.flags.c_contiguous and a.ptr % a.dtype.itemsize == 0:
        return a
    return copy_in_c_order(a, None)


def concatenate(
    arrays: Iterable[core.GPUArray], axis: Int = 0, allocator: AllocatorLike | None = None
) -> core.GPUArray:
    """Join arrays along an existing axis.

    :param sequence of GPUArray arrays: Arrays whose shapes differ along `axis` only.
    :param axis: Axis to join along.
    :param callable allocator: Allocator of the result; by default that of the first array.
    :returns: A new array in C order, of the dtype that NumPy promotes the dtypes of the arrays to.
    :raises ValueError: `arrays` is empty, an array has no axes, the shapes do not match, or `axis`
        is out of range.

    See Also
    --------
    stack : Join arrays along a new axis.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2]))
    >>> gpuarray.concatenate([a, a])
    array([1, 2, 1, 2])
    """
    return core._concatenate(as_list("arrays", arrays), axis, allocator)


def stack(
    arrays: Iterable[core.GPUArray], axis: Int = 0, allocator: AllocatorLike | None = None
) -> core.GPUArray:
    """Join arrays of one shape along a new axis.

    :param sequence of GPUArray arrays: Arrays of the same shape.
    :param axis: Position of the new axis in the result.
    :param callable allocator: Allocator of the result; by default that of the first array.
    :returns: A new array in C order, of the dtype that NumPy promotes the dtypes of the arrays to.
    :raises ValueError: `arrays` is empty, the shapes differ, or `axis` is out of range.

    See Also
    --------
    concatenate : Join arrays along an existing axis.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2]))
    >>> gpuarray.stack([a, a])
    array([[1, 2],
           [1, 2]])
    """
    return core._stack(as_list("arrays", arrays), axis, allocator)


def transpose(a: core.GPUArray, axes: Shape | None = None) -> core.GPUArray:
    """Return a view with permuted axes, ``a.transpose(axes)``.

    :param a: Array to transpose.
    :param sequence of int axes: The axes of `a` in their new order; reversed by default.
    :returns: A view of the memory of `a`.

    >>> from PyGPU import gpuarray
    >>> gpuarray.transpose(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])))
    array([[1, 3],
           [2, 4]])
    """
    return a.transpose(axes)


def reshape(a: core.GPUArray, *shape: Shape, order: str = "C") -> core.GPUArray:
    """Return the elements in another shape, ``a.reshape(*shape, order=order)``.

    :param a: Array to reshape.
    :param int or sequence of int *shape: The new shape; one length may be -1.
    :param {"C", "F", "A"} order: Order in which the elements are counted.
    :returns: A view of the memory of `a` if possible; otherwise a copy.

    >>> from PyGPU import gpuarray
    >>> gpuarray.reshape(gpuarray.to_gpu(np.array([1, 2, 3, 4])), 2, 2)
    array([[1, 2],
           [3, 4]])
    """
    return a.reshape(*shape, order=order)


@on_device_of_first
def reverse(self: core.GPUArray, stream: StreamLike = None) -> core.GPUArray:
    """Return a new array with the elements in reverse order along every axis.

    :param stream: Stream to copy on; the null stream by default.
    :returns: The reversed array.

    >>> from PyGPU import gpuarray
    >>> gpuarray.to_gpu(np.array([1, 2, 3])).reverse()
    array([3, 2, 1])
    """
    out = core.empty_like(self)
    backwards = self[(slice(None, None, -1),) * self.ndim] if self.ndim else self
    out.set_async(backwards, stream=stream)
    return out


#: Methods of the class GPUArray.
METHODS = {"reverse": reverse}


docstrings.complete(__name__)
