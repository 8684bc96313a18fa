"""Arrays in page-locked, managed, registered and aligned host memory, with PyCUDA's functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver.host_memory import (
    AlignedHostAllocation,
    ManagedAllocation,
    PagelockedHostAllocation,
    RegisteredHostMemory,
)
from PyGPU._driver.memory import in_memory
from PyGPU._runtime import core, docstrings, errors, extent, integer

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike, HostArray, Int, Order, Shape

__all__ = [
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "register_host_memory",
]


def _shape(shape: Shape) -> tuple[int, ...]:
    lengths = shape if np.iterable(shape) and not isinstance(shape, str) else (shape,)
    return tuple(extent("shape", length) for length in lengths)


def bytes_of(shape: Shape, dtype: DTypeLike) -> tuple[tuple[int, ...], DType, int]:
    """Return (shape as a tuple, dtype, size in bytes) of an array."""
    shape, dtype = _shape(shape), np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype={dtype}: holds Python objects, which a device cannot use")
    count = 1
    for length in shape:
        count *= length
    return shape, dtype, count * dtype.itemsize


def new_array(
    take: Callable[[int], Any], shape: Shape, dtype: DTypeLike, order: Order
) -> HostArray:
    """Return an array in the memory that `take(nbytes)` allocates."""
    shape, dtype, nbytes = bytes_of(shape, dtype)
    if order not in ("C", "F"):
        raise errors.LogicError(f"order={order!r}: expected 'C' or 'F'")
    owner = take(in_memory("nbytes", max(nbytes, 1)))
    return array_at(owner, int(owner), shape, dtype, order)


def _description(dtype: DType) -> Any:
    """Return a dtype's description in an array interface.

    Descriptions cannot express overlapping or unordered fields; then it only has the size.
    """
    if dtype.fields is not None:
        try:
            return dtype.descr
        except ValueError:
            pass
    return [("", dtype.str)]


def array_at(
    owner: Any,
    address: int,
    shape: tuple[int, ...],
    dtype: DType,
    order: Order,
    read_only: bool = False,
) -> HostArray:
    """Return an ndarray at an address, whose `.base` is `owner`."""
    step, strides = dtype.itemsize, []
    for length in shape if order == "F" else shape[::-1]:
        strides.append(step)
        step *= max(length, 1)
    owner.__array_interface__ = {
        "version": 3,
        "shape": shape,
        "typestr": dtype.str,
        "descr": _description(dtype),
        "strides": tuple(strides if order == "F" else strides[::-1]),
        "data": (address, read_only),
    }
    array = np.asarray(owner)
    del owner.__array_interface__
    if array.dtype != dtype:  # the description could not express the fields
        # Assign the dtype, as a view would have another .base.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            array.dtype = dtype  # type: ignore[misc]
    return array


def pagelocked_empty(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """Return an uninitialized array in page-locked host memory.

    :param shape, dtype, order:
    :param mem_flags: Combination of ``host_alloc_flags``.
    :returns: Its ``base`` owns the memory.

    >>> drv.pagelocked_empty(2, np.int32).shape
    (2,)
    """

    def take(nbytes: int) -> PagelockedHostAllocation:
        return PagelockedHostAllocation(core._page_locked(nbytes, integer("mem_flags", mem_flags)))

    return new_array(take, shape, dtype, order)


def managed_empty(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """Return an uninitialized array in managed host memory.

    :param shape, dtype, order:
    :param mem_flags: One of ``mem_attach_flags``; 0 is GLOBAL.
    :returns: Its ``base`` owns the memory.

    >>> drv.managed_empty(2, np.int32).shape
    (2,)
    """
    flags = integer("mem_flags", mem_flags) or 1

    def take(nbytes: int) -> ManagedAllocation:
        return core._managed_alloc(ManagedAllocation, nbytes, flags)

    return new_array(take, shape, dtype, order)


def zeroed(array: HostArray) -> HostArray:
    array[...] = np.zeros((), array.dtype)
    return array


def order_of(array: HostArray) -> Order:
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("array: expected a C- or Fortran-contiguous array")


def pagelocked_zeros(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """Return an array of zeros in page-locked host memory.

    :param shape, dtype, order:
    :param mem_flags: Combination of ``host_alloc_flags``.
    :returns: Its ``base`` owns the memory.

    >>> drv.pagelocked_zeros(2, np.int32)
    array([0, 0], dtype=int32)
    """
    return zeroed(pagelocked_empty(shape, dtype, order, mem_flags))


def pagelocked_empty_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    """Return an uninitialized array in page-locked host memory, with the layout of another array.

    :param array: Contiguous array whose shape, dtype and order the result has.
    :param mem_flags: Combination of ``host_alloc_flags``.
    :returns: Its ``base`` owns the memory.

    >>> drv.pagelocked_empty_like(np.ones(2, np.int32)).shape
    (2,)
    """
    return pagelocked_empty(array.shape, array.dtype, order_of(array), mem_flags)


def pagelocked_zeros_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    """Return an array of zeros in page-locked host memory, with the layout of another array.

    :param array: Contiguous array whose shape, dtype and order the result has.
    :param mem_flags: Combination of ``host_alloc_flags``.
    :returns: Its ``base`` owns the memory.

    >>> drv.pagelocked_zeros_like(np.ones(2, np.int32))
    array([0, 0], dtype=int32)
    """
    return zeroed(pagelocked_empty_like(array, mem_flags))


def managed_zeros(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """Return an array of zeros in managed host memory.

    :param shape, dtype, order:
    :param mem_flags: One of ``mem_attach_flags``; 0 is GLOBAL.
    :returns: Its ``base`` owns the memory.

    >>> drv.managed_zeros(2, np.int32)
    array([0, 0], dtype=int32)
    """
    return zeroed(managed_empty(shape, dtype, order, mem_flags))


def managed_empty_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    """Return an uninitialized array in managed host memory, with the layout of another array.

    :param array: Contiguous array whose shape, dtype and order the result has.
    :param mem_flags: One of ``mem_attach_flags``; 0 is GLOBAL.
    :returns: Its ``base`` owns the memory.

    >>> drv.managed_empty_like(np.ones(2, np.int32)).shape
    (2,)
    """
    return managed_empty(array.shape, array.dtype, order_of(array), mem_flags)


def managed_zeros_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    """Return an array of zeros in managed host memory, with the layout of another array.

    :param array: Contiguous array whose shape, dtype and order the result has.
    :param mem_flags: One of ``mem_attach_flags``; 0 is GLOBAL.
    :returns: Its ``base`` owns the memory.

    >>> drv.managed_zeros_like(np.ones(2, np.int32))
    array([0, 0], dtype=int32)
    """
    return zeroed(managed_empty_like(array, mem_flags))


def register_host_memory(ary: HostArray, flags: Int = 0) -> HostArray:
    """Page-lock an array's memory in place.

    :param ary: Contiguous array.
    :param flags: Combination of ``mem_host_register_flags``.
    :returns: A view of the memory. Its ``base`` is a RegisteredHostMemory, which keeps `ary` alive
        and makes the memory pageable again when the last view is gone.
    :raises LogicError: If `ary` is not a contiguous array.

    >>> array = np.array([1, 2], np.int32)
    >>> pinned = drv.register_host_memory(array)
    >>> pinned[0] = 7
    >>> array
    array([7, 2], dtype=int32)
    """
    if not isinstance(ary, np.ndarray):
        raise errors.LogicError(f"register_host_memory: ary: expected an ndarray, got {ary!r}")
    if not (ary.flags.c_contiguous or ary.flags.f_contiguous):
        raise errors.LogicError(
            "register_host_memory: ary is not contiguous; numpy.ascontiguousarray() copies it"
        )
    address = ary.ctypes.data
    memory = core._registered(ary, address, max(ary.nbytes, 1), int(flags))
    owner, read_only = RegisteredHostMemory(ary, memory), not ary.flags.writeable
    del memory  # an exception that keeps this frame must not keep the page-lock
    return array_at(owner, address, ary.shape, ary.dtype, order_of(ary), read_only)


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
