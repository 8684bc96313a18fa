"""Arrays, whose order in memory only the device knows, and the copies that fill and read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._driver import boxes, enums
from PyGPU._runtime import core, device_address, errors

if TYPE_CHECKING:
    from PyGPU._types import Address, ArrayLike, BufferLike, DTypeLike, Int, Order

__all__ = [
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "dtype_to_array_format",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "memcpy_atoa",
    "memcpy_atod",
    "memcpy_atoh",
    "memcpy_dtoa",
    "memcpy_htoa",
    "np_to_array",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
]

_FORMATS = enums.array_format
_SIGNED, _UNSIGNED, _FLOAT = 0, 1, 2  # CUDA's kinds of channels
_CHANNELS = {  # array_format: (bits, kind)
    _FORMATS.UNSIGNED_INT8: (8, _UNSIGNED),
    _FORMATS.UNSIGNED_INT16: (16, _UNSIGNED),
    _FORMATS.UNSIGNED_INT32: (32, _UNSIGNED),
    _FORMATS.SIGNED_INT8: (8, _SIGNED),
    _FORMATS.SIGNED_INT16: (16, _SIGNED),
    _FORMATS.SIGNED_INT32: (32, _SIGNED),
    _FORMATS.HALF: (16, _FLOAT),
    _FORMATS.FLOAT: (32, _FLOAT),
}
_FORMAT_OF = {channel: number for number, channel in _CHANNELS.items()}
_KINDS = {"i": _SIGNED, "u": _UNSIGNED, "f": _FLOAT}
_MEMORY = enums.memory_type


def channel_format(format: int, num_channels: int) -> tuple[int, int, int]:
    """(bits, channels, kind) as the low level wants them. LogicError for what is no format."""
    try:
        bits, kind = _CHANNELS[_FORMATS(int(format))]
    except (TypeError, ValueError):
        raise errors.LogicError(f"format={format!r}: expected an array_format") from None
    if num_channels not in (1, 2, 4):
        raise errors.LogicError(f"num_channels={num_channels!r}: expected 1, 2 or 4")
    return bits, int(num_channels), kind


def dtype_to_array_format(dtype: DTypeLike) -> enums.array_format:
    """The array_format of a dtype: integers of 8, 16 and 32 bits, float16 and float32.

    Raises
    ------
    TypeError
        For any other.
    """
    dtype = np.dtype(dtype)
    key = (8 * dtype.itemsize, _KINDS.get(dtype.kind))
    if key not in _FORMAT_OF or not dtype.isnative:
        raise TypeError(f"dtype={dtype}: arrays and textures have no such element")
    return _FORMAT_OF[key]


def format_of(bits: int, kind: int) -> enums.array_format:
    """The array_format of channels as :func:`channel_format` has them."""
    return _FORMAT_OF[bits, kind]


_D = TypeVar("_D", bound="ArrayDescriptor")


class ArrayDescriptor:
    """What an Array of one or two dimensions shall be.

    Attributes
    ----------
    width, height : int
        Elements; a height of 0 makes it one-dimensional.
    format : array_format
    num_channels : int
        1, 2 or 4 numbers an element.
    """

    def __init__(self) -> None:
        self.width = self.height = self.num_channels = 0
        self.format: int = _FORMATS.UNSIGNED_INT8


class ArrayDescriptor3D(ArrayDescriptor):
    """What an Array shall be.

    Attributes
    ----------
    width, height, depth : int
        Elements; 0 for what it does not have. The depth of a layered array counts its layers.
    format : array_format
    num_channels : int
    flags : int
        Of array3d_flags.
    """

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.flags = 0


class Array(core._Array):
    """Memory on the current device that textures and surfaces reach, freed with the object.

    Parameters
    ----------
    descriptor : ArrayDescriptor or ArrayDescriptor3D

    Raises
    ------
    LogicError
        For what no array can be.
    MemoryError
    """

    def __init__(self, descriptor: ArrayDescriptor) -> None:
        if not isinstance(descriptor, ArrayDescriptor):
            raise TypeError(f"descriptor: expected an ArrayDescriptor, got {descriptor!r}")
        found = channel_format(descriptor.format, descriptor.num_channels)
        width, height, depth = (
            boxes.whole(getattr(descriptor, name, 0), name) for name in ("width", "height", "depth")
        )
        flags = boxes.whole(getattr(descriptor, "flags", 0), "flags")
        if flags > 15:
            raise errors.LogicError(f"Array failed: flags={flags}: expected those of array3d_flags")
        super().__init__(found, width, height, depth, flags)

    def free(self) -> None:
        """Free it now; once more does nothing. No kernel may use its textures any longer."""
        errors.check(self._free(), "cudaFreeArray")

    def _describe(self, descriptor: _D) -> _D:
        (bits, channels, kind), width, height, depth, flags = self._shape()
        descriptor.width, descriptor.height = width, height
        descriptor.format, descriptor.num_channels = _FORMAT_OF[bits, kind], channels
        if isinstance(descriptor, ArrayDescriptor3D):
            descriptor.depth, descriptor.flags = depth, flags
        return descriptor

    def get_descriptor(self) -> ArrayDescriptor:
        """Width, height, format and channels, as an ArrayDescriptor."""
        return self._describe(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """All of its shape, as an ArrayDescriptor3D."""
        return self._describe(ArrayDescriptor3D())


def _new_array(
    shape: Sequence[int], order: Order, format: int, num_channels: int, flags: int = 0
) -> Array:
    """An Array of a matrix's shape: 1 to 3 lengths, the fastest last for "C", first for "F"."""
    lengths = shape[::-1] if order == "C" else shape
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = (*lengths, 0, 0)[:3]
    if flags & enums.array3d_flags.SURFACE_LDST and not descriptor.depth:  # as PyCUDA does
        descriptor.depth, flags = 1, flags | enums.array3d_flags.ARRAY3D_LAYERED
    descriptor.format, descriptor.num_channels, descriptor.flags = format, num_channels, flags
    return Array(descriptor)


def _order(order: str) -> Order:
    if not isinstance(order, str) or order.upper() not in ("C", "F"):
        raise errors.LogicError(f"order={order!r}: expected 'C' or 'F'")
    return "C" if order in "Cc" else "F"


def _fill(
    array: Array, kind: enums.memory_type, where: boxes.Buffer | int, row_bytes: int
) -> Array:
    """Fill all of an array from memory without gaps, of rows of `row_bytes`."""
    shape = array.get_descriptor_3d()
    rows, slices = max(shape.height, 1), max(shape.depth, 1)
    source = (kind, where, row_bytes, rows, 0, 0, 0, -1)
    target = (_MEMORY.ARRAY, array, 0, 0, 0, 0, 0, -1)
    boxes.copy(target, source, (row_bytes, rows, slices), what="copy to the array")
    return array


def element_in_parts(dtype: DTypeLike) -> tuple[enums.array_format, int]:
    """(array_format, channels) that hold a dtype; numbers of more as parts of 32 bits."""
    dtype = np.dtype(dtype)
    if dtype in (np.dtype(np.complex64), np.dtype(np.float64)):
        return _FORMATS.SIGNED_INT32, 2
    if dtype == np.dtype(np.complex128):
        return _FORMATS.SIGNED_INT32, 4
    return dtype_to_array_format(dtype), 1


def _surface_flags(allow: bool) -> int:
    return enums.array3d_flags.SURFACE_LDST if allow else 0


def _require(name: str, shape: Sequence[int], lengths: tuple[int, ...]) -> None:
    if len(shape) not in lengths or 0 in shape:
        wanted = " or ".join(map(str, lengths))
        raise errors.LogicError(f"{name}: expected {wanted} dimensions, none empty, got {shape}")


def matrix_to_array(matrix: ArrayLike, order: Order, allow_double_hack: bool = False) -> Array:
    """A new Array with a matrix.

    Parameters
    ----------
    matrix : array_like
        (height, width) for the order "C", (width, height) for "F".
    order : {"C", "F"}
    allow_double_hack : bool
        Store float64 as two channels of int32, for ``__hiloint2double(v.y, v.x)``.

    Raises
    ------
    TypeError
        For elements that no texture has.
    """
    matrix, order = np.asarray(matrix), _order(order)
    _require("matrix", matrix.shape, (2,))
    if allow_double_hack and matrix.dtype == np.float64:
        element = element_in_parts(matrix.dtype)
    else:
        element = dtype_to_array_format(matrix.dtype), 1
    return _from_host(matrix, order, *element)


def _from_host(
    matrix: ArrayLike, order: Order, format: int, num_channels: int, flags: int = 0
) -> Array:
    data = np.asarray(matrix, order=order)
    array = _new_array(data.shape, order, format, num_channels, flags)
    row_bytes = data.shape[-1 if order == "C" else 0] * data.itemsize
    return _fill(array, _MEMORY.HOST, boxes.Buffer(data, "matrix", False), row_bytes)


def np_to_array(nparray: ArrayLike, order: Order, allowSurfaceBind: bool = False) -> Array:
    """A new Array with an ndarray of two or three dimensions.

    complex64 and float64 become two channels of int32, complex128 four. The order "C" makes the
    last axis the width, "F" the first. allowSurfaceBind lets surfaces read and write it; two
    dimensions are then those of the one layer of a layered array.
    """
    nparray, order = np.asarray(nparray), _order(order)
    _require("nparray", nparray.shape, (2, 3))
    return _from_host(
        nparray, order, *element_in_parts(nparray.dtype), _surface_flags(allowSurfaceBind)
    )


def gpuarray_to_array(
    gpuarray: core.GPUArray, order: Order, allowSurfaceBind: bool = False
) -> Array:
    """np_to_array from a GPUArray, which must lie in memory in that order. Copies on the device."""
    order, flags = _order(order), gpuarray.flags
    _require("gpuarray", gpuarray.shape, (2, 3))
    if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        raise ValueError(f"gpuarray: expected an array that is contiguous in the order {order!r}")
    element = element_in_parts(gpuarray.dtype)
    array = _new_array(gpuarray.shape, order, *element, _surface_flags(allowSurfaceBind))
    row_bytes = gpuarray.shape[-1 if order == "C" else 0] * gpuarray.dtype.itemsize
    return _fill(array, _MEMORY.DEVICE, device_address(gpuarray, "gpuarray"), row_bytes)


def make_multichannel_2d_array(ndarray: ArrayLike, order: Order) -> Array:
    """A new Array of several channels.

    Parameters
    ----------
    ndarray : numpy.ndarray
        (height, width, channels) for the order "C", (channels, width, height) for "F".
    """
    ndarray, order = np.asarray(ndarray), _order(order)
    _require("ndarray", ndarray.shape, (3,))
    data = np.asarray(ndarray, order=order)
    channels = data.shape[-1 if order == "C" else 0]
    shape = data.shape[:-1] if order == "C" else data.shape[1:]
    array = _new_array(shape, order, dtype_to_array_format(data.dtype), channels)
    row_bytes = shape[-1 if order == "C" else 0] * channels * data.itemsize
    return _fill(array, _MEMORY.HOST, boxes.Buffer(data, "ndarray", False), row_bytes)


def _row(array: Array, index: Int, name: str) -> boxes.End:
    """An end: the one row of a one-dimensional array, from a byte on."""
    boxes.array_in(array, name)
    shape = array.get_descriptor_3d()
    if shape.height > 1 or shape.depth > 1:
        raise errors.LogicError(
            f"{name}: expected an Array of one row, got {shape.width} x {shape.height} x "
            f"{shape.depth}; Memcpy2D and Memcpy3D copy the others"
        )
    return (_MEMORY.ARRAY, array, 0, 0, boxes.whole(index, "index"), 0, 0, -1)


def _memory(kind: enums.memory_type, where: boxes.Buffer | int) -> boxes.End:
    return (kind, where, 0, 0, 0, 0, 0, -1)


def memcpy_dtoa(ary: Array, index: Int, src: Address, len: Int) -> None:
    """Copy `len` bytes of device memory into a one-dimensional Array, from its byte `index` on."""
    source = _memory(_MEMORY.DEVICE, device_address(src, "src"))
    box = (boxes.whole(len, "len"), 1, 1)
    boxes.copy(_row(ary, index, "ary"), source, box, what="memcpy_dtoa")


def memcpy_atod(dest: Address, ary: Array, index: Int, len: Int) -> None:
    """Copy `len` bytes of a one-dimensional Array, from its byte `index` on, to device memory."""
    target = _memory(_MEMORY.DEVICE, device_address(dest, "dest"))
    box = (boxes.whole(len, "len"), 1, 1)
    boxes.copy(target, _row(ary, index, "ary"), box, what="memcpy_atod")


def memcpy_htoa(ary: Array, index: Int, src: BufferLike) -> None:
    """Copy a host buffer into a one-dimensional Array, from its byte `index` on."""
    buffer = boxes.Buffer(src, "src", False, contiguous=True)
    source, target = _memory(_MEMORY.HOST, buffer), _row(ary, index, "ary")
    boxes.copy(target, source, (buffer.nbytes, 1, 1), what="memcpy_htoa")


def memcpy_atoh(dest: BufferLike, ary: Array, index: Int) -> None:
    """Fill a host buffer from a one-dimensional Array, from its byte `index` on."""
    buffer = boxes.Buffer(dest, "dest", True, contiguous=True)
    target, source = _memory(_MEMORY.HOST, buffer), _row(ary, index, "ary")
    boxes.copy(target, source, (buffer.nbytes, 1, 1), what="memcpy_atoh")


def memcpy_atoa(dest: Array, dest_index: Int, src: Array, src_index: Int, len: Int) -> None:
    """Copy `len` bytes between one-dimensional Arrays."""
    target, source = _row(dest, dest_index, "dest"), _row(src, src_index, "src")
    boxes.copy(target, source, (boxes.whole(len, "len"), 1, 1), what="memcpy_atoa")


py_memcpy_htoa, py_memcpy_atoh = memcpy_htoa, memcpy_atoh
