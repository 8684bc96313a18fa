"""Arrays in pageable host memory at aligned addresses, with PyCUDA's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from PyGPU._driver.host_arrays import new_array, order_of, zeroed
from PyGPU._driver.host_memory import AlignedHostAllocation
from PyGPU._runtime import docstrings, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, HostArray, Int, Order, Shape

__all__ = [
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
]


def aligned_empty(
    shape: Shape, dtype: DTypeLike, order: Order = "C", alignment: Int = 4096
) -> HostArray:
    """Return an uninitialized array in aligned pageable host memory.

    :param shape, dtype, order:
    :param alignment: Power of two that divides the address, in bytes.
    :returns: Its ``base`` owns the memory.

    >>> drv.aligned_empty(2, np.int32).shape
    (2,)
    """
    alignment = integer("alignment", alignment)
    if alignment <= 0 or alignment & (alignment - 1):
        raise errors.LogicError(f"alignment={alignment}: expected a power of two")

    def take(nbytes: int) -> AlignedHostAllocation:
        block = np.empty(nbytes + alignment, np.uint8)
        return AlignedHostAllocation(block, -(-block.ctypes.data // alignment) * alignment)

    return new_array(take, shape, dtype, order)


def aligned_zeros(
    shape: Shape, dtype: DTypeLike, order: Order = "C", alignment: Int = 4096
) -> HostArray:
    """Return an array of zeros in aligned pageable host memory.

    :param shape, dtype, order:
    :param alignment: Power of two that divides the address, in bytes.
    :returns: Its ``base`` owns the memory.

    >>> drv.aligned_zeros(2, np.int32)
    array([0, 0], dtype=int32)
    """
    return zeroed(aligned_empty(shape, dtype, order, alignment))


def aligned_empty_like(array: HostArray, alignment: Int = 4096) -> HostArray:
    """Return an uninitialized array in aligned pageable host memory, laid out like another.

    :param array: Contiguous array whose shape, dtype and order the result has.
    :param alignment: Power of two that divides the address, in bytes.
    :returns: Its ``base`` owns the memory.

    >>> drv.aligned_empty_like(np.ones(2, np.int32)).shape
    (2,)
    """
    return aligned_empty(array.shape, array.dtype, order_of(array), alignment)


def aligned_zeros_like(array: HostArray, alignment: Int = 4096) -> HostArray:
    """Return an array of zeros in aligned pageable host memory, with the layout of another array.

    :param array: Contiguous array whose shape, dtype and order the result has.
    :param alignment: Power of two that divides the address, in bytes.
    :returns: Its ``base`` owns the memory.

    >>> drv.aligned_zeros_like(np.ones(2, np.int32))
    array([0, 0], dtype=int32)
    """
    return zeroed(aligned_empty_like(array, alignment))


docstrings.complete(__name__)
