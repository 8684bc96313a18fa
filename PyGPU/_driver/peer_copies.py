"""Copies between the memories of two devices, with PyCUDA's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver.context import Context, ordinal_of
from PyGPU._runtime import core, docstrings, errors, extent, state

if TYPE_CHECKING:
    from PyGPU._types import Address, Int, StreamLike

__all__ = ["memcpy_peer", "memcpy_peer_async"]


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
