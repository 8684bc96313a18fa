"""Texture and surface objects: how kernels read and write arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._driver import enums
from PyGPU._driver.arrays import channel_format, dtype_to_array_format
from PyGPU._driver.boxes import array_in
from PyGPU._driver.device_attributes import device_attribute
from PyGPU._runtime import core, device_address, errors, state

if TYPE_CHECKING:
    from PyGPU._types import Address, Block, DTypeLike, Int, Shape

__all__ = [
    "SurfaceObject",
    "TextureObject",
]

_MODES, _FILTERS = enums.address_mode, enums.filter_mode


_E = TypeVar("_E", bound=enums._Enumeration)


class TextureObject(core._TextureObject):
    """A cached, filtered view of an Array or of device memory, for kernels.

    Pass it to a kernel as a ``cudaTextureObject_t``; it reads ``tex2D<float>(texture, x, y)``. It
    must live until the kernels that use it are done, and keeps its source for that long.

    Parameters
    ----------
    source : Array, GPUArray or device memory
        Memory of a shape of one length is read by ``tex1Dfetch``, of two by ``tex2D``.
    address_mode : address_mode or sequence of up to three
        What lies outside, for all axes or for x, y and z. WRAP and MIRROR work with
        normalized_coords; without, they are CLAMP.
    filter_mode : filter_mode
        LINEAR gives floats: for formats of floats, or with normalized_float.
    normalized_coords : bool
        Coordinates count whole lengths, 0 to 1, instead of elements.
    normalized_float : bool
        Integers of 8 and 16 bits are read as floats from 0 to 1, or from -1 to 1.
    border_color : sequence of up to four numbers
        What BORDER gives.
    dtype : numpy.dtype, optional
        Of the memory's numbers; a GPUArray's own.
    shape : int or sequence of one or two ints, optional
        Elements: (width,) or (height, width). A GPUArray's own, without its last axis where there
        is more than one channel.
    num_channels : int
        1, 2 or 4 numbers an element.
    pitch : int, optional
        Bytes from one row of the memory to the next, a multiple of
        ``device_attribute.TEXTURE_PITCH_ALIGNMENT``.
    srgb : bool
        Unsigned integers of 8 bits that are read as fractions are sRGB's, and become linear; a
        fourth channel stays as it is.

    Attributes
    ----------
    handle : int
        The cudaTextureObject_t, also by ``int()``.

    Raises
    ------
    LogicError
        For what the device cannot read that way.
    """

    def __init__(
        self,
        source: core._Array | Address,
        address_mode: int | Sequence[int] = _MODES.CLAMP,
        filter_mode: Int = _FILTERS.POINT,
        normalized_coords: bool = False,
        normalized_float: bool = False,
        border_color: Sequence[float] = (0, 0, 0, 0),
        *,
        dtype: DTypeLike | None = None,
        shape: Shape | None = None,
        num_channels: int = 1,
        pitch: Int | None = None,
        srgb: bool = False,
    ) -> None:
        if isinstance(source, core._Array):
            if (dtype, shape, num_channels, pitch) != (None, None, 1, None):
                raise TypeError("an Array knows its dtype, shape, num_channels and pitch itself")
            where: core._Array | int = source
            channels, extent = source._shape()[0], (0, 0, 0)
        else:
            where, channels, extent = _memory(source, dtype, shape, num_channels, pitch)
            _check_memory(where, channels, extent)
        modes = _modes(address_mode)
        if isinstance(source, core._Array) and source._shape()[2] == 0:
            # One row: a GPU would mix it with the border above and below.
            modes = (modes[0], int(_MODES.CLAMP), modes[2])
        filtering = member("filter_mode", _FILTERS, filter_mode)
        border = [float(value) for value in border_color]
        if len(border) > 4:
            raise ValueError(f"border_color={border_color!r}: expected at most 4 numbers")
        _check_reading(channels, filtering, normalized_float)
        super().__init__(
            where,
            channels,
            extent,
            modes,
            int(filtering),
            bool(normalized_coords),
            bool(normalized_float),
            (*border, 0.0, 0.0, 0.0, 0.0)[:4],
            bool(srgb),
        )
        self.source = source


class SurfaceObject(core._SurfaceObject):
    """An Array for kernels to read and write in place.

    Pass it to a kernel as a ``cudaSurfaceObject_t``; it reads
    ``surf2Dread<float>(surface, 4 * x, y)``, with x in bytes.

    Parameters
    ----------
    array : Array
        Made with ``array3d_flags.SURFACE_LDST``.

    Attributes
    ----------
    handle : int
        The cudaSurfaceObject_t, also by ``int()``.
    """

    def __init__(self, array: core._Array) -> None:
        if not array_in(array, "array")._shape()[4] & enums.array3d_flags.SURFACE_LDST:
            raise errors.LogicError(
                "SurfaceObject failed: the array was made without array3d_flags.SURFACE_LDST"
            )
        super().__init__(array)
        self.array = array


def member(name: str, enumeration: type[_E], value: Int) -> _E:
    """A member by its number. LogicError for what is none."""
    try:
        return enumeration(int(value))
    except (TypeError, ValueError):
        raise errors.LogicError(
            f"{name}={value!r}: expected one of {enumeration.__name__}"
        ) from None


def _modes(given: int | Sequence[int]) -> Block:
    modes = [given] if isinstance(given, int) else list(given)
    if not 1 <= len(modes) <= 3:
        raise errors.LogicError(f"address_mode={given!r}: expected one, or one for each axis")
    modes = [int(member("address_mode", _MODES, mode)) for mode in modes]
    x, y, z = modes + modes[-1:] * (3 - len(modes))
    return x, y, z


def _memory(
    source: Address,
    dtype: DTypeLike | None,
    shape: Shape | None,
    num_channels: int,
    pitch: Int | None,
) -> tuple[int, tuple[int, int, int], Block]:
    """(address, format, (width, height, pitch)); a height of 0 for memory without rows."""
    if isinstance(source, core.GPUArray):
        if not source.flags.c_contiguous and pitch is None:
            raise ValueError("source: expected a C-contiguous GPUArray, or a pitch")
        dtype = source.dtype if dtype is None else dtype
        if shape is None:
            shape = source.shape if num_channels == 1 else source.shape[:-1]
            if num_channels != 1 and source.shape[-1:] != (num_channels,):
                raise ValueError(f"source: expected a last axis of {num_channels} channels")
    if dtype is None or shape is None:
        raise TypeError("TextureObject: memory needs a dtype and a shape")
    address = device_address(source, "source")
    channels = channel_format(dtype_to_array_format(dtype), num_channels)
    lengths = tuple(n.__index__() for n in shape) if np.iterable(shape) else (shape.__index__(),)
    if len(lengths) not in (1, 2) or min(lengths) < 1:
        raise errors.LogicError(f"shape={shape!r}: expected one or two positive lengths")
    row_bytes = lengths[-1] * channels[0] // 8 * channels[1]
    if len(lengths) == 1:
        return address, channels, (lengths[0], 0, row_bytes)
    pitch = row_bytes if pitch is None else pitch.__index__()
    return address, channels, (lengths[1], lengths[0], pitch)


def _check_reading(channels: tuple[int, int, int], filtering: Int, normalized_float: bool) -> None:
    bits, _, kind = channels
    gives_float = kind == 2 or normalized_float
    if normalized_float and kind != 2 and bits == 32:
        raise errors.LogicError(
            "normalized_float: integers of 32 bits have none; those of 8 and 16 bits do"
        )
    if filtering == _FILTERS.LINEAR and not gives_float:
        raise errors.LogicError(
            "filter_mode=LINEAR: integers cannot be filtered, except as floats (normalized_float)"
        )


def alignment_of(attribute: Int) -> int:
    """A device_attribute of the current device, at least 1."""
    value, status = core.cudaDeviceGetAttribute(int(attribute), state.current_device())
    return 1 if status else max(value, 1)


def _check_memory(address: int, channels: tuple[int, int, int], extent: Block) -> None:
    """Runtimes only say that something is invalid."""
    width, height, pitch = extent
    alignment = alignment_of(device_attribute.TEXTURE_ALIGNMENT)
    if address % alignment:
        raise errors.LogicError(
            f"source: the address {address:#x} is no multiple of {alignment} "
            "(device_attribute.TEXTURE_ALIGNMENT)"
        )
    if not height:
        return
    row_bytes = width * channels[0] // 8 * channels[1]
    alignment = alignment_of(device_attribute.TEXTURE_PITCH_ALIGNMENT)
    if pitch < row_bytes:
        raise errors.LogicError(f"pitch={pitch}: the rows have {row_bytes} bytes")
    if pitch % alignment:
        raise errors.LogicError(
            f"pitch={pitch}: expected a multiple of {alignment} "
            "(device_attribute.TEXTURE_PITCH_ALIGNMENT)"
        )
