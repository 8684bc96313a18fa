"""Device memory with PyCUDA's functions: allocations, holders of pointers, memory of other
processes; and the owners of host memory that the device may reach."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NoReturn, SupportsIndex, SupportsInt

from PyGPU._driver import enums
from PyGPU._runtime import core, errors, extent, integer

if TYPE_CHECKING:
    from PyGPU._types import (
        Address,
        HasNbytes,
        HostArray,
        Int,
        StreamLike,
    )

__all__ = [
    "AlignedHostAllocation",
    "DeviceAllocation",
    "HostAllocation",
    "HostPointer",
    "IPCMemoryHandle",
    "ManagedAllocation",
    "ManagedAllocationOrStub",
    "PagelockedHostAllocation",
    "PointerHolderBase",
    "RegisteredHostMemory",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "mem_get_info",
    "mem_get_ipc_handle",
]

DeviceAllocation = core.DeviceAllocation


def in_memory(name: str, value: Int) -> int:
    """A size; one that no memory holds is out of memory, not out of range."""
    number = integer(name, value)
    if number >= 1 << 62:
        detail = f"{number} bytes were asked for"
        raise errors.exception_of("mem_alloc", core.cudaError_t(2, detail))
    return extent(name, number)


def _positive(name: str, value: Int) -> int:
    number = in_memory(name, value)
    if number == 0:
        raise errors.LogicError(f"mem_alloc failed: invalid argument - {name} is 0")
    return number


def mem_get_info() -> tuple[int, int]:
    """(free, total) bytes of the current device."""
    return errors.check(core.cudaMemGetInfo(), "cudaMemGetInfo")


def mem_alloc(bytes: Int) -> DeviceAllocation:
    """Device memory, freed with the object that is returned.

    Raises
    ------
    MemoryError
        After garbage was collected and one more try.
    LogicError
        For 0 bytes.
    """
    return core._mem_alloc(_positive("bytes", bytes))


def mem_alloc_like(ary: HasNbytes) -> DeviceAllocation:
    """Device memory of `ary.nbytes` bytes."""
    return mem_alloc(ary.nbytes)


class _Address:
    """What stands for an address."""

    _address: int

    def __int__(self) -> int:
        return self._address

    __index__ = __int__


class Unique:
    """What stands for something outside of Python, which copies would end twice."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"cannot copy or pickle {type(self).__name__!r} object")


def _let_go(
    release: Callable[[int], core.cudaError_t], call: str, address: int, device: int, epoch: int
) -> None:
    """Release what nobody has any more, unless cudaDeviceReset did."""
    if core._device_epoch(device) == epoch:
        status = core._beside_captures(release, address)
        if status:
            core._report_failed_release(call, status)


class _Owned(Unique, _Address):
    """An address that is released once: by a method, or with the object."""

    _release: Callable[[int], core.cudaError_t] = staticmethod(core.cudaFree)
    _call = "cudaFree"
    _end: core._AtEnd | None = None

    def __init__(self, address: int) -> None:
        device, status = core.cudaGetDevice()
        if status:
            self._release(address)  # nobody else would
            errors.check(status, "cudaGetDevice")
        self._address, self._device = address, device
        self._epoch = core._device_epoch(device)
        let_go = partial(_let_go, self._release, self._call, address, device, self._epoch)
        self._end = core._AtEnd(let_go)

    def _close(self, what: str) -> None:
        if self._end is None or self._end.take() is None:
            raise errors.LogicError(f"{what} failed: invalid argument - it was released before")
        if core._device_epoch(self._device) == self._epoch:
            errors.check(core._beside_captures(self._release, self._address), self._call)


_PITCH = 512  # bytes: rows begin where every device likes rows to begin


def mem_alloc_pitch(width: Int, height: Int, access_size: int = 4) -> tuple[DeviceAllocation, int]:
    """(memory, pitch in bytes) for `height` rows of `width` bytes."""
    if access_size not in (4, 8, 16):
        raise errors.LogicError(f"mem_alloc_pitch failed: access_size={access_size}: 4, 8 or 16")
    pitch = -(-_positive("width", width) // _PITCH) * _PITCH
    return mem_alloc(pitch * _positive("height", height)), pitch


def mem_get_address_range(ptr: Address) -> tuple[int, int]:
    """(start, bytes) of the allocation that an address lies in."""
    return errors.check(core._address_range(ptr), "cuMemGetAddressRange")


def as_buffer(memory: SupportsInt, size: Int, offset: Int = 0) -> memoryview:
    """The bytes at a device address as a writable memoryview, which keeps `memory`: for managed
    memory, which the host can reach, or for an MPI that knows device addresses."""
    return core._as_buffer(memory, extent("size", size), integer("offset", offset))


class PointerHolderBase:
    """For subclasses whose `get_pointer()` gives a device address: usable wherever one is."""

    def get_pointer(self) -> int:
        raise RuntimeError("PointerHolderBase.get_pointer: a subclass has to say where")

    def as_buffer(self, size: Int, offset: Int = 0) -> memoryview:
        return as_buffer(self, size, offset)

    def __int__(self) -> int:
        return int(self.get_pointer())

    __index__ = __int__


class IPCMemoryHandle(_Owned):
    """Another process's device memory, opened by the handle that mem_get_ipc_handle gave it."""

    _release = staticmethod(core.cudaIpcCloseMemHandle)
    _call = "cudaIpcCloseMemHandle"

    def __init__(
        self,
        ipc_handle: bytes | bytearray,
        flags: Int = enums.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS,
    ) -> None:
        if len(ipc_handle) != 64:
            raise errors.LogicError(
                f"cudaIpcOpenMemHandle failed: ipc_handle: expected 64 bytes, got {len(ipc_handle)}"
            )
        opened = core.cudaIpcOpenMemHandle(bytes(ipc_handle), int(flags))
        super().__init__(errors.check(opened, "cudaIpcOpenMemHandle"))

    def close(self) -> None:
        self._close("IPCMemoryHandle.close")


def mem_get_ipc_handle(devptr: Address) -> bytearray:
    """A handle (bytearray of 64) by which another process opens this memory."""
    return bytearray(errors.check(core.cudaIpcGetMemHandle(devptr), "cudaIpcGetMemHandle"))


class HostPointer(_Address):
    """Host memory that the device may reach."""

    def get_device_pointer(self) -> int:
        """Its address for the device (int)."""
        found = core.cudaHostGetDevicePointer(self._address)
        return errors.check(found, "cudaHostGetDevicePointer")


class PagelockedHostAllocation(_Owned, HostPointer):
    """The page-locked memory of an array."""

    _release = staticmethod(core.cudaFreeHost)
    _call = "cudaFreeHost"

    def free(self) -> None:
        """Free it now. The arrays on it must not be used again."""
        self._close("PagelockedHostAllocation.free")

    def get_flags(self) -> int:
        return errors.check(core.cudaHostGetFlags(self._address), "cudaHostGetFlags")


HostAllocation = PagelockedHostAllocation


class ManagedAllocation(DeviceAllocation):
    """The managed memory of an array: one address for host and device."""

    _is_managed_memory = True

    def get_device_pointer(self) -> int:
        return int(self)

    def free(self) -> None:
        """Free it now. The arrays on it must not be used again."""
        super().free()

    def as_buffer(self, size: Int, offset: Int = 0) -> memoryview:
        """The bytes, for the host, as a memoryview."""
        return as_buffer(self, size, offset)

    def attach(self, mem_flags: Int, stream: StreamLike = None) -> None:
        """Say who may touch it while `stream` works."""
        attached = core.cudaStreamAttachMemAsync(stream, int(self), 0, int(mem_flags))
        errors.check(attached, "cudaStreamAttachMemAsync")


ManagedAllocationOrStub = ManagedAllocation


class AlignedHostAllocation(HostPointer):
    """Pageable memory that begins at a multiple of an alignment."""

    _is_freed = False

    def __init__(self, block: HostArray, address: int) -> None:
        self._block = block
        self._address = address

    def free(self) -> None:
        """Say that it is no longer needed, once. It goes with this object, which the arrays on it
        hold: they stay what they are."""
        if self._is_freed:
            raise errors.LogicError("AlignedHostAllocation.free failed: it was freed before")
        self._is_freed = True


class RegisteredHostMemory(_Owned, HostPointer):
    """An array's memory, page-locked in place."""

    _release = staticmethod(core.cudaHostUnregister)
    _call = "cudaHostUnregister"

    def __init__(self, base: HostArray, address: int) -> None:
        super().__init__(address)
        self.base = base

    def unregister(self) -> None:
        self._close("RegisteredHostMemory.unregister")
