"""Copies of boxes between host memory, device memory and Arrays, as one call of the runtime.

A box is a rectangle or cuboid of bytes in pitched host memory, pitched device memory or an Array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._driver import enums
from PyGPU._driver.copies import host_view
from PyGPU._runtime import core, docstrings, errors, integer

if TYPE_CHECKING:
    from PyGPU._driver.arrays import Array
    from PyGPU._types import Address, Block, BufferLike, Int, StreamLike

__all__ = [
    "memcpy_atoa",
    "memcpy_atod",
    "memcpy_atoh",
    "memcpy_dtoa",
    "memcpy_htoa",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
]

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


_MEMORY = enums.memory_type


def _row(array: Array, index: Int, name: str) -> End:
    """Return the End of a copy in the only row of an Array, from byte `index` on."""
    array_in(array, name)
    shape = array.get_descriptor_3d()
    if shape.height > 1 or shape.depth > 1:
        raise errors.LogicError(
            f"{name}: expected an Array of one row, got {shape.width} x {shape.height} x "
            f"{shape.depth}; use Memcpy2D or Memcpy3D"
        )
    return (_MEMORY.ARRAY, array, 0, 0, non_negative(index, "index"), 0, 0, -1)


def _memory(kind: enums.memory_type, where: Buffer | int) -> End:
    return (kind, where, 0, 0, 0, 0, 0, -1)


def memcpy_dtoa(ary: Array, index: Int, src: Address, len: Int) -> None:
    """Copy device memory to a one-dimensional Array.

    :param ary: Array to write.
    :param index: Position in the Array, in bytes.
    :param src: Address to read.
    :param len: Bytes to copy.

    >>> array = drv.matrix_to_array(np.zeros((1, 2), np.float32), "C")
    >>> drv.memcpy_dtoa(array, 4, drv.to_device(np.float32([5])), 4)
    >>> result = np.empty(2, np.float32)
    >>> drv.memcpy_atoh(result, array, 0)
    >>> result
    array([0., 5.], dtype=float32)
    """
    source = _memory(_MEMORY.DEVICE, core._device_address(src, "src"))
    box = (non_negative(len, "len"), 1, 1)
    copy(_row(ary, index, "ary"), source, box, what="memcpy_dtoa")


def memcpy_atod(dest: Address, ary: Array, index: Int, len: Int) -> None:
    """Copy a one-dimensional Array to device memory.

    :param dest: Address to write.
    :param ary: Array to read.
    :param index: Position in the Array, in bytes.
    :param len: Bytes to copy.

    >>> array = drv.matrix_to_array(np.float32([[4, 5]]), "C")
    >>> memory = drv.mem_alloc(4)
    >>> drv.memcpy_atod(memory, array, 4, 4)
    >>> drv.from_device(memory, 1, np.float32)
    array([5.], dtype=float32)
    """
    target = _memory(_MEMORY.DEVICE, core._device_address(dest, "dest", writable=True))
    box = (non_negative(len, "len"), 1, 1)
    copy(target, _row(ary, index, "ary"), box, what="memcpy_atod")


def memcpy_htoa(ary: Array, index: Int, src: BufferLike) -> None:
    """Copy a host buffer to a one-dimensional Array.

    :param ary: Array to write.
    :param index: Position in the Array, in bytes.
    :param src: Contiguous host memory, copied whole.

    >>> array = drv.matrix_to_array(np.zeros((1, 2), np.float32), "C")
    >>> drv.memcpy_htoa(array, 4, np.float32([5]))
    >>> result = np.empty(2, np.float32)
    >>> drv.memcpy_atoh(result, array, 0)
    >>> result
    array([0., 5.], dtype=float32)
    """
    buffer = Buffer(src, "src", False, contiguous=True)
    source, target = _memory(_MEMORY.HOST, buffer), _row(ary, index, "ary")
    copy(target, source, (buffer.nbytes, 1, 1), what="memcpy_htoa")


def memcpy_atoh(dest: BufferLike, ary: Array, index: Int) -> None:
    """Copy a one-dimensional Array to a host buffer.

    :param dest: Writable contiguous host memory, filled whole.
    :param ary: Array to read.
    :param index: Position in the Array, in bytes.

    >>> array = drv.matrix_to_array(np.float32([[4, 5]]), "C")
    >>> result = np.empty(1, np.float32)
    >>> drv.memcpy_atoh(result, array, 4)
    >>> result
    array([5.], dtype=float32)
    """
    buffer = Buffer(dest, "dest", True, contiguous=True)
    target, source = _memory(_MEMORY.HOST, buffer), _row(ary, index, "ary")
    copy(target, source, (buffer.nbytes, 1, 1), what="memcpy_atoh")


def memcpy_atoa(dest: Array, dest_index: Int, src: Array, src_index: Int, len: Int) -> None:
    """Copy a one-dimensional Array to another one.

    :param dest: Array to write.
    :param dest_index: Position in `dest`, in bytes.
    :param src: Array to read.
    :param src_index: Position in `src`, in bytes.
    :param len: Bytes to copy.

    >>> source = drv.matrix_to_array(np.float32([[4, 5]]), "C")
    >>> target = drv.matrix_to_array(np.zeros((1, 2), np.float32), "C")
    >>> drv.memcpy_atoa(target, 0, source, 4, 4)
    >>> result = np.empty(2, np.float32)
    >>> drv.memcpy_atoh(result, target, 0)
    >>> result
    array([5., 0.], dtype=float32)
    """
    target, source = _row(dest, dest_index, "dest"), _row(src, src_index, "src")
    copy(target, source, (non_negative(len, "len"), 1, 1), what="memcpy_atoa")


py_memcpy_htoa, py_memcpy_atoh = memcpy_htoa, memcpy_atoh


docstrings.complete(__name__)
