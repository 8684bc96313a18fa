"""Copies of whole buffers between host and device, with PyCUDA's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import memory
from PyGPU._driver.context import Context, ordinal_of
from PyGPU._runtime import core, docstrings, errors, extent, is_gpuarray, state

if TYPE_CHECKING:
    from PyGPU._types import (
        Address,
        BufferLike,
        DTypeLike,
        HostArray,
        Int,
        Order,
        Shape,
        StreamLike,
    )

__all__ = [
    "from_device",
    "from_device_like",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
    "to_device",
]

_TO_DEVICE, _TO_HOST, _ON_DEVICE = 1, 2, 3


def _no_buffer(buffer: object, name: str, writable: bool) -> TypeError:
    """Return the error for an object that is not a host buffer, with a hint."""
    memory = None if is_gpuarray(buffer) else getattr(buffer, "__dlpack_device__", None)
    if isinstance(buffer, str):
        hint = "; pass a bytearray" if writable else "; encode() returns the bytes of a str"
    elif isinstance(buffer, (list, tuple)):
        hint = "; numpy.array() converts it"
    elif memory and memory()[0] == 1:  # a CPU tensor
        hint = "; numpy.from_dlpack() converts it"
    elif name in ("dest", "src") and hasattr(buffer, "__index__"):
        hint = (
            " (device memory); the arguments are memcpy_htod(device, host) and "
            "memcpy_dtoh(host, device)"
        )
    else:
        hint = ""
    return TypeError(f"{name}: expected a host buffer, got {type(buffer).__name__}{hint}")


def _not_contiguous(what: str, writable: bool) -> ValueError:
    extra = "; copy the result back from it" if writable else ""
    return ValueError(
        f"{what} is not contiguous; numpy.ascontiguousarray() makes a contiguous copy{extra}"
    )


def host_view(buffer: BufferLike, name: str, writable: bool) -> HostArray | memoryview:
    """Return a view of a host buffer of any strides."""
    if isinstance(buffer, (str, list, tuple)) or is_gpuarray(buffer):
        raise _no_buffer(buffer, name, writable)
    if isinstance(buffer, np.generic) and writable:
        raise ValueError(f"{name}: a NumPy scalar is read-only")
    if isinstance(buffer, (np.ndarray, np.generic)):
        array = np.asarray(buffer)
        if array.dtype.hasobject:
            raise TypeError(
                f"{name}: dtype {array.dtype} holds Python objects, which a device cannot use"
            )
        if writable and not array.flags.writeable:
            raise ValueError(f"{name}: the array is read-only")
        return array
    try:
        view = memoryview(buffer)
    except TypeError:
        raise _no_buffer(buffer, name, writable) from None
    if writable and view.readonly:
        raise BufferError(f"{name}: the buffer is read-only")
    return view


def host_bytes(buffer: BufferLike, name: str, writable: bool) -> tuple[BufferLike, int]:
    """Return (flat view, size in bytes) of a contiguous host buffer in C or Fortran order."""
    view = host_view(buffer, name, writable)
    if isinstance(view, memoryview):
        if not view.contiguous:
            raise _not_contiguous(f"{name}: the buffer", writable)
        return view, view.nbytes
    if not (view.flags.c_contiguous or view.flags.f_contiguous):
        raise _not_contiguous(f"{name}: ndarray", writable)
    return view.reshape(-1, order="A").view(np.uint8) if view.nbytes else b"", view.nbytes


def _check_copy(status: core.cudaError_t, call: str, address: int, size: int) -> None:
    """Raise for a failed copy; the message describes the device memory at the address."""
    if status == core.cudaErrorInvalidValue and not status.detail:
        (start, extent, unknown), detail = core._address_range(address), "it is not device memory"
        core.cudaGetLastError()
        if not unknown:
            detail = f"the allocation ends {start + extent - address} bytes after it"
        detail = f"{size} bytes at {address:#x}: {detail}"
        status = core.cudaError_t(status.code, detail)
    errors.check(status, call)


def memcpy_htod(dest: Address, src: BufferLike) -> None:
    """Copy a host buffer to device memory.

    :param dest: Device address.
    :param src: Contiguous host memory, copied whole.
    :raises TypeError, ValueError: If `src` is not a contiguous host buffer.
    :raises LogicError: If the device memory at `dest` is too small.

    >>> memory = drv.mem_alloc(8)
    >>> drv.memcpy_htod(memory, np.array([1, 2], np.int32))
    >>> drv.from_device(memory, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    done = core._copy_usual(dest, src, True)
    if done is True:
        return
    data, size = host_bytes(src, "src", False)
    if size:
        address = core._device_address(dest, "dest", writable=True)
        _check_copy(done or core._upload(address, data), "cudaMemcpy (htod)", address, size)


def memcpy_htod_async(dest: Address, src: BufferLike, stream: StreamLike = None) -> None:
    """Enqueue a copy of a host buffer to device memory on a stream.

    :param dest: Device address.
    :param src: Contiguous host memory. The copy is asynchronous only if the memory is page-locked;
        it must then stay unchanged until the copy is done.
    :param stream:

    >>> source, stream = drv.pagelocked_zeros(2, np.int32), drv.Stream()
    >>> memory = drv.mem_alloc(8)
    >>> drv.memcpy_htod_async(memory, source, stream)
    >>> stream.synchronize()
    >>> drv.from_device(memory, 2, np.int32)
    array([0, 0], dtype=int32)
    """
    data, size = host_bytes(src, "src", False)
    if size:
        address = core._device_address(dest, "dest", writable=True)
        status = core.cudaMemcpyAsync(address, data, size, _TO_DEVICE, stream)
        errors.check(status, "cudaMemcpyAsync (htod)")


def memcpy_dtoh(dest: BufferLike, src: Address) -> None:
    """Copy device memory to a host buffer.

    :param dest: Writable contiguous host memory, filled whole.
    :param src: Device address.
    :raises TypeError, ValueError: If `dest` is not a writable contiguous host buffer.
    :raises LogicError: If the device memory at `src` is too small.

    >>> memory = drv.to_device(np.array([1, 2], np.int32))
    >>> result = np.empty(2, np.int32)
    >>> drv.memcpy_dtoh(result, memory)
    >>> result
    array([1, 2], dtype=int32)
    """
    done = core._copy_usual(src, dest, False)
    if done is True:
        return
    data, size = host_bytes(dest, "dest", True)
    if size:
        address = core._device_address(src, "src")
        _check_copy(done or core._download(data, address), "cudaMemcpy (dtoh)", address, size)


def memcpy_dtoh_async(dest: BufferLike, src: Address, stream: StreamLike = None) -> None:
    """Enqueue a copy of device memory to a host buffer on a stream.

    :param dest: Writable contiguous host memory. The copy is asynchronous only if the memory is
        page-locked; it must then not be used until the copy is done.
    :param src: Device address.
    :param stream:

    >>> result, stream = drv.pagelocked_empty(2, np.int32), drv.Stream()
    >>> memory = drv.to_device(np.array([1, 2], np.int32))
    >>> drv.memcpy_dtoh_async(result, memory, stream)
    >>> stream.synchronize()
    >>> result
    array([1, 2], dtype=int32)
    """
    data, size = host_bytes(dest, "dest", True)
    if size:
        address = core._device_address(src, "src")
        status = core.cudaMemcpyAsync(data, address, size, _TO_HOST, stream)
        errors.check(status, "cudaMemcpyAsync (dtoh)")


def memcpy_dtod(dest: Address, src: Address, size: Int) -> None:
    """Copy device memory to device memory.

    :param dest: Address to write.
    :param src: Address to read.
    :param size: Bytes to copy.

    >>> source, target = drv.to_device(np.array([1, 2], np.int32)), drv.mem_alloc(8)
    >>> drv.memcpy_dtod(target, source, 8)
    >>> drv.from_device(target, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    to, source = core._device_address(dest, "dest", writable=True), core._device_address(src, "src")
    errors.check(core.cudaMemcpy(to, source, extent("size", size), _ON_DEVICE), "cudaMemcpy (dtod)")


def memcpy_dtod_async(dest: Address, src: Address, size: Int, stream: StreamLike = None) -> None:
    """Enqueue a copy of device memory to device memory on a stream.

    :param dest: Address to write.
    :param src: Address to read.
    :param size: Bytes to copy.
    :param stream:

    >>> source, target = drv.to_device(np.array([1, 2], np.int32)), drv.mem_alloc(8)
    >>> drv.memcpy_dtod_async(target, source, 8, None)
    >>> drv.from_device(target, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    to, source = core._device_address(dest, "dest", writable=True), core._device_address(src, "src")
    status = core.cudaMemcpyAsync(to, source, extent("size", size), _ON_DEVICE, stream)
    errors.check(status, "cudaMemcpyAsync (dtod)")


def to_device(bf_obj: BufferLike) -> memory.DeviceAllocation:
    """Allocate device memory and copy a host buffer to it.

    :param bf_obj: Host memory of any layout; it is copied in C order.
    :returns: Owner of the device memory.

    >>> memory = drv.to_device(np.array([1, 2], np.int32))
    >>> drv.from_device(memory, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    if isinstance(bf_obj, (str, list)):
        raise TypeError(f"to_device: expected a buffer, got {type(bf_obj).__name__}")
    data: Any
    if isinstance(bf_obj, (np.ndarray, np.generic)):
        data = np.ascontiguousarray(bf_obj)
    else:
        view = memoryview(bf_obj)
        data = view if view.c_contiguous else np.frombuffer(view.tobytes(), np.uint8)
    result = memory.mem_alloc(data.nbytes)
    memcpy_htod(result, data)
    return result


def from_device(devptr: Address, shape: Shape, dtype: DTypeLike, order: Order = "C") -> HostArray:
    """Copy device memory to a new host array.

    :param devptr: Device address.
    :param shape, dtype, order:
    :returns: The copy.

    >>> memory = drv.to_device(np.array([1, 2], np.int32))
    >>> drv.from_device(memory, (1, 2), np.int32)
    array([[1, 2]], dtype=int32)
    """
    result = np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr: Address, other_ary: HostArray) -> HostArray:
    """Copy device memory to a new host array of the layout of another array.

    :param devptr: Device address.
    :param other_ary: Array whose shape, dtype and order the result has.
    :returns: The copy.

    >>> data = np.array([1, 2], np.int32)
    >>> drv.from_device_like(drv.to_device(data), data)
    array([1, 2], dtype=int32)
    """
    result = np.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result


def _ordinal(name: str, context: Context | None) -> int:
    return state.current_device() if context is None else ordinal_of(name, context)


def memcpy_peer(
    dest: Address,
    src: Address,
    size: Int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
) -> None:
    """Copy device memory to the memory of another device.

    :param dest: Address to write.
    :param src: Address to read.
    :param size: Bytes to copy.
    :param dest_context: Context of the device that owns `dest`. The current device by default.
    :param src_context: Context of the device that owns `src`. The current device by default.

    >>> context = drv.Device(0).retain_primary_context()
    >>> source, target = drv.to_device(np.array([1, 2], np.int32)), drv.mem_alloc(8)
    >>> drv.memcpy_peer(target, source, 8, context, context)
    >>> drv.from_device(target, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    status = core.cudaMemcpyPeer(
        core._device_address(dest, "dest", writable=True),
        _ordinal("dest_context", dest_context),
        core._device_address(src, "src"),
        _ordinal("src_context", src_context),
        extent("size", size),
    )
    errors.check(status, "cudaMemcpyPeer")


def memcpy_peer_async(
    dest: Address,
    src: Address,
    size: Int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
    stream: StreamLike = None,
) -> None:
    """Enqueue a copy of device memory to the memory of another device on a stream.

    :param dest: Address to write.
    :param src: Address to read.
    :param size: Bytes to copy.
    :param dest_context: Context of the device that owns `dest`. The current device by default.
    :param src_context: Context of the device that owns `src`. The current device by default.
    :param stream:

    >>> source, target = drv.to_device(np.array([1, 2], np.int32)), drv.mem_alloc(8)
    >>> drv.memcpy_peer_async(target, source, 8)
    >>> drv.from_device(target, 2, np.int32)
    array([1, 2], dtype=int32)
    """
    status = core.cudaMemcpyPeerAsync(
        core._device_address(dest, "dest", writable=True),
        _ordinal("dest_context", dest_context),
        core._device_address(src, "src"),
        _ordinal("src_context", src_context),
        extent("size", size),
        stream,
    )
    errors.check(status, "cudaMemcpyPeerAsync")


docstrings.complete(__name__)
