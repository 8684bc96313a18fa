"""Memory pools: free blocks of device memory are held for reuse.

Pools have no locks: each step is a single operation of a list or dict, which is atomic in Python.
So the finalizer of a block, which may run in any thread at any time, never waits.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
import weakref
from collections import Counter
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, SupportsInt, TextIO, TypeVar, cast

from PyGPU._driver import host_arrays, host_memory
from PyGPU._driver import memory as _driver_memory
from PyGPU._runtime import core, docstrings, errors, extent, hooks, integer

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, HostArray, Int, Order, Shape

__all__ = [
    "DebugMemoryPool",
    "DeviceMemoryPool",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
]


@lru_cache(maxsize=1 << 12)
def _bin_number(size: int) -> int:
    if size == 0:
        return 0
    exponent = size.bit_length() - 1
    return 16 * exponent + (((size << 4) >> exponent) & 15)


def _alloc_size(bin: int) -> int:
    exponent, mantissa = divmod(bin, 16)
    if exponent < 4:
        return (16 + mantissa) >> (4 - exponent)
    return ((17 + mantissa) << (exponent - 4)) - 1


class PooledAllocation(_driver_memory.Unique):
    """A block of a pool; it returns to the pool with its last reference."""

    _number: int
    _end: core._Finalizer | None = None
    _size = 0

    def free(self) -> None:
        """Return the block to the pool now. Its users must not be used afterwards.

        :raises LogicError: If the block was freed before.
        """
        if self._end is None or not self._end.run():
            name = type(self).__name__
            raise errors.LogicError(
                f"{name}.free failed: invalid argument - the memory was freed before"
            )

    def __len__(self) -> int:
        return self._size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        name, end = type(self).__name__, self._end
        if end is None:
            return f"<{name}, not initialized>"
        returned = ", returned to its pool" if end.is_over else ""
        return f"<{name} of {self._size} bytes at {int(cast(SupportsInt, self)):#x}{returned}>"


class PooledDeviceAllocation(PooledAllocation, int):
    """A block of a DeviceMemoryPool: an int, its address, that owns the memory.

    >>> from PyGPU.tools import DeviceMemoryPool
    >>> pool = DeviceMemoryPool()
    >>> block = pool.allocate(100)
    >>> len(block), pool.active_blocks
    (100, 1)
    >>> block.free()
    >>> pool.active_blocks, pool.held_blocks
    (0, 1)
    """


_B = TypeVar("_B", bound=PooledAllocation)


class _HeldBlocks:
    """Blocks that a pool holds on one device."""

    def __init__(self, here: int) -> None:
        self.here = here  # device and reset count: cudaDeviceReset frees the memory
        self.bins: dict[int, list[Any]] = {}  # {bin number: free memory}


_numbers = itertools.count()
_pools: weakref.WeakValueDictionary[int, Pool] = weakref.WeakValueDictionary()


def _bins(device: int) -> list[tuple[int, list[Any]]]:
    """Return [(bin number, free memory)] of all pools on a device, or of page-locked ones (-1)."""
    found = []
    for pool in [reference() for reference in _pools.valuerefs()]:
        if pool is None or pool._is_page_locked != (device < 0):
            continue
        for ordinal, blocks in list(pool._held.items()):
            is_alive = blocks.here == core._device_epoch(ordinal) << 8 | ordinal
            if is_alive and (ordinal == device or pool._is_page_locked):
                found += list(blocks.bins.items())
    return found


def _release_largest(device: int) -> bool:
    """Release one of the largest free blocks of `_bins(device)`; return False if there is none."""
    for _, held in sorted(_bins(device), key=lambda bin: bin[0], reverse=True):
        with contextlib.suppress(IndexError):
            held.pop()
            return True
    return False


hooks.reclaimers.append(_release_largest)


class Pool(_driver_memory.Unique):
    """Common part of both kinds of pool; subclasses allocate the memory."""

    _is_page_locked = False

    def __init__(self) -> None:
        _pools[next(_numbers)] = self
        self._held: dict[int, _HeldBlocks] = {}  # by device
        # Blocks share these two with the pool, so that they need not keep the pool alive.
        self._active: dict[int, int] = {}  # {number of a block: bytes that were requested}
        self._holds = [True]  # empty: returned blocks are freed

    def _take(self, nbytes: int) -> Any:
        """Allocate memory that frees itself, or raise MemoryError."""
        raise NotImplementedError

    def _memory(self, size: int) -> tuple[Any, list[Any]]:
        """Return (memory for `size` bytes, the list that it returns to)."""
        here = core._current_device_key()
        device = here & 0xFF
        blocks = self._held.get(device)
        if blocks is None or blocks.here != here:
            blocks = self._held[device] = _HeldBlocks(here)
        number = _bin_number(size)
        held = blocks.bins.get(number)
        if held is None:
            held = blocks.bins.setdefault(number, [])
        try:
            return held.pop(), held
        except IndexError:
            return self._new_memory(_alloc_size(number)), held

    def _lend(self, block: _B, memory: Any, held: list[Any], size: int) -> _B:
        number, active = next(_numbers), self._active
        block._number, block._size = number, size
        # An interrupt anywhere here drops the finalizer, which returns the block.
        block._end = core._Finalizer(
            partial(core._return_block, active, number, memory, held, self._holds)
        )
        active[number] = size
        return block

    def _new_memory(self, nbytes: int) -> Any:
        while True:
            try:
                return self._take(nbytes)
            except errors.MemoryError:  # a user's allocator does not release what pools hold
                gc.collect()
                if not _release_largest(
                    -1 if self._is_page_locked else core._current_device_key() & 0xFF
                ):
                    raise

    def _all_held(self) -> list[tuple[int, list[Any]]]:
        """Return [(bin number, free memory)] of all devices."""
        return [pair for blocks in list(self._held.values()) for pair in list(blocks.bins.items())]

    def __repr__(self) -> str:
        name = type(self).__name__
        if "_holds" not in self.__dict__:
            return f"<{name}, not initialized>"
        return (
            f"<{name}: {self.active_blocks} blocks of {self.active_bytes} bytes in use, "
            f"{self.held_blocks} free blocks held, {self.managed_bytes} bytes in all>"
        )

    @staticmethod
    def bin_number(size: Int) -> int:
        """Return the bin of a size; sizes with the same five highest bits share a bin.

        :param size: Size in bytes.
        :returns: Number of the bin.
        """
        return _bin_number(extent("size", size))

    @staticmethod
    def alloc_size(bin: Int) -> int:
        """Return the size of the blocks of a bin, the largest size that the bin serves.

        :param bin: Number of the bin.
        :returns: Size in bytes.
        """
        return _alloc_size(extent("bin", bin))

    @property
    def held_blocks(self) -> int:
        """Number of free blocks that the pool holds."""
        return sum(len(held) for _, held in self._all_held())

    @property
    def active_blocks(self) -> int:
        """Number of blocks in use."""
        return len(self._active)

    @property
    def active_bytes(self) -> int:
        """Requested bytes of the blocks in use."""
        return sum(list(self._active.values()))

    @property
    def managed_bytes(self) -> int:
        """Bytes of all blocks, free or in use."""
        sizes = [_alloc_size(_bin_number(size)) for size in list(self._active.values())]
        return sum(sizes) + sum(
            _alloc_size(number) * len(held) for number, held in self._all_held()
        )

    def free_held(self) -> None:
        """Release the memory of the free blocks."""
        for _, held in self._all_held():
            held.clear()

    def stop_holding(self) -> None:
        """Release the memory of the free blocks, and of all blocks that return from now on."""
        self._holds.clear()
        self.free_held()


class DeviceMemoryPool(Pool):
    """Pool of device memory; ``allocator=pool.allocate`` makes arrays that use it.

    A block serves all sizes with the same five highest bits, so at most a sixteenth is unused. The
    pool reuses returned blocks at once, without waiting for pending work. That is safe if the old
    and the new work are on one stream. It is also safe between the null stream and a blocking
    stream (``Stream()``). Other work must be done before its memory is freed. Threads may share a
    pool. Each device has its own blocks.

    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU.tools import DeviceMemoryPool
    >>> pool = DeviceMemoryPool()
    >>> a = gpuarray.zeros(4, "float32", allocator=pool.allocate)
    >>> pool.active_bytes
    16
    """

    def allocate(self, size: Int) -> PooledDeviceAllocation:
        """Return a block of memory.

        :param size: Size in bytes, 0 or more.
        :returns: Owner of the block.
        :raises MemoryError: If the device has too little memory, also after a garbage collection
            and after the release of all free blocks, the largest first.
        :raises TypeError, OverflowError: If `size` is not a size.
        """
        if type(size) is not int or size < 0:
            size = extent("size", size)
        memory, held = self._memory(size)
        return self._lend(PooledDeviceAllocation(memory), memory, held, size)

    def _take(self, nbytes: int) -> Any:
        return _driver_memory.mem_alloc(nbytes)


def held_bytes(device: int) -> int:
    """Return the bytes of the free blocks that all pools of device memory hold on a device."""
    return sum(_alloc_size(number) * len(held) for number, held in _bins(device))


class DebugMemoryPool(DeviceMemoryPool):
    """A DeviceMemoryPool that logs each allocation and the blocks in use.

    The log groups the blocks by size and by the function that allocated them.

    :param interactive: Wait for the Enter key after each allocation, if the input is a terminal.
    :param file logfile: Text file for the log; sys.stdout by default.

    >>> import io
    >>> from PyGPU.tools import DebugMemoryPool
    >>> log = io.StringIO()
    >>> block = DebugMemoryPool(interactive=False, logfile=log).allocate(100)
    >>> log.getvalue().startswith("allocated 100 bytes in")
    True
    """

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__()
        self.interactive = interactive
        self.logfile = sys.stdout if logfile is None else logfile
        self._callers: dict[int, tuple[int, str]] = {}  # {number of a block: (bytes, caller)}

    def allocate(self, size: Int) -> PooledDeviceAllocation:
        """Return a block of memory and log it.

        :param size: Size in bytes, 0 or more.
        :returns: Owner of the block.
        """
        block = super().allocate(size)
        import traceback  # takes as long to load as the rest of this module

        frame = traceback.extract_stack(limit=2)[0]
        caller = f"{frame.name} ({frame.filename}:{frame.lineno})"
        active = self._active
        in_use = {key: entry for key, entry in self._callers.items() if key in active}
        in_use[block._number] = len(block), caller
        self._callers = in_use
        print(f"allocated {len(block)} bytes in {caller}; in use:", file=self.logfile)
        for (nbytes, function), count in sorted(Counter(in_use.values()).items()):
            print(f"  {count} x {nbytes} bytes of {function}", file=self.logfile)
        if self.interactive and sys.stdin is not None and sys.stdin.isatty():
            input("Press Enter to continue ")
        return block


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


def bitlog2(n: Int) -> int:
    """Return the position of the highest bit that is set.

    :param n: Number, 0 or more.
    :returns: floor(log2(n)), and 0 for 0.

    >>> from PyGPU.tools import bitlog2
    >>> bitlog2(1000)
    9
    """
    return max(integer("n", n).bit_length() - 1, 0)


docstrings.complete(__name__)
