"""Arrays in CUDA's sense: device memory in an opaque order, which textures and surfaces access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._driver import enums, strided_copies
from PyGPU._runtime import core, docstrings, errors

if TYPE_CHECKING:
    from PyGPU._types import ArrayLike, DTypeLike, Order

__all__ = [
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "dtype_to_array_format",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "np_to_array",
]

_FORMATS = enums.array_format
_SIGNED, _UNSIGNED, _FLOAT = 0, 1, 2  # CUDA's kinds of channels
_CHANNELS = {  # {array_format: (bits, kind)}
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
    """Return a format as (bits, channels, kind), which the low level expects."""
    try:
        bits, kind = _CHANNELS[_FORMATS(int(format))]
    except (TypeError, ValueError):
        raise errors.LogicError(f"format={format!r}: expected an array_format") from None
    if num_channels not in (1, 2, 4):
        raise errors.LogicError(f"num_channels={num_channels!r}: expected 1, 2 or 4")
    return bits, int(num_channels), kind


def dtype_to_array_format(dtype: DTypeLike) -> enums.array_format:
    """Return the array_format of a dtype.

    :param dtype: Integers of 8, 16 or 32 bits, float16 or float32.
    :returns: Format of an array or a texture.
    :raises TypeError: If no format has that dtype.

    >>> print(drv.dtype_to_array_format("float32"))
    FLOAT
    """
    dtype = np.dtype(dtype)
    key = (8 * dtype.itemsize, _KINDS.get(dtype.kind))
    if key not in _FORMAT_OF or not dtype.isnative:
        raise TypeError(
            f"dtype={dtype}: expected an integer of 8, 16 or 32 bits, float16 or float32"
        )
    return _FORMAT_OF[key]


def format_of(bits: int, kind: int) -> enums.array_format:
    """Return the array_format of channels; the inverse of :func:`channel_format`."""
    return _FORMAT_OF[bits, kind]


_D = TypeVar("_D", bound="ArrayDescriptor")


class ArrayDescriptor:
    """Description of an Array of one or two dimensions.

    Attributes
    ----------
    width, height : int
        Extents in elements; a height of 0 makes the Array one-dimensional.
    format : array_format
        Format of a channel.
    num_channels : int
        Channels of an element: 1, 2 or 4.

    >>> descriptor = drv.ArrayDescriptor()
    >>> descriptor.width, descriptor.height, descriptor.num_channels = 8, 4, 1
    >>> descriptor.format = drv.array_format.FLOAT
    >>> drv.Array(descriptor).get_descriptor().width
    8
    """

    def __init__(self) -> None:
        self.width = self.height = self.num_channels = 0
        self.format: int = _FORMATS.UNSIGNED_INT8


class ArrayDescriptor3D(ArrayDescriptor):
    """Description of an Array of one, two or three dimensions.

    Attributes
    ----------
    width, height, depth : int
        Extents in elements; 0 for dimensions that the Array lacks. The depth of a layered array is
        its number of layers.
    format : array_format
        Format of a channel.
    num_channels : int
        Channels of an element: 1, 2 or 4.
    flags : int
        Combination of ``array3d_flags``.

    >>> descriptor = drv.ArrayDescriptor3D()
    >>> descriptor.width, descriptor.height, descriptor.depth = 8, 4, 2
    >>> descriptor.format, descriptor.num_channels = drv.array_format.FLOAT, 1
    >>> drv.Array(descriptor).get_descriptor_3d().depth
    2
    """

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.flags = 0


class Array(core._Array):
    """Device memory that textures and surfaces access, freed with the object.

    :param ArrayDescriptor or ArrayDescriptor3D descriptor: Extents, format and flags.
    :raises LogicError: If the device has no such arrays.
    :raises MemoryError: If the device has too little memory.

    >>> descriptor = drv.ArrayDescriptor()
    >>> descriptor.width, descriptor.num_channels = 8, 1
    >>> descriptor.format = drv.array_format.FLOAT
    >>> drv.Array(descriptor).get_descriptor().height
    0
    """

    def __init__(self, descriptor: ArrayDescriptor) -> None:
        if not isinstance(descriptor, ArrayDescriptor):
            raise TypeError(f"descriptor: expected an ArrayDescriptor, got {descriptor!r}")
        found = channel_format(descriptor.format, descriptor.num_channels)
        width, height, depth = (
            strided_copies.non_negative(getattr(descriptor, name, 0), name)
            for name in ("width", "height", "depth")
        )
        flags = strided_copies.non_negative(getattr(descriptor, "flags", 0), "flags")
        if flags > 15:
            raise errors.LogicError(f"Array failed: flags={flags}: expected array3d_flags")
        super().__init__(found, width, height, depth, flags)

    def free(self) -> None:
        """Free the memory now; a second call does nothing.

        No kernel may use its textures and surfaces afterwards.
        """
        errors.check(self._free(), "cudaFreeArray")

    def _describe(self, descriptor: _D) -> _D:
        (bits, channels, kind), width, height, depth, flags = self._shape()
        descriptor.width, descriptor.height = width, height
        descriptor.format, descriptor.num_channels = _FORMAT_OF[bits, kind], channels
        if isinstance(descriptor, ArrayDescriptor3D):
            descriptor.depth, descriptor.flags = depth, flags
        return descriptor

    def get_descriptor(self) -> ArrayDescriptor:
        """Return the extents and the format of the Array.

        :returns: Width, height, format and channels.
        """
        return self._describe(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """Return the extents, the format and the flags of the Array.

        :returns: Width, height, depth, format, channels and flags.
        """
        return self._describe(ArrayDescriptor3D())


def _new_array(
    shape: Sequence[int], order: Order, format: int, num_channels: int, flags: int = 0
) -> Array:
    """Return an Array of 1 to 3 lengths; the width is the last one for "C", the first for "F"."""
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
    array: Array, kind: enums.memory_type, where: strided_copies.Buffer | int, row_bytes: int
) -> Array:
    """Fill an Array from contiguous memory with rows of `row_bytes`."""
    shape = array.get_descriptor_3d()
    rows, slices = max(shape.height, 1), max(shape.depth, 1)
    source = (kind, where, row_bytes, rows, 0, 0, 0, -1)
    target = (_MEMORY.ARRAY, array, 0, 0, 0, 0, 0, -1)
    strided_copies.copy(target, source, (row_bytes, rows, slices), what="copy to the array")
    return array


def element_in_parts(dtype: DTypeLike) -> tuple[enums.array_format, int]:
    """Return the (array_format, channels) that store a dtype; wide ones as channels of int32."""
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
        raise errors.LogicError(f"{name}: expected {wanted} non-empty dimensions, got {shape}")


def matrix_to_array(matrix: ArrayLike, order: Order, allow_double_hack: bool = False) -> Array:
    """Copy a matrix to a new Array.

    :param matrix: Shape (height, width) for the order "C", (width, height) for "F".
    :param order: Order of the axes.
    :param allow_double_hack: Store float64 as two channels of int32, for ``__hiloint2double(v.y,
        v.x)``.
    :returns: The copy, on the current device.
    :raises TypeError: If no texture has the matrix's dtype.

    >>> drv.matrix_to_array(np.zeros((4, 8), np.float32), "C").get_descriptor().width
    8
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
    return _fill(array, _MEMORY.HOST, strided_copies.Buffer(data, "matrix", False), row_bytes)


def np_to_array(nparray: ArrayLike, order: Order, allowSurfaceBind: bool = False) -> Array:
    """Copy an ndarray of two or three dimensions to a new Array.

    complex64 and float64 become two channels of int32, complex128 becomes four.

    :param nparray: The data.
    :param order: "C" makes the last axis the width, "F" the first one.
    :param allowSurfaceBind: Let surfaces access the Array. Two-dimensional data then is the only
        layer of a layered array.
    :returns: The copy, on the current device.

    >>> drv.np_to_array(np.zeros((2, 4, 8), np.float32), "C").get_descriptor_3d().depth
    2
    """
    nparray, order = np.asarray(nparray), _order(order)
    _require("nparray", nparray.shape, (2, 3))
    return _from_host(
        nparray, order, *element_in_parts(nparray.dtype), _surface_flags(allowSurfaceBind)
    )


def gpuarray_to_array(
    gpuarray: core.GPUArray, order: Order, allowSurfaceBind: bool = False
) -> Array:
    """Copy a GPUArray of two or three dimensions to a new Array on the device.

    complex64 and float64 become two channels of int32, complex128 becomes four.

    :param gpuarray: The data, contiguous in the given order.
    :param order: "C" makes the last axis the width, "F" the first one.
    :param allowSurfaceBind: Let surfaces access the Array. Two-dimensional data then is the only
        layer of a layered array.
    :returns: The copy.
    :raises ValueError: If the GPUArray is not contiguous in that order.

    >>> import PyGPU.gpuarray as gpuarray
    >>> drv.gpuarray_to_array(gpuarray.zeros((4, 8), "float32"), "C").get_descriptor().width
    8
    """
    order, flags = _order(order), gpuarray.flags
    _require("gpuarray", gpuarray.shape, (2, 3))
    if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        raise ValueError(f"gpuarray: expected an array that is contiguous in the order {order!r}")
    element = element_in_parts(gpuarray.dtype)
    array = _new_array(gpuarray.shape, order, *element, _surface_flags(allowSurfaceBind))
    row_bytes = gpuarray.shape[-1 if order == "C" else 0] * gpuarray.dtype.itemsize
    return _fill(array, _MEMORY.DEVICE, core._device_address(gpuarray, "gpuarray"), row_bytes)


def make_multichannel_2d_array(ndarray: ArrayLike, order: Order) -> Array:
    """Copy an ndarray to a new Array of several channels.

    :param ndarray: Shape (height, width, channels) for the order "C", (channels, width, height) for
        "F".
    :param order: Order of the axes.
    :returns: The copy, on the current device.

    >>> array = drv.make_multichannel_2d_array(np.zeros((4, 8, 2), np.float32), "C")
    >>> array.get_descriptor().num_channels
    2
    """
    ndarray, order = np.asarray(ndarray), _order(order)
    _require("ndarray", ndarray.shape, (3,))
    data = np.asarray(ndarray, order=order)
    channels = data.shape[-1 if order == "C" else 0]
    shape = data.shape[:-1] if order == "C" else data.shape[1:]
    array = _new_array(shape, order, dtype_to_array_format(data.dtype), channels)
    row_bytes = shape[-1 if order == "C" else 0] * channels * data.itemsize
    return _fill(array, _MEMORY.HOST, strided_copies.Buffer(data, "ndarray", False), row_bytes)


docstrings.complete(__name__)
