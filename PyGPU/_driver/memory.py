"""Device and host memory with PyCUDA's functions: allocations, page-locked, managed and registered
arrays, holders of pointers, memory of other processes."""

import ctypes

import numpy as np

from PyGPU._driver import enums
from PyGPU._runtime import core, errors, extent, integer

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
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_get_address_range",
    "mem_get_info",
    "mem_get_ipc_handle",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "register_host_memory",
]

DeviceAllocation = core.DeviceAllocation


def _in_memory(name, value):
    """A size; one that no memory holds is out of memory, not out of range."""
    number = integer(name, value)
    if number >= 1 << 62:
        detail = f"{number} bytes were asked for"
        raise errors.exception_of("mem_alloc", core.cudaError_t(2, detail))
    return extent(name, number)


def _positive(name, value):
    number = _in_memory(name, value)
    if number == 0:
        raise errors.LogicError(f"mem_alloc failed: invalid argument - {name} is 0")
    return number


def mem_get_info():
    """(free, total) bytes of the current device."""
    return errors.check(core.cudaMemGetInfo(), "cudaMemGetInfo")


def mem_alloc(bytes):
    """Device memory, freed with the object that is returned.

    Raises
    ------
    MemoryError
        After garbage was collected and one more try.
    LogicError
        For 0 bytes.
    """
    return core._mem_alloc(_positive("bytes", bytes))


def mem_alloc_like(ary):
    """Device memory of `ary.nbytes` bytes."""
    return mem_alloc(ary.nbytes)


class _Owned:
    """An address that is released once: by a method, or with the object."""

    _release = staticmethod(core.cudaFree)
    _call = "cudaFree"
    _stands = False  # until there is something to release

    def __init__(self, address):
        self._address = address
        self._device = errors.check(core.cudaGetDevice(), "cudaGetDevice")
        self._epoch = core._device_epoch(self._device)
        self._stands = True

    def __int__(self):
        return self._address

    __index__ = __int__

    def _close(self, what):
        if not self._stands:
            raise errors.LogicError(f"{what} failed: invalid argument - it was released before")
        self._stands = False
        if not self._is_gone():
            errors.check(self._release(self._address), self._call)

    def _is_gone(self):
        """Has cudaDeviceReset released it?"""
        return core._device_epoch(self._device) != self._epoch

    def __del__(self):
        if self._stands and core is not None:
            self._stands = False
            if not self._is_gone():
                self._release(self._address)


_PITCH = 512  # bytes: rows begin where every device likes rows to begin


def mem_alloc_pitch(width, height, access_size=4):
    """(memory, pitch in bytes) for `height` rows of `width` bytes."""
    if access_size not in (4, 8, 16):
        raise errors.LogicError(f"mem_alloc_pitch failed: access_size={access_size}: 4, 8 or 16")
    pitch = -(-_positive("width", width) // _PITCH) * _PITCH
    return mem_alloc(pitch * _positive("height", height)), pitch


def mem_get_address_range(ptr):
    """(start, bytes) of the allocation that an address lies in."""
    return errors.check(core._address_range(ptr), "cuMemGetAddressRange")


def as_buffer(memory, size, offset=0):
    """The bytes at a device address as a writable memoryview: for managed memory, which the host
    can reach, or for an MPI that knows device addresses."""
    size = extent("size", size)
    return memoryview((ctypes.c_char * size).from_address(int(memory) + offset)).cast("B")


class PointerHolderBase:
    """For subclasses whose `get_pointer()` gives a device address: usable wherever one is."""

    def get_pointer(self):
        raise RuntimeError("PointerHolderBase.get_pointer: a subclass has to say where")

    def as_buffer(self, size, offset=0):
        return as_buffer(self, size, offset)

    def __int__(self):
        return int(self.get_pointer())

    __index__ = __int__


class IPCMemoryHandle(_Owned):
    """Another process's device memory, opened by the handle that mem_get_ipc_handle gave it."""

    _release = staticmethod(core.cudaIpcCloseMemHandle)
    _call = "cudaIpcCloseMemHandle"

    def __init__(self, ipc_handle, flags=enums.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS):
        if len(ipc_handle) != 64:
            raise errors.LogicError(
                f"cudaIpcOpenMemHandle failed: ipc_handle: expected 64 bytes, got {len(ipc_handle)}"
            )
        opened = core.cudaIpcOpenMemHandle(bytes(ipc_handle), int(flags))
        super().__init__(errors.check(opened, "cudaIpcOpenMemHandle"))

    def close(self):
        self._close("IPCMemoryHandle.close")


def mem_get_ipc_handle(devptr):
    """A handle (bytearray of 64) by which another process opens this memory."""
    return bytearray(errors.check(core.cudaIpcGetMemHandle(devptr), "cudaIpcGetMemHandle"))


class HostPointer:
    """Host memory that the device may reach."""

    def get_device_pointer(self):
        """Its address for the device (int)."""
        found = core.cudaHostGetDevicePointer(self._address)
        return errors.check(found, "cudaHostGetDevicePointer")


class PagelockedHostAllocation(_Owned, HostPointer):
    """The page-locked memory of an array."""

    _release = staticmethod(core.cudaFreeHost)
    _call = "cudaFreeHost"

    def free(self):
        """Free it now. The arrays on it must not be used again."""
        self._close("PagelockedHostAllocation.free")

    def get_flags(self):
        return errors.check(core.cudaHostGetFlags(self._address), "cudaHostGetFlags")


HostAllocation = PagelockedHostAllocation


class ManagedAllocation(DeviceAllocation):
    """The managed memory of an array: one address for host and device."""

    _is_managed_memory = True

    def get_device_pointer(self):
        return int(self)

    def free(self):
        """Free it now. The arrays on it must not be used again."""
        super().free()

    def as_buffer(self, size, offset=0):
        """The bytes, for the host, as a memoryview."""
        return as_buffer(self, size, offset)

    def attach(self, mem_flags, stream=None):
        """Say who may touch it while `stream` works."""
        attached = core.cudaStreamAttachMemAsync(stream, int(self), 0, int(mem_flags))
        errors.check(attached, "cudaStreamAttachMemAsync")


ManagedAllocationOrStub = ManagedAllocation


class AlignedHostAllocation(HostPointer):
    """Pageable memory that begins at a multiple of an alignment."""

    def __init__(self, block, address):
        self._block = block
        self._address = address

    def free(self):
        """Give up this hold of it; it goes with the last array on it."""
        if self._block is None:
            raise errors.LogicError("AlignedHostAllocation.free failed: it was freed before")
        self._block = None


class RegisteredHostMemory(_Owned, HostPointer):
    """An array's memory, page-locked in place."""

    _release = staticmethod(core.cudaHostUnregister)
    _call = "cudaHostUnregister"

    def __init__(self, base, address):
        super().__init__(address)
        self.base = base

    def unregister(self):
        self._close("RegisteredHostMemory.unregister")


def _shape(shape):
    lengths = shape if np.iterable(shape) and not isinstance(shape, str) else (shape,)
    return tuple(extent("shape", length) for length in lengths)


def _bytes_of(shape, dtype):
    shape, dtype = _shape(shape), np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype {dtype} holds Python objects, which have no meaning on a device")
    count = 1
    for length in shape:
        count *= length
    return shape, dtype, count * dtype.itemsize


def _new(take, shape, dtype, order):
    """An array on the memory that `take(nbytes)` gives."""
    shape, dtype, nbytes = _bytes_of(shape, dtype)
    if order not in ("C", "F"):
        raise errors.LogicError(f"order={order!r}: expected 'C' or 'F'")
    owner = take(_in_memory("nbytes", max(nbytes, 1)))
    return _view(owner, int(owner), shape, dtype, order)


def _description(dtype):
    """What array interfaces say of a dtype; of overlapping or unordered fields, only their size."""
    if dtype.fields is not None:
        try:
            return dtype.descr
        except ValueError:
            pass
    return [("", dtype.str)]


def _view(owner, address, shape, dtype, order, read_only=False):
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
        array.dtype = dtype
    return array


def pagelocked_empty(shape, dtype, order="C", mem_flags=0):
    """An uninitialised array in page-locked memory, whose `.base` owns it."""

    def take(nbytes):
        address = errors.check(core.cudaHostAlloc(nbytes, int(mem_flags)), "cudaHostAlloc")
        return PagelockedHostAllocation(address)

    return _new(take, shape, dtype, order)


def managed_empty(shape, dtype, order="C", mem_flags=0):
    """An uninitialised array in managed memory. mem_flags: 0 is mem_attach_flags.GLOBAL."""
    flags = int(mem_flags) or 1

    def take(nbytes):
        return core._managed_alloc(ManagedAllocation, nbytes, flags)

    return _new(take, shape, dtype, order)


def aligned_empty(shape, dtype, order="C", alignment=4096):
    """An uninitialised array in pageable memory at a multiple of `alignment`, a power of two."""
    alignment = integer("alignment", alignment)
    if alignment <= 0 or alignment & (alignment - 1):
        raise errors.LogicError(f"alignment={alignment}: expected a power of two")
    shape, dtype, nbytes = _bytes_of(shape, dtype)
    if order not in ("C", "F"):
        raise errors.LogicError(f"order={order!r}: expected 'C' or 'F'")
    block = np.empty(nbytes + alignment, np.uint8)
    address = -(-block.ctypes.data // alignment) * alignment
    return _view(AlignedHostAllocation(block, address), address, shape, dtype, order)


def _zeroed(array):
    array[...] = np.zeros((), array.dtype)
    return array


def _order_of(array):
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("array: expected a C- or Fortran-contiguous array")


def pagelocked_zeros(shape, dtype, order="C", mem_flags=0):
    """pagelocked_empty, filled with zeros."""
    return _zeroed(pagelocked_empty(shape, dtype, order, mem_flags))


def pagelocked_empty_like(array, mem_flags=0):
    """pagelocked_empty of the shape, dtype and order of `array`."""
    return pagelocked_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def pagelocked_zeros_like(array, mem_flags=0):
    return _zeroed(pagelocked_empty_like(array, mem_flags))


def managed_zeros(shape, dtype, order="C", mem_flags=0):
    """managed_empty, filled with zeros."""
    return _zeroed(managed_empty(shape, dtype, order, mem_flags))


def managed_empty_like(array, mem_flags=0):
    """managed_empty of the shape, dtype and order of `array`."""
    return managed_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def managed_zeros_like(array, mem_flags=0):
    return _zeroed(managed_empty_like(array, mem_flags))


def aligned_zeros(shape, dtype, order="C", alignment=4096):
    """aligned_empty, filled with zeros."""
    return _zeroed(aligned_empty(shape, dtype, order, alignment))


def aligned_empty_like(array, alignment=4096):
    """aligned_empty of the shape, dtype and order of `array`."""
    return aligned_empty(array.shape, array.dtype, _order_of(array), alignment)


def aligned_zeros_like(array, alignment=4096):
    return _zeroed(aligned_empty_like(array, alignment))


def register_host_memory(ary, flags=0):
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
    return _view(owner, address, ary.shape, ary.dtype, _order_of(ary), read_only)
