"""Copies of boxes between host memory, device memory and Arrays, as one call of the runtime.

A box is a rectangle or cuboid of bytes in pitched host memory, pitched device memory or an Array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import enums
from PyGPU._driver.copies import host_view
from PyGPU._runtime import core, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import Block, BufferLike, Int, StreamLike

_HOST, _DEVICE = enums.memory_type.HOST, enums.memory_type.DEVICE
_ARRAY, _UNIFIED = enums.memory_type.ARRAY, enums.memory_type.UNIFIED


#: (memory_type, memory, pitch, rows of a slice, x in bytes, y, z, device or -1) of a copy's end.
End = tuple[enums.memory_type, Any, int, int, int, int, int, int]


class Buffer:
    """Host memory: the address of the first element, and the bytes that follow it.

    :param buffer: Host memory of any strides.
    :param name: Name of the argument in messages.
    :param writable: Require writable memory.
    :param contiguous: Require contiguous memory.
    """

    def __init__(
        self, buffer: BufferLike, name: str, writable: bool, contiguous: bool = False
    ) -> None:
        array = np.asarray(host_view(buffer, name, writable))
        if contiguous and not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ValueError(f"{name}: the buffer is not contiguous")
        self._exported = array  # an exported buffer is not reallocated
        self.address = array.__array_interface__["data"][0]
        ahead = sum((n - 1) * step for n, step in zip(array.shape, array.strides) if step > 0)
        self.nbytes = ahead + array.itemsize if array.size else 0


def non_negative(value: Int, name: str) -> int:
    """Return a number that is 0 or more as an int."""
    number = integer(name, value)
    if number < 0:
        raise OverflowError(f"{name}={number}: expected 0 or more")
    return number


def copy(
    dst: End,
    src: End,
    box: Block,
    stream: StreamLike = None,
    wait: bool = True,
    what: str = "copy",
    kept: object = None,
) -> None:
    """Copy a box between two ends.

    :param dst, src: Ends of the copy; their memory is a Buffer, an address or an Array.
    :param tuple box: Width in bytes, height, depth.
    :param kept: Further owners of the memory, which a graph must keep alive.
    """
    if not all(box):
        return
    core._keep_for_graph((dst[1], src[1], kept))
    sides: list[tuple[Any, ...]] = []
    for side, (kind, where, *numbers) in (("dst", dst), ("src", src)):
        if kind != _ARRAY:
            _check_pitch(what, side, numbers, box)
        if isinstance(where, Buffer):
            _check_bounds(what, side, where, numbers, box)
            where = where.address
        sides.append((where, *numbers))
    status = core._copy_box(sides[0], sides[1], *box, _direction(dst[0], src[0]), stream, wait)
    errors.check(status, what)


def _check_pitch(what: str, side: str, numbers: Sequence[int], box: Block) -> None:
    pitch, rows, x, y, z, _ = numbers
    width, height, depth = box
    if (height > 1 or depth > 1 or y or z) and x + width > pitch:
        raise errors.LogicError(
            f"{what} failed: {side}_pitch={pitch}: the copied rows need {x + width} bytes"
        )
    if (depth > 1 or z) and y + height > rows:
        raise errors.LogicError(
            f"{what} failed: {side}_height={rows}: the copied slices need {y + height} rows"
        )


def _check_bounds(what: str, side: str, buffer: Buffer, numbers: Sequence[int], box: Block) -> None:
    pitch, rows, x, y, z, _ = numbers
    width, height, depth = box
    first = x + pitch * (y + rows * z)
    end = first + pitch * (height - 1 + rows * (depth - 1)) + width
    if end > buffer.nbytes:
        raise errors.LogicError(
            f"{what} failed: {side}: the host buffer has {buffer.nbytes} bytes from its first "
            f"element, the copy needs {end}"
        )


def _direction(dst: Int, src: Int) -> int:
    """Return the cudaMemcpyKind of a copy between two memory types."""
    if _UNIFIED in (dst, src):
        return 4
    return {(False, False): 0, (False, True): 1, (True, False): 2, (True, True): 3}[
        src != _HOST, dst != _HOST
    ]


def array_in(array: core._Array, name: str) -> core._Array:
    """Return the argument if it is an Array; otherwise raise TypeError."""
    if not isinstance(array, core._Array):
        raise TypeError(f"{name}: expected an Array, got {type(array).__name__}")
    return array
