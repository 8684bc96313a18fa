"""Texture and surface objects, by which kernels read and write Arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._driver import enums
from PyGPU._driver.arrays import channel_format, dtype_to_array_format
from PyGPU._driver.strided_copies import array_in
from PyGPU._runtime import core, docstrings, errors, is_gpuarray, state

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

    A kernel receives it as a ``cudaTextureObject_t`` and reads ``tex2D<float>(texture, x, y)``. The
    object must live until these kernels are done. It keeps its source alive.

    Parameters
    ----------
    source : Array, GPUArray or device memory
        ``tex1Dfetch`` reads memory of one dimension, ``tex2D`` memory of two.
    address_mode : address_mode or sequence of up to three, optional
        Addressing outside the extent, for all axes or for x, y and z. WRAP and MIRROR need
        normalized coordinates; otherwise they act as CLAMP.
    filter_mode : filter_mode, optional
        LINEAR returns floats, so it needs a float format or `normalized_float`.
    normalized_coords : bool, optional
        Coordinates run from 0 to 1 along each axis instead of counting elements.
    normalized_float : bool, optional
        Read integers of 8 and 16 bits as floats: 0 to 1, or -1 to 1 for signed ones.
    border_color : sequence of up to four numbers, optional
        Value outside the extent for the mode BORDER.
    dtype : dtype, optional
        Data type of a channel in memory. A GPUArray's own by default.
    shape : int or sequence of one or two ints, optional
        Elements of memory: (width,) or (height, width). A GPUArray's own by default, without its
        last axis if there are several channels.
    num_channels : int, optional
        Channels of an element in memory: 1, 2 or 4.
    pitch : int, optional
        Distance of two rows of memory in bytes, a multiple of
        ``device_attribute.TEXTURE_PITCH_ALIGNMENT``.
    srgb : bool, optional
        Convert sRGB values, stored as unsigned integers of 8 bits and read as fractions, to linear
        ones. A fourth channel is not converted.

    Attributes
    ----------
    handle : int
        The cudaTextureObject_t; ``int()`` returns it as well.

    Raises
    ------
    LogicError
        If the device cannot read the source that way.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('''
    ... __global__ void fetch(float *y, cudaTextureObject_t t) { *y = tex2D<float>(t, 1, 0); }''')
    >>> texture = drv.TextureObject(drv.matrix_to_array(np.float32([[4, 5]]), "C"))
    >>> y = np.empty(1, np.float32)
    >>> module.get_function("fetch")(drv.Out(y), texture, block=(1, 1, 1))
    >>> y
    array([5.], dtype=float32)
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
                raise TypeError(
                    "dtype, shape, num_channels, pitch: an Array has its own, pass none"
                )
            where: core._Array | int = source
            channels, extent = source._shape()[0], (0, 0, 0)
        else:
            where, channels, extent = _memory(source, dtype, shape, num_channels, pitch)
            _check_memory(where, channels, extent)
        modes = _modes(address_mode)
        if isinstance(source, core._Array) and source._shape()[2] == 0:
            # One row: along y, a GPU would blend it with the border above and below.
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
    """A view of an Array that kernels read and write in place.

    A kernel receives it as a ``cudaSurfaceObject_t`` and reads
    ``surf2Dread<float>(surface, 4 * x, y)``, with x in bytes.

    :param array: Array made with ``array3d_flags.SURFACE_LDST``.

    Attributes
    ----------
    handle : int
        The cudaSurfaceObject_t; ``int()`` returns it as well.

    >>> array = drv.np_to_array(np.zeros((4, 8), np.float32), "C", allowSurfaceBind=True)
    >>> surface = drv.SurfaceObject(array)
    >>> int(surface) == surface.handle
    True
    """

    def __init__(self, array: core._Array) -> None:
        if not array_in(array, "array")._shape()[4] & enums.array3d_flags.SURFACE_LDST:
            raise errors.LogicError(
                "SurfaceObject failed: array: expected an Array with array3d_flags.SURFACE_LDST"
            )
        super().__init__(array)
        self.array = array


def member(name: str, enumeration: type[_E], value: Int) -> _E:
    """Return the member of an enumeration by its number, or raise LogicError."""
    try:
        return enumeration(int(value))
    except (TypeError, ValueError):
        raise errors.LogicError(
            f"{name}={value!r}: expected one of {enumeration.__name__}"
        ) from None


def _modes(given: int | Sequence[int]) -> Block:
    modes = [given] if isinstance(given, int) else list(given)
    if not 1 <= len(modes) <= 3:
        raise errors.LogicError(f"address_mode={given!r}: expected one mode, or one for each axis")
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
    """Return (address, format, (width, height, pitch)); a height of 0 means one dimension."""
    if is_gpuarray(source):
        if not source.flags.c_contiguous and pitch is None:
            raise ValueError("source: expected a C-contiguous GPUArray, or a pitch")
        dtype = source.dtype if dtype is None else dtype
        if shape is None:
            shape = source.shape if num_channels == 1 else source.shape[:-1]
            if num_channels != 1 and source.shape[-1:] != (num_channels,):
                raise ValueError(f"source: expected a last axis of {num_channels} channels")
    if dtype is None or shape is None:
        raise TypeError("dtype, shape: expected both, as source is plain memory")
    address = core._device_address(source, "source")
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
            "normalized_float=True: expected integers of 8 or 16 bits, got 32 bits"
        )
    if filtering == _FILTERS.LINEAR and not gives_float:
        raise errors.LogicError(
            "filter_mode=LINEAR: expected floats, or integers with normalized_float=True"
        )


def alignment_of(attribute: Int) -> int:
    """Return an alignment, given by its device_attribute, of the current device; at least 1."""
    value, status = core.cudaDeviceGetAttribute(int(attribute), state.current_device())
    return 1 if status else max(value, 1)


def _check_memory(address: int, channels: tuple[int, int, int], extent: Block) -> None:
    """Check address and pitch here, as the runtime only reports an invalid argument."""
    width, height, pitch = extent
    alignment = alignment_of(enums.device_attribute.TEXTURE_ALIGNMENT)
    if address % alignment:
        raise errors.LogicError(
            f"source: address {address:#x}: expected a multiple of {alignment} "
            "(device_attribute.TEXTURE_ALIGNMENT)"
        )
    if not height:
        return
    row_bytes = width * channels[0] // 8 * channels[1]
    alignment = alignment_of(enums.device_attribute.TEXTURE_PITCH_ALIGNMENT)
    if pitch < row_bytes:
        raise errors.LogicError(f"pitch={pitch}: expected at least the {row_bytes} bytes of a row")
    if pitch % alignment:
        raise errors.LogicError(
            f"pitch={pitch}: expected a multiple of {alignment} "
            "(device_attribute.TEXTURE_PITCH_ALIGNMENT)"
        )


docstrings.complete(__name__)
