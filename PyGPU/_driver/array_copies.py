"""Copies of bytes between one-dimensional Arrays and other memory, with PyCUDA's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver import enums, strided_copies
from PyGPU._driver.arrays import Array
from PyGPU._runtime import core, docstrings, errors

if TYPE_CHECKING:
    from PyGPU._types import Address, BufferLike, Int

__all__ = [
    "memcpy_atoa",
    "memcpy_atod",
    "memcpy_atoh",
    "memcpy_dtoa",
    "memcpy_htoa",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
]

_MEMORY = enums.memory_type


def _row(array: Array, index: Int, name: str) -> strided_copies.End:
    """Return the End of a copy in the only row of an Array, from byte `index` on."""
    strided_copies.array_in(array, name)
    shape = array.get_descriptor_3d()
    if shape.height > 1 or shape.depth > 1:
        raise errors.LogicError(
            f"{name}: expected an Array of one row, got {shape.width} x {shape.height} x "
            f"{shape.depth}; use Memcpy2D or Memcpy3D"
        )
    return (_MEMORY.ARRAY, array, 0, 0, strided_copies.non_negative(index, "index"), 0, 0, -1)


def _memory(kind: enums.memory_type, where: strided_copies.Buffer | int) -> strided_copies.End:
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
    box = (strided_copies.non_negative(len, "len"), 1, 1)
    strided_copies.copy(_row(ary, index, "ary"), source, box, what="memcpy_dtoa")


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
    box = (strided_copies.non_negative(len, "len"), 1, 1)
    strided_copies.copy(target, _row(ary, index, "ary"), box, what="memcpy_atod")


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
    buffer = strided_copies.Buffer(src, "src", False, contiguous=True)
    source, target = _memory(_MEMORY.HOST, buffer), _row(ary, index, "ary")
    strided_copies.copy(target, source, (buffer.nbytes, 1, 1), what="memcpy_htoa")


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
    buffer = strided_copies.Buffer(dest, "dest", True, contiguous=True)
    target, source = _memory(_MEMORY.HOST, buffer), _row(ary, index, "ary")
    strided_copies.copy(target, source, (buffer.nbytes, 1, 1), what="memcpy_atoh")


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
    strided_copies.copy(
        target, source, (strided_copies.non_negative(len, "len"), 1, 1), what="memcpy_atoa"
    )


py_memcpy_htoa, py_memcpy_atoh = memcpy_htoa, memcpy_atoh


docstrings.complete(__name__)
