"""Owners of host memory that devices can access: the ``base`` of page-locked and managed arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver.memory import DeviceAllocation, _Address, _Owned, as_buffer
from PyGPU._runtime import core, docstrings, errors

if TYPE_CHECKING:
    from PyGPU._types import HostArray, Int, StreamLike

__all__ = [
    "AlignedHostAllocation",
    "HostAllocation",
    "HostPointer",
    "ManagedAllocation",
    "ManagedAllocationOrStub",
    "PagelockedHostAllocation",
    "RegisteredHostMemory",
]


class HostPointer(_Address):
    """Owner of host memory that the device may access: the ``base`` of an array.

    >>> isinstance(drv.pagelocked_empty(4, np.int8).base, drv.HostPointer)
    True
    """

    def get_device_pointer(self) -> int:
        """Return the address at which the device accesses the memory.

        :returns: The address.
        """
        found = core.cudaHostGetDevicePointer(self._address)
        return errors.check(found, "cudaHostGetDevicePointer")


class PagelockedHostAllocation(_Owned, HostPointer):
    """Owner of the page-locked memory of an array, which is the array's ``base``.

    Parameters
    ----------
    memory : object
        Private to PyGPU: pagelocked_empty makes it.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> type(drv.pagelocked_empty(4, np.int8).base).__name__
    'PagelockedHostAllocation'
    """

    def free(self) -> None:
        """Free the memory now. Its arrays must not be used afterwards.

        :raises LogicError: If the memory was freed before.
        """
        self._close("PagelockedHostAllocation.free")

    def get_flags(self) -> int:
        """Return the flags that the memory was allocated with.

        :returns: Combination of ``host_alloc_flags``.
        """
        return errors.check(core.cudaHostGetFlags(self._address), "cudaHostGetFlags")


HostAllocation = PagelockedHostAllocation


class ManagedAllocation(DeviceAllocation):
    """Owner of managed memory, which host and device access at the same address.

    >>> array = drv.managed_empty(4, np.int32)
    >>> array.base.get_device_pointer() == array.ctypes.data
    True
    """

    _is_managed_memory = True

    def get_device_pointer(self) -> int:
        """Return the address of the memory.

        :returns: The address, the same for host and device.
        """
        return int(self)

    def free(self) -> None:
        """Free the memory now. Its arrays must not be used afterwards."""
        super().free()

    def as_buffer(self, size: Int, offset: Int = 0) -> memoryview:
        """Return the bytes of the memory as a buffer.

        :param size: Size of the buffer in bytes.
        :param offset: Distance in bytes from the start of the memory to the buffer.
        :returns: A writable buffer, which keeps this object alive.
        """
        return as_buffer(self, size, offset)

    def attach(self, mem_flags: Int, stream: StreamLike = None) -> None:
        """Restrict the access to the memory while a stream has work.

        :param mem_flags: One of ``mem_attach_flags``.
        :param stream:
        """
        attached = core.cudaStreamAttachMemAsync(stream, int(self), 0, int(mem_flags))
        errors.check(attached, "cudaStreamAttachMemAsync")


ManagedAllocationOrStub = ManagedAllocation


class AlignedHostAllocation(HostPointer):
    """Owner of pageable memory at an aligned address: the ``base`` of an array.

    :param block: Memory that contains the aligned part.
    :param address: Start of the aligned part.

    >>> int(drv.aligned_empty(4, np.int8, alignment=64).base) % 64
    0
    """

    _is_freed = False

    def __init__(self, block: HostArray, address: int) -> None:
        self._block = block
        self._address = address

    def _is_released(self) -> bool:
        return self._is_freed

    def free(self) -> None:
        """Mark the memory as freed, once.

        The memory itself exists until its arrays are deleted, because they keep this object alive.

        :raises LogicError: If the memory was freed before.
        """
        if self._is_freed:
            raise errors.LogicError(
                "AlignedHostAllocation.free failed: the memory was freed before"
            )
        self._is_freed = True


class RegisteredHostMemory(_Owned, HostPointer):
    """Owner of a page-lock: the ``base`` of the array that register_host_memory returns.

    :param base: Array whose memory is page-locked.
    :param object memory: Private to PyGPU: register_host_memory makes it.

    >>> array = np.zeros(4, np.int32)
    >>> drv.register_host_memory(array).base.base is array
    True
    """

    def __init__(self, base: HostArray, memory: core._MemoryOwner) -> None:
        super().__init__(memory)
        self.base = base

    def unregister(self) -> None:
        """Make the memory pageable again now.

        :raises LogicError: If the memory was unregistered before.
        """
        self._close("RegisteredHostMemory.unregister")


docstrings.complete(__name__)
