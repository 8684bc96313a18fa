"""Device memory with PyCUDA's functions: allocations, pointer holders, memory of processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, SupportsIndex, SupportsInt

from PyGPU._driver import enums
from PyGPU._runtime import core, docstrings, errors, extent, integer

if TYPE_CHECKING:
    from PyGPU._types import (
        Address,
        HasNbytes,
        Int,
    )

__all__ = [
    "DeviceAllocation",
    "IPCMemoryHandle",
    "PointerHolderBase",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "mem_get_info",
    "mem_get_ipc_handle",
]

DeviceAllocation = core.DeviceAllocation


def in_memory(name: str, value: Int) -> int:
    """Return a size in bytes as an int. Raise MemoryError if it exceeds any memory."""
    number = integer(name, value)
    if number >= 1 << 62:
        detail = f"{number} bytes were requested"
        raise errors.exception_of("mem_alloc", core.cudaError_t(2, detail))
    return extent(name, number)


def _positive(name: str, value: Int) -> int:
    number = in_memory(name, value)
    if number == 0:
        raise errors.LogicError(
            f"mem_alloc failed: invalid argument - {name}=0: expected 1 or more"
        )
    return number


def mem_get_info() -> tuple[int, int]:
    """Return the free and the total memory of the current device.

    :returns: (free, total), in bytes.

    >>> free, total = drv.mem_get_info()
    >>> 0 < free <= total
    True
    """
    return errors.check(core.cudaMemGetInfo(), "cudaMemGetInfo")


def mem_alloc(bytes: Int) -> DeviceAllocation:
    """Allocate device memory. It is freed when the returned object is deleted.

    :param bytes: Size in bytes.
    :returns: Owner of the memory; ``int()`` is its address.
    :raises MemoryError: If the device has too little memory, also after a garbage collection.
    :raises LogicError: If `bytes` is 0.

    >>> memory = drv.mem_alloc(8)
    >>> drv.memcpy_htod(memory, np.array([1, 2], np.int32))
    >>> drv.from_device(memory, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    is_usual = type(bytes) is int and 0 < bytes < 1 << 62
    return core._mem_alloc(bytes if is_usual else _positive("bytes", bytes))


def mem_alloc_like(ary: HasNbytes) -> DeviceAllocation:
    """Allocate device memory as large as an array.

    :param numpy.ndarray or GPUArray ary: Array whose ``nbytes`` is the size.
    :returns: Owner of the memory.

    >>> memory = drv.mem_alloc_like(np.zeros(4, np.float32))
    >>> drv.mem_get_address_range(memory)[1] >= 16
    True
    """
    return mem_alloc(ary.nbytes)


class _Address:
    """Base of objects that convert to an address."""

    _address: int

    def __int__(self) -> int:
        return self._address

    def _is_released(self) -> bool:
        return False

    def __repr__(self) -> str:
        name = type(self).__name__
        if "_address" not in self.__dict__:
            return f"<{name}, not initialized>"
        return f"<{name} at {self._address:#x}{', released' if self._is_released() else ''}>"

    __index__ = __int__


class Unique:
    """Handle to an external resource; copying it would release the resource twice."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"cannot copy or pickle {type(self).__name__!r} object")


class _Owned(Unique, _Address):
    """Memory that is released once: by a method, or else when the object is deleted."""

    _memory: core._MemoryOwner | None = None

    def __init__(self, memory: core._MemoryOwner) -> None:
        self._memory, self._address = memory, memory.address

    def _is_released(self) -> bool:
        return self._memory is None or not self._memory.address

    def _close(self, call: str) -> None:
        if self._memory is None or not self._memory.close():
            raise errors.LogicError(
                f"{call} failed: invalid argument - the memory was released before"
            )


_PITCH = 512  # bytes: the largest row alignment that any device prefers


def mem_alloc_pitch(width: Int, height: Int, access_size: int = 4) -> tuple[DeviceAllocation, int]:
    """Allocate device memory for rows, each at an aligned address.

    :param width: Bytes of a row.
    :param height: Number of rows.
    :param {4, 8, 16} access_size: Bytes that a thread accesses at once. The pitch is the same for
        each size.
    :returns tuple: (DeviceAllocation, pitch). The pitch is the distance from a row to the next one
        in bytes.
    :raises MemoryError: If the device has too little memory.
    :raises LogicError: If `width` or `height` is 0, or if `access_size` is not 4, 8 or 16.

    >>> memory, pitch = drv.mem_alloc_pitch(100, 4)
    >>> pitch
    512
    """
    if access_size not in (4, 8, 16):
        raise errors.LogicError(
            f"mem_alloc_pitch failed: access_size={access_size}: expected 4, 8 or 16"
        )
    pitch = -(-_positive("width", width) // _PITCH) * _PITCH
    return mem_alloc(pitch * _positive("height", height)), pitch


def mem_get_address_range(ptr: Address) -> tuple[int, int]:
    """Return the start and the size of the allocation that contains an address.

    :param ptr: Address anywhere in the allocation.
    :returns: (start address, size in bytes).
    :raises LogicError: If no allocation contains the address.

    >>> memory = drv.mem_alloc(1024)
    >>> drv.mem_get_address_range(int(memory) + 100) == (int(memory), 1024)
    True
    """
    return errors.check(core._address_range(ptr), "cuMemGetAddressRange")


def as_buffer(memory: SupportsInt, size: Int, offset: Int = 0) -> memoryview:
    """Return the bytes at a device address as a writable memoryview, which keeps `memory` alive.

    The host may access the bytes only if the memory is managed. A GPU-aware MPI accepts the buffer
    of any device memory.
    """
    return core._as_buffer(memory, extent("size", size), integer("offset", offset))


class PointerHolderBase:
    """Base class of user-defined owners of device memory.

    A subclass defines ``get_pointer()``. Its instances are accepted wherever a device address is
    expected.

    >>> class Second(drv.PointerHolderBase):
    ...     def __init__(self, memory):
    ...         super().__init__()
    ...         self.memory = memory
    ...
    ...     def get_pointer(self):
    ...         return int(self.memory) + 4
    >>> memory = drv.to_device(np.array([1, 2], np.int32))
    >>> drv.from_device(Second(memory), 1, np.int32)
    array([2], dtype=int32)
    """

    def get_pointer(self) -> int:
        """Return the device address; a subclass must override this method.

        :returns: The address.
        """
        raise RuntimeError("PointerHolderBase.get_pointer: a subclass must override this method")

    def as_buffer(self, size: Int, offset: Int = 0) -> memoryview:
        """Return the bytes at the address as a buffer, for a GPU-aware MPI or for managed memory.

        :param size: Size of the buffer in bytes.
        :param offset: Distance in bytes from the address to the buffer.
        :returns: A writable buffer, which keeps this object alive.
        """
        return as_buffer(self, size, offset)

    def __int__(self) -> int:
        return int(self.get_pointer())

    __index__ = __int__


class IPCMemoryHandle(_Owned):
    """Device memory of another process, opened by a handle from :func:`mem_get_ipc_handle`.

    :param bytes-like ipc_handle: Handle of 64 bytes, from the other process.
    :param flags: Combination of ``ipc_mem_flags``.
    :raises LogicError: If the handle has another length, is unknown or belongs to this process.

    >>> drv.IPCMemoryHandle(b"short")
    Traceback (most recent call last):
        ...
    PyGPU.errors.LogicError: ipc_handle: expected 64 bytes, got 5
    """

    def __init__(
        self,
        ipc_handle: bytes | bytearray,
        flags: Int = enums.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS,
    ) -> None:
        if not isinstance(ipc_handle, (bytes, bytearray)):
            raise TypeError(f"ipc_handle: expected bytes, got {ipc_handle!r}")
        if len(ipc_handle) != 64:
            raise errors.LogicError(f"ipc_handle: expected 64 bytes, got {len(ipc_handle)}")
        super().__init__(core._opened(bytes(ipc_handle), int(flags)))

    def close(self) -> None:
        """Close the handle now. The memory must not be used afterwards.

        :raises LogicError: If the handle was closed before.
        """
        self._close("IPCMemoryHandle.close")


def mem_get_ipc_handle(devptr: Address) -> bytearray:
    """Return a handle by which another process can open device memory.

    :param devptr: Start of an allocation.
    :returns: Handle of 64 bytes, for :class:`IPCMemoryHandle` in the other process.

    Examples
    --------
    On the target ``host``, allocations of 2 MiB and more can be shared.

    >>> import PyGPU.driver as drv
    >>> len(drv.mem_get_ipc_handle(drv.mem_alloc(2 << 20)))
    64
    """
    return bytearray(errors.check(core.cudaIpcGetMemHandle(devptr), "cudaIpcGetMemHandle"))


docstrings.complete(__name__)
