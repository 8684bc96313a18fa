"""Memory pools: blocks of device or page-locked memory that are kept for reuse.

No pool has a lock: each step is one operation of a list or a dict, which Python does whole. So the
finalizer of a block, which may run in any thread at any time, never waits.
"""

from __future__ import annotations

import gc
import itertools
import sys
import traceback
from collections import Counter
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, SupportsInt, TextIO, TypeVar, cast

from PyGPU._driver import host_arrays, host_memory
from PyGPU._driver import memory as _driver_memory
from PyGPU._runtime import core, errors, extent, integer

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


class _PooledAllocation(_driver_memory.Unique):
    """A block of a pool's. It goes back to the pool with the last reference."""

    _number: int
    _end: core._AtEnd | None = None
    _size = 0

    def free(self) -> None:
        """Give it back to the pool now. What uses it must not be used again.

        Raises
        ------
        LogicError
            Where that was done before.
        """
        give_back = self._end.take() if self._end else None
        if give_back is None:
            name = type(self).__name__
            raise errors.LogicError(f"{name}.free failed: invalid argument - it was freed before")
        give_back()

    def __len__(self) -> int:
        return self._size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._size} bytes at {int(cast(SupportsInt, self)):#x}>"


class PooledDeviceAllocation(_PooledAllocation, int):
    """A block of a DeviceMemoryPool: its address, which serves wherever a device pointer does."""


class PooledHostAllocation(_PooledAllocation, host_memory.HostPointer):
    """A block of a PageLockedMemoryPool: the ``base`` of an array."""

    def __init__(self, address: SupportsInt) -> None:
        self._address = int(address)


_B = TypeVar("_B", bound=_PooledAllocation)


class _Place:
    """What a pool holds on a device."""

    def __init__(self, here: int) -> None:
        self.here = here  # another number after cudaDeviceReset, with which the memory goes
        self.bins: dict[int, list[Any]] = {}  # bin number -> memory


_numbers = itertools.count()


class _Pool(_driver_memory.Unique):
    """What both kinds of pool share. Subclasses say how memory is taken."""

    def __init__(self) -> None:
        self._places: dict[int, _Place] = {}  # by device
        # What blocks have of the pool, which they need not keep.
        self._active: dict[int, int] = {}  # number of a block -> the bytes that were asked for
        self._holds = [True]  # empty: blocks that come back are freed

    def _take(self, nbytes: int) -> Any:
        """New memory, which frees itself; or a MemoryError."""
        raise NotImplementedError

    def _has_room(self, nbytes: int) -> bool:
        """False where _take would fail for sure."""
        return True

    def _memory(self, size: int) -> tuple[Any, list[Any]]:
        """(memory for `size` bytes, the list that it goes back to)"""
        here = core._here()
        device = here & 0xFF
        place = self._places.get(device)
        if place is None or place.here != here:
            place = self._places[device] = _Place(here)
        number = _bin_number(size)
        held = place.bins.get(number)
        if held is None:
            held = place.bins.setdefault(number, [])
        try:
            return held.pop(), held
        except IndexError:
            return self._new_memory(place, held, _alloc_size(number)), held

    def _lend(self, block: _B, memory: Any, held: list[Any], size: int) -> _B:
        number, active = next(_numbers), self._active
        block._number, block._size = number, size
        active[number] = size
        block._end = core._AtEnd(
            partial(core._take_back, active, number, memory, held, self._holds)
        )
        return block

    def _new_memory(self, place: _Place, held: list[Any], nbytes: int) -> Any:
        try:
            return self._take(nbytes)
        except errors.MemoryError:
            core.cudaGetLastError()
            gc.collect()
        while True:
            try:
                return held.pop()
            except IndexError:
                freed = _free_largest(place)
            if freed and not self._has_room(nbytes):
                continue
            try:
                return self._take(nbytes)
            except errors.MemoryError:
                if not freed:
                    raise

    def _all_held(self) -> list[tuple[int, list[Any]]]:
        """[(bin number, memory held)]"""
        return [pair for place in list(self._places.values()) for pair in list(place.bins.items())]

    @staticmethod
    def bin_number(size: Int) -> int:
        """The bin of blocks that serve `size` bytes: sizes that share their highest five bits."""
        return _bin_number(extent("size", size))

    @staticmethod
    def alloc_size(bin: Int) -> int:
        """The bytes of a block of that bin: what its largest size needs."""
        return _alloc_size(extent("bin", bin))

    @property
    def held_blocks(self) -> int:
        """Blocks that wait for reuse."""
        return sum(len(held) for _, held in self._all_held())

    @property
    def active_blocks(self) -> int:
        """Blocks in use."""
        return len(self._active)

    @property
    def active_bytes(self) -> int:
        """Bytes that were asked for, of the blocks in use."""
        return sum(list(self._active.values()))

    @property
    def managed_bytes(self) -> int:
        """Bytes of all blocks, held or in use."""
        sizes = [_alloc_size(_bin_number(size)) for size in list(self._active.values())]
        return sum(sizes) + sum(
            _alloc_size(number) * len(held) for number, held in self._all_held()
        )

    def free_held(self) -> None:
        """Free the blocks that wait for reuse."""
        for _, held in self._all_held():
            held.clear()

    def stop_holding(self) -> None:
        """Free the blocks that wait for reuse, and from now on all that come back."""
        self._holds.clear()
        self.free_held()


def _free_largest(place: _Place) -> bool:
    """Free one block of the largest that are held. False where none is."""
    for number in sorted(place.bins, reverse=True):
        try:
            place.bins[number].pop()
        except IndexError:
            continue
        return True
    return False


class DeviceMemoryPool(_Pool):
    """Device memory that is kept for reuse: ``allocator=pool.allocate`` makes arrays of it.

    A block serves for sizes that share their highest five bits, so at most a sixteenth is lost.
    Returned blocks are reused at once, without waiting for work that may still use them: safe where
    that work and what comes next are queued on one stream, or on the null stream and one that is
    ordered with it (``Stream()``). Other work must have ended before its memory is let go. Threads
    may share a pool. Each device has blocks of its own.
    """

    def allocate(self, size: Int) -> PooledDeviceAllocation:
        """A block of at least `size` bytes, also of none.

        Returns
        -------
        PooledDeviceAllocation

        Raises
        ------
        MemoryError
            After garbage was collected and all blocks that wait for reuse were freed, the largest
            first.
        TypeError, OverflowError
            For what is no size.
        """
        if type(size) is not int or size < 0:
            size = extent("size", size)
        memory, held = self._memory(size)
        return self._lend(PooledDeviceAllocation(memory), memory, held, size)

    def _take(self, nbytes: int) -> Any:
        return _driver_memory.mem_alloc(nbytes)

    def _has_room(self, nbytes: int) -> bool:  # mem_alloc collects garbage each time that it fails
        address, status = core.cudaMalloc(nbytes)
        if status:
            core.cudaGetLastError()
            return False
        errors.check(core._beside_captures(core.cudaFree, address), "cudaFree")
        return True


class PageLockedAllocator:
    """How a PageLockedMemoryPool takes memory.

    Parameters
    ----------
    flags : int
        Of ``host_alloc_flags``.
    """

    def __init__(self, flags: Int = 0) -> None:
        self._flags = integer("flags", flags)

    def allocate(self, size: int) -> host_memory.PagelockedHostAllocation:
        """Page-locked memory, freed with the object that is returned."""
        address = errors.check(core.cudaHostAlloc(size, self._flags), "cudaHostAlloc")
        return host_memory.PagelockedHostAllocation(address)


class PageLockedMemoryPool(_Pool):
    """Page-locked host memory that is kept for reuse, as by :class:`DeviceMemoryPool`. Copies from
    and to an array must have ended before it is let go.

    Parameters
    ----------
    allocator : PageLockedAllocator, optional
    """

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None:
        super().__init__()
        if not isinstance(allocator, (PageLockedAllocator, type(None))):
            raise TypeError(f"allocator: expected a PageLockedAllocator, got {allocator!r}")
        self._allocator = allocator or PageLockedAllocator()

    def allocate(self, shape: Shape, dtype: DTypeLike, order: Order = "C") -> HostArray:
        """An uninitialised ndarray, whose ``base`` is a PooledHostAllocation.

        Parameters
        ----------
        shape : int or sequence of int
        dtype : numpy.dtype or what makes one
        order : {"C", "F"}
        """
        shape, dtype, nbytes = host_arrays.bytes_of(shape, dtype)
        if order not in ("C", "F"):
            raise errors.RuntimeError(f"order={order!r}: expected 'C' or 'F'")
        memory, held = self._memory(_driver_memory.in_memory("nbytes", nbytes))
        block = self._lend(PooledHostAllocation(memory), memory, held, nbytes)
        return host_arrays.array_at(block, int(block), shape, dtype, order)

    def _take(self, nbytes: int) -> Any:
        return self._allocator.allocate(nbytes)


class DebugMemoryPool(DeviceMemoryPool):
    """A DeviceMemoryPool that tells of each allocation, and how many blocks of which size, taken in
    which function, are in use then.

    Parameters
    ----------
    interactive : bool
        Wait for the Enter key after each, where a person is at the terminal.
    logfile : file, optional
        sys.stdout by default.
    """

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__()
        self.interactive = interactive
        self.logfile = sys.stdout if logfile is None else logfile
        self._takers: dict[int, tuple[int, str]] = {}  # number of a block -> (bytes, who)

    def allocate(self, size: Int) -> PooledDeviceAllocation:
        block = super().allocate(size)
        caller = traceback.extract_stack(limit=2)[0]
        who = f"{caller.name} ({caller.filename}:{caller.lineno})"
        active = self._active
        in_use = {key: taker for key, taker in self._takers.items() if key in active}
        in_use[block._number] = len(block), who
        self._takers = in_use
        print(f"allocated {len(block)} bytes in {who}; in use:", file=self.logfile)
        for (nbytes, place), count in sorted(Counter(in_use.values()).items()):
            print(f"  {count} x {nbytes} bytes of {place}", file=self.logfile)
        if self.interactive and sys.stdin is not None and sys.stdin.isatty():
            input("Enter to go on ")
        return block
