"""The memory pool of page-locked host memory, whose blocks are arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsInt

from PyGPU._driver import host_arrays, host_memory
from PyGPU._driver import memory as _driver_memory
from PyGPU._driver.pools import Pool, PooledAllocation
from PyGPU._runtime import core, docstrings, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, HostArray, Int, Order, Shape

__all__ = [
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledHostAllocation",
]


class PooledHostAllocation(PooledAllocation, host_memory.HostPointer):
    """A block of a PageLockedMemoryPool: the ``base`` of an array.

    :param int address: Address of the block.

    >>> from PyGPU.tools import PageLockedMemoryPool
    >>> array = PageLockedMemoryPool().allocate(4, "int32")
    >>> len(array.base)
    16
    """

    def __init__(self, address: SupportsInt) -> None:
        self._address = int(address)


class PageLockedAllocator:
    """Allocator of page-locked memory for a PageLockedMemoryPool.

    :param flags: Combination of ``host_alloc_flags``.

    >>> from PyGPU.tools import PageLockedAllocator, PageLockedMemoryPool
    >>> allocator = PageLockedAllocator(drv.host_alloc_flags.PORTABLE)
    >>> PageLockedMemoryPool(allocator).allocate(4, "int32").shape
    (4,)
    """

    def __init__(self, flags: Int = 0) -> None:
        self._flags = integer("flags", flags)

    def allocate(self, size: int) -> host_memory.PagelockedHostAllocation:
        """Allocate page-locked memory, which is freed with the returned object.

        :param size: Size in bytes.
        :returns: Owner of the memory.
        """
        return host_memory.PagelockedHostAllocation(core._page_locked(size, self._flags))


class PageLockedMemoryPool(Pool):
    """Pool of page-locked host memory, with the bins of :class:`DeviceMemoryPool`.

    Copies from and to an array must be done before the array is freed.

    :param allocator: Allocator of the blocks.

    >>> from PyGPU.tools import PageLockedMemoryPool
    >>> pool = PageLockedMemoryPool()
    >>> array = pool.allocate((2, 3), "float32")
    >>> array.shape, pool.active_bytes
    ((2, 3), 24)
    """

    _is_page_locked = True

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None:
        super().__init__()
        if not isinstance(allocator, (PageLockedAllocator, type(None))):
            raise TypeError(f"allocator: expected a PageLockedAllocator, got {allocator!r}")
        self._allocator = allocator or PageLockedAllocator()

    def allocate(self, shape: Shape, dtype: DTypeLike, order: Order = "C") -> HostArray:
        """Return an uninitialized array in page-locked memory.

        :param int or sequence of int shape:
        :param dtype, order:
        :returns: Its ``base`` is a PooledHostAllocation.
        """
        shape, dtype, nbytes = host_arrays.bytes_of(shape, dtype)
        if order not in ("C", "F"):
            raise errors.RuntimeError(f"order={order!r}: expected 'C' or 'F'")
        memory, held = self._memory(_driver_memory.in_memory("nbytes", nbytes))
        block = self._lend(PooledHostAllocation(memory), memory, held, nbytes)
        return host_arrays.array_at(block, int(block), shape, dtype, order)

    def _take(self, nbytes: int) -> Any:
        return self._allocator.allocate(nbytes)


docstrings.complete(__name__)
