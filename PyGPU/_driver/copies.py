"""Copies and fills with PyCUDA's functions, whole buffers at a time; arguments In, Out, InOut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import memory
from PyGPU._driver.device import Context, ordinal_of
from PyGPU._runtime import core, device_address, errors, extent, hooks, integer, state

if TYPE_CHECKING:
    from PyGPU._types import (
        Address,
        BufferLike,
        DTypeLike,
        Fill,
        Fill2D,
        Fill2DAsync,
        FillAsync,
        HostArray,
        Int,
        Order,
        Shape,
        StreamLike,
    )

__all__ = [
    "ArgumentHandler",
    "In",
    "InOut",
    "Out",
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
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "to_device",
]

_TO_DEVICE, _TO_HOST, _ON_DEVICE = 1, 2, 3


def _no_buffer(buffer: object, name: str, writable: bool) -> TypeError:
    """For what is no host buffer: what the program may have meant."""
    if isinstance(buffer, str):
        hint = "; a bytearray can be filled" if writable else "; encode() gives the bytes of a text"
    elif isinstance(buffer, (list, tuple)):
        hint = "; numpy.array() makes one of numbers"
    elif name in ("dest", "src") and hasattr(buffer, "__index__"):
        hint = " (device memory): it is memcpy_htod(device, host) and memcpy_dtoh(host, device)"
    else:
        hint = ""
    return TypeError(f"{name}: expected a host buffer, got {type(buffer).__name__}{hint}")


def _has_gaps(what: str, writable: bool) -> ValueError:
    extra = ", from which the result is to be copied back" if writable else ""
    return ValueError(
        f"{what} is not contiguous; numpy.ascontiguousarray() makes a copy that is{extra}"
    )


def _host(buffer: BufferLike, name: str, writable: bool) -> tuple[BufferLike, int]:
    """(flat memoryview, bytes) of a host buffer, whatever its order."""
    if isinstance(buffer, (str, list, core.GPUArray)):
        raise _no_buffer(buffer, name, writable)
    if isinstance(buffer, np.generic) and writable:
        raise ValueError(f"{name}: a NumPy scalar is read-only")
    if isinstance(buffer, (np.ndarray, np.generic)):
        array = np.asarray(buffer)
        if array.dtype.hasobject:
            raise TypeError(
                f"{name}: dtype {array.dtype} holds Python objects, which mean nothing on a device"
            )
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise _has_gaps(f"{name}: ndarray", writable)
        if writable and not array.flags.writeable:
            raise ValueError(f"{name}: the array is read-only")
        return array.reshape(-1, order="A").view(np.uint8) if array.nbytes else b"", array.nbytes
    try:
        view = memoryview(buffer)
    except TypeError:
        raise _no_buffer(buffer, name, writable) from None
    if writable and view.readonly:
        raise BufferError(f"{name}: the buffer is read-only")
    if not view.contiguous:
        raise _has_gaps(f"{name}: the buffer", writable)
    return view, view.nbytes


def _check_copy(status: core.cudaError_t, call: str, address: int, size: int) -> None:
    """Raise for a failed copy, with what is known of the device memory at the address."""
    if status == core.cudaErrorInvalidValue and not status.detail:
        (start, extent, unknown), detail = core._address_range(address), "it is no device memory"
        core.cudaGetLastError()
        if not unknown:
            detail = f"{start + extent - address} bytes are allocated from there on"
        detail = f"{size} bytes at {address:#x}: {detail}"
        status = core.cudaError_t(status.code, detail)
    errors.check(status, call)


def memcpy_htod(dest: Address, src: BufferLike) -> None:
    """Copy a host buffer to the device address `dest`."""
    data, size = _host(src, "src", False)
    if size:
        address = device_address(dest, "dest")
        _check_copy(core._upload(address, data), "cudaMemcpy (htod)", address, size)


def memcpy_htod_async(dest: Address, src: BufferLike, stream: StreamLike = None) -> None:
    """memcpy_htod in the stream's order; `src` must be page-locked for that, and must stay."""
    data, size = _host(src, "src", False)
    if size:
        address = device_address(dest, "dest")
        status = core.cudaMemcpyAsync(address, data, size, _TO_DEVICE, stream)
        errors.check(status, "cudaMemcpyAsync (htod)")


def memcpy_dtoh(dest: BufferLike, src: Address) -> None:
    """Fill the host buffer `dest` from a device address."""
    data, size = _host(dest, "dest", True)
    if size:
        address = device_address(src, "src")
        _check_copy(core._download(data, address), "cudaMemcpy (dtoh)", address, size)


def memcpy_dtoh_async(dest: BufferLike, src: Address, stream: StreamLike = None) -> None:
    """memcpy_dtoh in the stream's order; `dest` must be page-locked for that, and must stay."""
    data, size = _host(dest, "dest", True)
    if size:
        address = device_address(src, "src")
        status = core.cudaMemcpyAsync(data, address, size, _TO_HOST, stream)
        errors.check(status, "cudaMemcpyAsync (dtoh)")


def memcpy_dtod(dest: Address, src: Address, size: Int) -> None:
    """Copy `size` bytes from one device address to another."""
    to, source = device_address(dest, "dest"), device_address(src, "src")
    errors.check(core.cudaMemcpy(to, source, extent("size", size), _ON_DEVICE), "cudaMemcpy (dtod)")


def memcpy_dtod_async(dest: Address, src: Address, size: Int, stream: StreamLike = None) -> None:
    to, source = device_address(dest, "dest"), device_address(src, "src")
    status = core.cudaMemcpyAsync(to, source, extent("size", size), _ON_DEVICE, stream)
    errors.check(status, "cudaMemcpyAsync (dtod)")


def _ordinal(name: str, context: Context | None) -> int:
    return state.current_device() if context is None else ordinal_of(name, context)


def memcpy_peer(
    dest: Address,
    src: Address,
    size: Int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
) -> None:
    """Copy between devices, which are those of the contexts (None: the current one)."""
    status = core.cudaMemcpyPeer(
        device_address(dest, "dest"),
        _ordinal("dest_context", dest_context),
        device_address(src, "src"),
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
    status = core.cudaMemcpyPeerAsync(
        device_address(dest, "dest"),
        _ordinal("dest_context", dest_context),
        device_address(src, "src"),
        _ordinal("src_context", src_context),
        extent("size", size),
        stream,
    )
    errors.check(status, "cudaMemcpyPeerAsync")


def _fill(
    call: str,
    itemsize: int,
    dest: Address,
    pitch: Int,
    data: Int,
    width: Int,
    height: Int,
    stream: StreamLike,
    wait: bool,
) -> None:
    value = integer(f"{call}: data", data)
    if not 0 <= value < 1 << 8 * itemsize:
        raise OverflowError(f"{call}: data={value}: expected {8 * itemsize} unsigned bits")
    width, height, pitch = extent("size", width), extent("height", height), extent("pitch", pitch)
    extent("size", width * itemsize * height)
    extent("size", pitch * height)
    if width and height:
        status = core._fill(
            device_address(dest, "dest"),
            itemsize,
            extent("pitch", pitch),
            value,
            width,
            height,
            stream,
            wait and not core._is_capturing(),
        )
        errors.check(status, call)


def _fills(bits: int) -> tuple[Fill, FillAsync, Fill2D, Fill2DAsync]:
    """The four fills of one width."""
    size_of = bits // 8

    def fill(dest: Address, data: Int, size: Int) -> None:
        _fill(f"memset_d{bits}", size_of, dest, 0, data, size, 1, None, True)

    def fill_async(dest: Address, data: Int, size: Int, stream: StreamLike = None) -> None:
        _fill(f"memset_d{bits}_async", size_of, dest, 0, data, size, 1, stream, False)

    def fill_2d(dest: Address, pitch: Int, data: Int, width: Int, height: Int) -> None:
        _fill(f"memset_d2d{bits}", size_of, dest, pitch, data, width, height, None, True)

    def fill_2d_async(
        dest: Address, pitch: Int, data: Int, width: Int, height: Int, stream: StreamLike = None
    ) -> None:
        _fill(f"memset_d2d{bits}_async", size_of, dest, pitch, data, width, height, stream, False)

    for function, name, doc in (
        (fill, f"memset_d{bits}", f"Fill `size` elements of {bits} bits."),
        (fill_async, f"memset_d{bits}_async", f"Fill `size` elements of {bits} bits, in order."),
        (fill_2d, f"memset_d2d{bits}", f"Fill `height` rows of `width` elements of {bits} bits."),
        (fill_2d_async, f"memset_d2d{bits}_async", f"The rows of memset_d2d{bits}, in order."),
    ):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
    return fill, fill_async, fill_2d, fill_2d_async


memset_d8, memset_d8_async, memset_d2d8, memset_d2d8_async = _fills(8)
memset_d16, memset_d16_async, memset_d2d16, memset_d2d16_async = _fills(16)
memset_d32, memset_d32_async, memset_d2d32, memset_d2d32_async = _fills(32)


def to_device(bf_obj: BufferLike) -> memory.DeviceAllocation:
    """New device memory with the contents of a buffer, in C order."""
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
    """A new ndarray with what is at a device address."""
    result = np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr: Address, other_ary: HostArray) -> HostArray:
    """A new ndarray of the shape, dtype and order of another."""
    result = np.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result


class ArgumentHandler:
    """A host array as a kernel's argument: memory on the device stands for it during the call.

    Parameters
    ----------
    array : numpy.ndarray or other buffer
        Contiguous; for Out and InOut also writable, as a bytearray is.
    """

    def __init__(self, array: BufferLike) -> None:
        self.array = array
        self.dev_alloc: Any = None

    def get_device_alloc(self) -> Any:
        """Its memory on the device; the null address for an array without elements."""
        if self.dev_alloc is None:
            size = getattr(self.array, "nbytes", None)
            if size is None:  # bytes and other buffers
                size = _host(self.array, type(self).__name__, False)[1]
            self.dev_alloc = memory.mem_alloc(size) if size else 0
        return self.dev_alloc

    def pre_call(self, stream: StreamLike) -> None:
        pass

    def post_call(self, stream: StreamLike) -> None:
        pass


def _upload(handler: ArgumentHandler, stream: StreamLike) -> None:
    if stream is None:
        memcpy_htod(handler.get_device_alloc(), handler.array)
    else:
        memcpy_htod_async(handler.get_device_alloc(), handler.array, stream)


def _download(handler: ArgumentHandler, stream: StreamLike) -> None:
    if stream is None:
        memcpy_dtoh(handler.array, handler.get_device_alloc())
    else:
        memcpy_dtoh_async(handler.array, handler.get_device_alloc(), stream)
        errors.check(core.cudaStreamSynchronize(stream), "cudaStreamSynchronize")


class In(ArgumentHandler):
    """A host array that the kernel reads."""

    def pre_call(self, stream: StreamLike) -> None:
        _upload(self, stream)


class Out(ArgumentHandler):
    """A host array that the kernel writes, all of it."""

    def pre_call(self, stream: StreamLike) -> None:
        _host(self.array, "Out", True)  # learn before the launch that it cannot be written

    def post_call(self, stream: StreamLike) -> None:
        _download(self, stream)


class InOut(In, Out):
    """A host array that the kernel reads and writes."""

    def pre_call(self, stream: StreamLike) -> None:
        _host(self.array, "InOut", True)
        _upload(self, stream)


hooks.register(argument_handler=ArgumentHandler)
