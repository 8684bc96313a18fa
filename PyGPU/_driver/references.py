"""Texture and surface references: variables of a module through which its kernels read and write.

Runtimes dropped them with CUDA 12. Here a reference is bound to what a texture or surface object
reads, and such an object is made at the next launch (:mod:`PyGPU._driver.module_references`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from PyGPU._driver import arrays, boxes, enums
from PyGPU._driver.device_attributes import device_attribute
from PyGPU._driver.textures import SurfaceObject, TextureObject, alignment_of, member
from PyGPU._runtime import device_address, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import Address, ArrayLike, Int, Order

__all__ = [
    "SurfaceReference",
    "TextureReference",
    "bind_array_to_texref",
    "matrix_to_texref",
]

_KINDS = ("int", "uint", "float")
_NAMES = {0x01: "1D", 0x02: "2D", 0x03: "3D", 0x0C: "Cubemap"}
_CUBES = (0x0C, 0xFC)
_NAMES.update({0xF1: "1DLayered", 0xF2: "2DLayered", 0xFC: "CubemapLayered"})


class Declared(NamedTuple):
    """What a text declares a reference to be."""

    dimensions: int  # cudaTextureType… or cudaSurfaceType…
    reading: int = 0  # cudaTextureReadMode
    bits: int = 32
    channels: int = 1
    kind: int = 2  # of the channels, as in arrays.channel_format

    def is_read_as_float(self) -> bool:
        return self.kind == 2 or self.reading == 1

    def check_elements(self, bits: int, channels: int, kind: int) -> None:
        """LogicError for elements that kernels would take for something else."""
        if self.is_read_as_float():
            fits = kind == 2 or (bits < 32 and (self.kind == 2 or bits == self.bits))
        else:
            fits = kind != 2 and bits == self.bits
        if channels != self.channels or not fits:
            raise errors.LogicError(
                f"it is declared for {_element(self.bits, self.channels, self.kind)}, but bound to "
                f"{_element(bits, channels, kind)}"
            )

    def check_shape(self, array: arrays.Array) -> None:
        """LogicError for an array that is not of the declared dimensions."""
        found = _dimensions_of(array)
        if self.dimensions not in found:
            names = " or ".join(_NAMES[one] for one in found)
            raise errors.LogicError(
                f"it is declared as {_NAMES.get(self.dimensions, self.dimensions)}, but bound to "
                f"an array of {names}"
            )


def _element(bits: int, channels: int, kind: int) -> str:
    return f"{channels} x {_KINDS[kind]}{bits}"


def _dimensions_of(array: arrays.Array) -> tuple[int, ...]:
    """The types of references that read an array; a single row serves as a line, too."""
    _, _, height, depth, flags = array._shape()
    if flags & enums.array3d_flags.CUBEMAP:
        return (0xFC,) if flags & enums.array3d_flags.ARRAY3D_LAYERED else (0x0C,)
    if flags & enums.array3d_flags.ARRAY3D_LAYERED:
        return (0xF2,) if height else (0xF1,)
    if depth:
        return (3,)
    return (2,) if height > 1 else (1, 2) if height else (1,)


class _Memory(NamedTuple):
    """Device memory that a texture reference is bound to; a height of 0: without rows."""

    address: int
    nbytes: int
    owner: object  # kept alive
    width: int = 0
    height: int = 0
    pitch: int = 0

    def __index__(self) -> int:  # so that a TextureObject keeps it
        return self.address


class TextureReference:
    """A texture of a module, from :meth:`Module.get_texref`.

    What is set counts from the next launch of one of the module's functions on; launches before it
    keep what they had. How integers are read, as they are or as fractions, is the declaration's to
    say: ``cudaReadModeNormalizedFloat``, or a texture of floats, gives fractions.
    """

    _object: TextureObject | None = None
    _is_changed = False

    def __init__(self) -> None:
        self._declared: Declared | None = None
        self._source: arrays.Array | _Memory | None = None
        self._format = enums.array_format.FLOAT, 1
        self._modes = [enums.address_mode.CLAMP] * 3
        self._filter = enums.filter_mode.POINT
        self._flags = 0

    def _declare(self, declared: Declared) -> None:
        self._declared = declared
        self._format = arrays.format_of(declared.bits, declared.kind), declared.channels
        self._flags = 0 if declared.is_read_as_float() else enums.TRSF_READ_AS_INTEGER

    def set_array(self, array: arrays.Array) -> None:
        """Read an Array, which stays alive for that long, with its own format."""
        boxes.array_in(array, "array")
        (bits, channels, kind), *_ = array._shape()
        self._source, self._format = array, (arrays.format_of(bits, kind), channels)
        self._is_changed = True

    def set_address(self, devptr: Address, bytes: Int, allow_offset: bool = False) -> int:
        """Read device memory by ``tex1Dfetch``; an object that owns it stays alive for that long.

        Parameters
        ----------
        devptr : device memory
        bytes : int
        allow_offset : bool
            Take an address that is no multiple of ``device_attribute.TEXTURE_ALIGNMENT``.

        Returns
        -------
        int
            The bytes from where the texture begins to `devptr`.
        """
        address = device_address(devptr, "devptr")
        offset = address % alignment_of(device_attribute.TEXTURE_ALIGNMENT)
        if offset and not allow_offset:
            raise errors.LogicError(
                f"TextureReference.set_address failed: devptr={address:#x}: it would be read with "
                f"an offset of {offset} bytes, but allow_offset is False"
            )
        nbytes = boxes.whole(bytes, "bytes")
        self._source = _Memory(address - offset, nbytes + offset, devptr)
        self._is_changed = True
        return offset

    def set_address_2d(self, devptr: Address, descr: arrays.ArrayDescriptor, pitch: Int) -> None:
        """Read device memory with rows of `pitch` bytes by ``tex2D``.

        Parameters
        ----------
        devptr : device memory
        descr : ArrayDescriptor
        pitch : int
            A multiple of ``device_attribute.TEXTURE_PITCH_ALIGNMENT``.
        """
        if not isinstance(descr, arrays.ArrayDescriptor):
            raise TypeError(f"descr: expected an ArrayDescriptor, got {descr!r}")
        arrays.channel_format(descr.format, descr.num_channels)
        address = device_address(devptr, "devptr")
        width, height = boxes.whole(descr.width, "width"), boxes.whole(descr.height, "height")
        step = boxes.whole(pitch, "pitch")
        self._source = _Memory(address, step * height, devptr, width, max(height, 1), step)
        self._format = enums.array_format(int(descr.format)), int(descr.num_channels)
        self._is_changed = True

    def set_format(self, fmt: Int, num_components: Int) -> None:
        """The elements of memory: an array_format, and 1, 2 or 4 channels."""
        channels = integer("num_components", num_components)
        arrays.channel_format(int(fmt), channels)
        self._format = enums.array_format(int(fmt)), channels
        self._is_changed = True

    def set_address_mode(self, dim: Int, am: Int) -> None:
        """What lies outside along axis `dim`, 0 to 2: an address_mode."""
        self._modes[_axis(dim)] = member("am", enums.address_mode, am)
        self._is_changed = True

    def set_filter_mode(self, fm: Int) -> None:
        """How elements are read between their centres: a filter_mode."""
        self._filter = member("fm", enums.filter_mode, fm)
        self._is_changed = True

    def set_flags(self, flags: Int) -> None:
        """TRSF_NORMALIZED_COORDINATES, TRSF_SRGB, and TRSF_READ_AS_INTEGER, which is kept for
        get_flags()."""
        number = integer("flags", flags)
        known = enums.TRSF_READ_AS_INTEGER | enums.TRSF_NORMALIZED_COORDINATES | enums.TRSF_SRGB
        if number & ~known:
            raise errors.LogicError(
                f"TextureReference.set_flags failed: flags={number}: expected those named TRSF_..."
            )
        self._flags = number
        self._is_changed = True

    def get_address(self) -> int:
        """Where the memory that is read begins."""
        if not isinstance(self._source, _Memory):
            raise errors.LogicError("get_address failed: the reference is bound to no memory")
        return self._source.address

    def get_array(self) -> arrays.Array:
        """The Array that is read."""
        if not isinstance(self._source, arrays.Array):
            raise errors.LogicError("get_array failed: the reference is bound to no Array")
        return self._source

    def get_address_mode(self, dim: Int) -> enums.address_mode:
        return self._modes[_axis(dim)]

    def get_filter_mode(self) -> enums.filter_mode:
        return self._filter

    def get_format(self) -> tuple[enums.array_format, int]:
        """(array_format, channels)"""
        return self._format

    def get_flags(self) -> int:
        return self._flags

    def _made(self) -> TextureObject:
        """The object of what is bound. LogicError for what does not fit the declaration."""
        source, declared = self._source, self._declared
        assert source is not None and declared is not None
        format = arrays.channel_format(*self._format)
        declared.check_elements(*format)
        how: dict[str, Any] = {
            "normalized_float": format[2] != 2 and declared.is_read_as_float(),
            "srgb": bool(self._flags & enums.TRSF_SRGB),
        }
        if not isinstance(source, _Memory) or source.height:
            how["address_mode"], how["filter_mode"] = self._modes, self._filter
            how["normalized_coords"] = (
                bool(self._flags & enums.TRSF_NORMALIZED_COORDINATES)
                or declared.dimensions in _CUBES
            )
        if not isinstance(source, _Memory):
            declared.check_shape(source)
            return TextureObject(source, **how)
        needed = 2 if source.height else 1
        if declared.dimensions != needed:
            raise errors.LogicError(
                f"it is declared as {_NAMES.get(declared.dimensions, declared.dimensions)}, but "
                f"bound to memory, which is read as {_NAMES[needed]}"
            )
        bits, how["num_channels"], kind = format
        how["dtype"] = np.dtype(f"{'iuf'[kind]}{bits // 8}")
        how["shape"] = source.nbytes // (bits // 8 * format[1])
        if source.height:
            how["shape"], how["pitch"] = (source.height, source.width), source.pitch
        return TextureObject(source, **how)


class SurfaceReference:
    """A surface of a module, from :meth:`Module.get_surfref`: an Array that kernels read and write
    in place."""

    _object: SurfaceObject | None = None
    _is_changed = False

    def __init__(self) -> None:
        self._declared: Declared | None = None
        self._source: arrays.Array | None = None

    def _declare(self, declared: Declared) -> None:
        self._declared = declared

    def set_array(self, array: arrays.Array, flags: Int = 0) -> None:
        """Use an Array made with ``array3d_flags.SURFACE_LDST``, which stays alive for that long.

        Parameters
        ----------
        array : Array
        flags : int
            0: there are none.
        """
        if integer("flags", flags):
            raise errors.LogicError(f"SurfaceReference.set_array failed: flags={flags}: expected 0")
        boxes.array_in(array, "array")
        self._source = array
        self._is_changed = True

    def get_array(self) -> arrays.Array:
        """The Array that is used."""
        if self._source is None:
            raise errors.LogicError("get_array failed: the reference is bound to no Array")
        return self._source

    def _made(self) -> SurfaceObject:
        assert self._source is not None and self._declared is not None
        self._declared.check_shape(self._source)
        return SurfaceObject(self._source)


Reference = Union[TextureReference, SurfaceReference]


def _axis(dim: Int) -> int:
    axis = integer("dim", dim)
    if not 0 <= axis <= 2:
        raise errors.LogicError(f"dim={axis}: expected an axis from 0 to 2")
    return axis


def bind_array_to_texref(ary: arrays.Array, texref: TextureReference) -> None:
    """Let a reference read an Array: the nearest element, that at the edge for what is outside."""
    texref.set_array(ary)
    texref.set_address_mode(0, enums.address_mode.CLAMP)
    texref.set_address_mode(1, enums.address_mode.CLAMP)
    texref.set_filter_mode(enums.filter_mode.POINT)


def matrix_to_texref(matrix: ArrayLike, texref: TextureReference, order: Order) -> None:
    """:func:`bind_array_to_texref` of :func:`matrix_to_array`."""
    bind_array_to_texref(arrays.matrix_to_array(matrix, order), texref)
