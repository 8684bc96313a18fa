"""Fills of device memory with a repeated value, with PyCUDA's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import core, errors, extent, integer

if TYPE_CHECKING:
    from PyGPU._types import Address, Fill, Fill2D, Fill2DAsync, FillAsync, Int, StreamLike

__all__ = [
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
]


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
        raise OverflowError(f"{call}: data={value}: expected 0 to 2**{8 * itemsize} - 1")
    width, height, pitch = extent("size", width), extent("height", height), extent("pitch", pitch)
    extent("size", width * itemsize * height)
    extent("size", pitch * height)
    if width and height:
        status = core._fill(
            core._device_address(dest, "dest", writable=True),
            itemsize,
            extent("pitch", pitch),
            value,
            width,
            height,
            stream,
            wait and not core._is_capturing(),
        )
        errors.check(status, call)


def _doc(name: str, bits: int, is_2d: bool, is_async: bool) -> str:
    summary = "Enqueue a fill of" if is_async else "Fill"
    stream = "    stream : Stream, optional\n        The null stream by default.\n"
    return f"""{summary} {"rows of " if is_2d else ""}device memory with a value of {bits} bits.

    Parameters
    ----------
    dest : int or device memory
        Address of the first element.
{_PITCH if is_2d else ""}    data : int
        Value, 0 to 2**{bits} - 1.
{_ROWS if is_2d else _SIZE}{stream if is_async else ""}
    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> memory = drv.mem_alloc({bits // 4})
    >>> drv.{name}(memory, {f"{bits // 4}, 7, 2, 1" if is_2d else "7, 2"})
    >>> drv.from_device(memory, 2, np.uint{bits})
    array([7, 7], dtype=uint{bits})
    """


_PITCH = """\
    pitch : int
        Distance of two rows in bytes.
"""
_ROWS = """\
    width : int
        Elements of a row.
    height : int
        Number of rows.
"""
_SIZE = """\
    size : int
        Number of elements.
"""


def _fills(bits: int) -> tuple[Fill, FillAsync, Fill2D, Fill2DAsync]:
    """Return the four fill functions for elements of one width."""
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

    for function, name, is_2d, is_async in (
        (fill, f"memset_d{bits}", False, False),
        (fill_async, f"memset_d{bits}_async", False, True),
        (fill_2d, f"memset_d2d{bits}", True, False),
        (fill_2d_async, f"memset_d2d{bits}_async", True, True),
    ):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = _doc(name, bits, is_2d, is_async)
    return fill, fill_async, fill_2d, fill_2d_async


memset_d8, memset_d8_async, memset_d2d8, memset_d2d8_async = _fills(8)
memset_d16, memset_d16_async, memset_d2d16, memset_d2d16_async = _fills(16)
memset_d32, memset_d32_async, memset_d2d32, memset_d2d32_async = _fills(32)
