"""Host copies of arrays for libraries that cannot access device memory: an MPI, h5py, sockets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._runtime import core, require_array

if TYPE_CHECKING:
    from PyGPU._types import HostArray

__all__ = ["staged"]


class _Layout:
    """The addresses of an array's elements for NumPy, which does not read them."""

    def __init__(self, array: core.GPUArray) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (array.ptr, True),
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.itemsize}",
        }


def _share_elements(first: core.GPUArray, second: core.GPUArray) -> bool:
    """Report whether two arrays share an element; two columns of a matrix do not."""
    if not core._overlap(first, second):  # true also if it cannot exclude a shared element
        return False
    return np.shares_memory(np.asarray(_Layout(first)), np.asarray(_Layout(second)))


@contextmanager
def staged(*arrays: core.GPUArray) -> Iterator[tuple[HostArray, ...]]:
    """Copy arrays to the host for a ``with`` block, and copy the host arrays back at its end.

    If the block raises an exception, nothing is copied back. ``a.get()`` suffices for an array that
    the block only reads.

    Parameters
    ----------
    *arrays : GPUArray
        Arrays of any layout and dtype that share no elements. An array may be a view, such as a
        column of a matrix.

    Yields
    ------
    tuple of numpy.ndarray
        One C-contiguous array for each argument, of its shape and dtype.

    Raises
    ------
    TypeError
        An argument is not a GPUArray.
    ValueError
        Two arrays share elements, so that the order of the copies would decide the result.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> matrix = PyGPU.to_gpu(np.zeros((2, 3)))
    >>> with PyGPU.staged(matrix[:, 0]) as (column,):
    ...     column[:] = [1, 2]
    >>> matrix
    array([[1., 0., 0.],
           [2., 0., 0.]])
    """
    for k, array in enumerate(arrays):
        require_array(f"arrays[{k}]", array)
    for (j, first), (k, second) in itertools.combinations(enumerate(arrays), 2):
        if _share_elements(first, second):
            raise ValueError(f"staged: arrays[{j}] and arrays[{k}] share elements")
    on_host = tuple(np.empty(array.shape, array.dtype) for array in arrays)
    for array, host in zip(arrays, on_host):
        array.get(host)
    yield on_host
    for array, host in zip(arrays, on_host):
        array.set(host)
