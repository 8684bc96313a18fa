"""Statistics of the memory that PyGPU holds on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PyGPU._driver import pools
from PyGPU._driver.device import Device
from PyGPU._runtime import core, docstrings, errors, state

if TYPE_CHECKING:
    from PyGPU._types import Int

__all__ = ["MemoryStats", "memory_stats"]


class MemoryStats(NamedTuple):
    """Numbers of bytes on a device, from :func:`memory_stats`.

    Parameters
    ----------
    device : int
        Ordinal of the device.
    total : int
        Size of the device's memory.
    free : int
        Free memory of the device, after what all processes hold.
    in_use : int
        Memory of live arrays and allocations: ``pool_used - cached + plain_used - held``.
    reserved : int
        Memory that PyGPU holds, in use or kept for reuse: ``pool_reserved + plain_used``.
    pool_used : int
        Memory allocated from PyGPU's stream-ordered pool, which arrays use by default.
    pool_peak : int
        Largest `pool_used` so far.
    pool_reserved : int
        Memory that the pool holds from the device.
    pool_reserved_peak : int
        Largest `pool_reserved` so far.
    cached : int
        Part of `pool_used` whose arrays are gone: blocks kept for the next arrays of their size.
    plain_used : int
        Memory of ``cudaMalloc``: of ``driver.mem_alloc``, of the pools of ``PyGPU.tools``, of
        graphs, and of managed memory. Memory that programs allocate by the low level is not
        counted.
    plain_peak : int
        Largest `plain_used` so far.
    held : int
        Part of `plain_used` that the pools of ``PyGPU.tools`` hold as free blocks.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.diagnostics import MemoryStats
    >>> stats = PyGPU.memory_stats()
    >>> isinstance(stats, MemoryStats), stats.in_use <= stats.reserved <= stats.total
    (True, True)
    """

    device: int
    total: int
    free: int
    in_use: int
    reserved: int
    pool_used: int
    pool_peak: int
    pool_reserved: int
    pool_reserved_peak: int
    cached: int
    plain_used: int
    plain_peak: int
    held: int


def memory_stats(device: Int | Device | None = None, *, reset_peaks: bool = False) -> MemoryStats:
    """Return the memory that PyGPU holds on a device.

    The call does not wait for the device, and may be made during a capture.

    :param device: The device; the current device by default.
    :param reset_peaks: Begin the peaks anew from the present use, after they are read.
    :returns: Numbers of bytes: in use, reserved, peaks, and what pools keep for reuse.
    :raises LogicError: If there is no such device.

    >>> import PyGPU
    >>> before = PyGPU.memory_stats().in_use
    >>> a = PyGPU.gpuarray.zeros(1 << 20, "uint8")
    >>> PyGPU.memory_stats().in_use - before
    1048576

    All devices of the process, each of which is initialized by the call:

    >>> import PyGPU.driver as drv
    >>> everywhere = [PyGPU.memory_stats(n) for n in range(drv.Device.count())]
    """
    ordinal = state.current_device() if device is None else int(Device(device))
    free, total, *pool, cached, plain_used, plain_peak = errors.check(
        core._memory_stats(ordinal, bool(reset_peaks)), "memory_stats"
    )
    used, peak, reserved, reserved_peak = pool
    held = min(pools.held_bytes(ordinal), plain_used)
    return MemoryStats(
        device=ordinal,
        total=total,
        free=free,
        in_use=used - cached + plain_used - held,
        reserved=reserved + plain_used,
        pool_used=used,
        pool_peak=peak,
        pool_reserved=reserved,
        pool_reserved_peak=reserved_peak,
        cached=cached,
        plain_used=plain_used,
        plain_peak=plain_peak,
        held=held,
    )


docstrings.complete(__name__)
