"""Arrays in page-locked, managed, aligned and registered host memory, with PyCUDA's functions."""

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
from PyGPU._runtime import core, errors, extent, integer

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
    shape, dtype = _shape(shape), np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects, which have no meaning on a device")
    count = 1
    for length in shape:
        count *= length
    return shape, dtype, count * dtype.itemsize


def _new(take: Callable[[int], Any], shape: Shape, dtype: DTypeLike, order: Order) -> HostArray:
    """An array on the memory that `take(nbytes)` gives."""
    shape, dtype, nbytes = bytes_of(shape, dtype)
    if order not in ("C", "F"):
        raise errors.LogicError(f"order={order!r}: expected 'C' or 'F'")
    owner = take(in_memory("nbytes", max(nbytes, 1)))
    return array_at(owner, int(owner), shape, dtype, order)


def _description(dtype: DType) -> Any:
    """What array interfaces say of a dtype; of overlapping or unordered fields, only their size."""
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
    """An ndarray at an address, whose `.base` is `owner`."""
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
    if array.dtype != dtype:  # fields that no list of descriptions can say
        with warnings.catch_warnings():  # a view would have another .base
            warnings.simplefilter("ignore", DeprecationWarning)
            array.dtype = dtype  # type: ignore[misc]
    return array


def pagelocked_empty(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """An uninitialised array in page-locked memory, whose `.base` owns it."""

    def take(nbytes: int) -> PagelockedHostAllocation:
        address = errors.check(core.cudaHostAlloc(nbytes, int(mem_flags)), "cudaHostAlloc")
        return PagelockedHostAllocation(address)

    return _new(take, shape, dtype, order)


def managed_empty(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """An uninitialised array in managed memory. mem_flags: 0 is mem_attach_flags.GLOBAL."""
    flags = int(mem_flags) or 1

    def take(nbytes: int) -> ManagedAllocation:
        return core._managed_alloc(ManagedAllocation, nbytes, flags)

    return _new(take, shape, dtype, order)


def aligned_empty(
    shape: Shape, dtype: DTypeLike, order: Order = "C", alignment: Int = 4096
) -> HostArray:
    """An uninitialised array in pageable memory at a multiple of `alignment`, a power of two."""
    alignment = integer("alignment", alignment)
    if alignment <= 0 or alignment & (alignment - 1):
        raise errors.LogicError(f"alignment={alignment}: expected a power of two")

    def take(nbytes: int) -> AlignedHostAllocation:
        block = np.empty(nbytes + alignment, np.uint8)
        return AlignedHostAllocation(block, -(-block.ctypes.data // alignment) * alignment)

    return _new(take, shape, dtype, order)


def _zeroed(array: HostArray) -> HostArray:
    array[...] = np.zeros((), array.dtype)
    return array


def _order_of(array: HostArray) -> Order:
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("array: expected a C- or Fortran-contiguous array")


def pagelocked_zeros(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """pagelocked_empty, filled with zeros."""
    return _zeroed(pagelocked_empty(shape, dtype, order, mem_flags))


def pagelocked_empty_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    """pagelocked_empty of the shape, dtype and order of `array`."""
    return pagelocked_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def pagelocked_zeros_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    return _zeroed(pagelocked_empty_like(array, mem_flags))


def managed_zeros(
    shape: Shape, dtype: DTypeLike, order: Order = "C", mem_flags: Int = 0
) -> HostArray:
    """managed_empty, filled with zeros."""
    return _zeroed(managed_empty(shape, dtype, order, mem_flags))


def managed_empty_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    """managed_empty of the shape, dtype and order of `array`."""
    return managed_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def managed_zeros_like(array: HostArray, mem_flags: Int = 0) -> HostArray:
    return _zeroed(managed_empty_like(array, mem_flags))


def aligned_zeros(
    shape: Shape, dtype: DTypeLike, order: Order = "C", alignment: Int = 4096
) -> HostArray:
    """aligned_empty, filled with zeros."""
    return _zeroed(aligned_empty(shape, dtype, order, alignment))


def aligned_empty_like(array: HostArray, alignment: Int = 4096) -> HostArray:
    """aligned_empty of the shape, dtype and order of `array`."""
    return aligned_empty(array.shape, array.dtype, _order_of(array), alignment)


def aligned_zeros_like(array: HostArray, alignment: Int = 4096) -> HostArray:
    return _zeroed(aligned_empty_like(array, alignment))


def register_host_memory(ary: HostArray, flags: Int = 0) -> HostArray:
    """Page-lock an array's memory in place.

    Returns
    -------
    numpy.ndarray
        Sharing the memory; its `.base` unpins it when it goes, and has `ary` for a base.
    """
    if not isinstance(ary, np.ndarray):
        raise errors.LogicError(f"register_host_memory: ary: expected an ndarray, got {ary!r}")
    if not (ary.flags.c_contiguous or ary.flags.f_contiguous):
        raise errors.LogicError("register_host_memory: ary is not contiguous")
    address = ary.ctypes.data
    registered = core.cudaHostRegister(address, max(ary.nbytes, 1), int(flags))
    errors.check(registered, "cudaHostRegister")
    owner, read_only = RegisteredHostMemory(ary, address), not ary.flags.writeable
    return array_at(owner, address, ary.shape, ary.dtype, _order_of(ary), read_only)
