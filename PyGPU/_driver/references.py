"""Texture and surface references: module variables through which kernels read and write memory.

CUDA 12 removed references from the runtime. Here a reference stores its binding, and the next
launch makes a texture or surface object of it (:mod:`PyGPU._driver.module_references`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from PyGPU._driver import arrays, enums
from PyGPU._driver.strided_copies import array_in, non_negative
from PyGPU._driver.textures import SurfaceObject, TextureObject, alignment_of, member
from PyGPU._runtime import core, docstrings, errors, integer

if TYPE_CHECKING:
    from PyGPU._types import Address, ArrayLike, Int, Order

__all__ = [
    "SurfaceReference",
    "TextureReference",
    "bind_array_to_texref",
    "matrix_to_texref",
]


class _Memory(NamedTuple):
    """Device memory that a texture reference is bound to; a height of 0 means one dimension."""

    address: int
    nbytes: int
    owner: object  # kept alive
    width: int = 0
    height: int = 0
    pitch: int = 0

    def __index__(self) -> int:  # lets a TextureObject accept it as a source, and keep it alive
        return self.address


class TextureReference:
    """A texture reference of a module, from :meth:`Module.get_texref`.

    Settings apply from the next launch of a function of the module; earlier launches keep theirs.
    The declaration decides how integers are read: ``cudaReadModeNormalizedFloat`` and a texture of
    floats make them fractions.

    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('''
    ... texture<float, 2> image;
    ... __global__ void fetch(float *y) { *y = tex2D(image, 1, 0); }''')
    >>> reference = module.get_texref("image")
    >>> reference.set_array(drv.matrix_to_array(np.float32([[4, 5]]), "C"))
    >>> y = np.empty(1, np.float32)
    >>> module.get_function("fetch")(drv.Out(y), block=(1, 1, 1), texrefs=[reference])
    >>> y
    array([5.], dtype=float32)
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
        """Bind the reference to an Array, with the Array's format.

        :param array: Array to read; the reference keeps it alive.
        """
        array_in(array, "array")
        (bits, channels, kind), *_ = array._shape()
        self._source, self._format = array, (arrays.format_of(bits, kind), channels)
        self._is_changed = True

    def set_address(self, devptr: Address, bytes: Int, allow_offset: bool = False) -> int:
        """Bind the reference to device memory, which ``tex1Dfetch`` reads.

        :param devptr: Memory to read; the reference keeps an owner alive.
        :param bytes: Size of the memory in bytes.
        :param allow_offset: Accept an address that is not a multiple of
            ``device_attribute.TEXTURE_ALIGNMENT``.
        :returns: Offset of `devptr` in the texture, in bytes.
        """
        address = core._device_address(devptr, "devptr")
        offset = address % alignment_of(enums.device_attribute.TEXTURE_ALIGNMENT)
        if offset and not allow_offset:
            raise errors.LogicError(
                f"TextureReference.set_address failed: devptr={address:#x}: the offset in the "
                f"texture is {offset} bytes, but allow_offset is False"
            )
        nbytes = non_negative(bytes, "bytes")
        self._source = _Memory(address - offset, nbytes + offset, devptr)
        self._is_changed = True
        return offset

    def set_address_2d(self, devptr: Address, descr: arrays.ArrayDescriptor, pitch: Int) -> None:
        """Bind the reference to pitched device memory, which ``tex2D`` reads.

        :param devptr: Memory to read; the reference keeps an owner alive.
        :param descr: Width, height and format of the memory.
        :param pitch: Distance of two rows in bytes, a multiple of
            ``device_attribute.TEXTURE_PITCH_ALIGNMENT``.
        """
        if not isinstance(descr, arrays.ArrayDescriptor):
            raise TypeError(f"descr: expected an ArrayDescriptor, got {descr!r}")
        arrays.channel_format(descr.format, descr.num_channels)
        address = core._device_address(devptr, "devptr")
        width, height = non_negative(descr.width, "width"), non_negative(descr.height, "height")
        step = non_negative(pitch, "pitch")
        self._source = _Memory(address, step * height, devptr, width, max(height, 1), step)
        self._format = enums.array_format(int(descr.format)), int(descr.num_channels)
        self._is_changed = True

    def set_format(self, fmt: Int, num_components: Int) -> None:
        """Set the format of the elements.

        :param array_format fmt: Format of a channel.
        :param num_components: Channels of an element: 1, 2 or 4.
        """
        channels = integer("num_components", num_components)
        arrays.channel_format(int(fmt), channels)
        self._format = enums.array_format(int(fmt)), channels
        self._is_changed = True

    def set_address_mode(self, dim: Int, am: Int) -> None:
        """Set the addressing outside the extent along an axis.

        :param dim: Axis, 0 to 2.
        :param address_mode am: The mode.
        """
        self._modes[_axis(dim)] = member("am", enums.address_mode, am)
        self._is_changed = True

    def set_filter_mode(self, fm: Int) -> None:
        """Set the filtering between the centers of elements.

        :param filter_mode fm: The mode.
        """
        self._filter = member("fm", enums.filter_mode, fm)
        self._is_changed = True

    def set_flags(self, flags: Int) -> None:
        """Set the flags of the reference.

        :param flags: Combination of TRSF_NORMALIZED_COORDINATES, TRSF_SRGB and
            TRSF_READ_AS_INTEGER. The last one has no effect, as the declaration decides.
        """
        number = integer("flags", flags)
        known = enums.TRSF_READ_AS_INTEGER | enums.TRSF_NORMALIZED_COORDINATES | enums.TRSF_SRGB
        if number & ~known:
            raise errors.LogicError(
                f"TextureReference.set_flags failed: flags={number}: expected TRSF_... flags"
            )
        self._flags = number
        self._is_changed = True

    def get_address(self) -> int:
        """Return the address of the bound memory.

        :returns: Device address.
        :raises LogicError: If the reference is not bound to memory.
        """
        if not isinstance(self._source, _Memory):
            raise errors.LogicError("get_address failed: the reference is not bound to memory")
        return self._source.address

    def get_array(self) -> arrays.Array:
        """Return the bound Array.

        :returns: The Array.
        :raises LogicError: If the reference is not bound to an Array.
        """
        if not isinstance(self._source, arrays.Array):
            raise errors.LogicError("get_array failed: the reference is not bound to an Array")
        return self._source

    def get_address_mode(self, dim: Int) -> enums.address_mode:
        """Return the addressing outside the extent along an axis.

        :param dim: Axis, 0 to 2.
        :returns: The mode.
        """
        return self._modes[_axis(dim)]

    def get_filter_mode(self) -> enums.filter_mode:
        """Return the filtering between the centers of elements.

        :returns: The mode.
        """
        return self._filter

    def get_format(self) -> tuple[enums.array_format, int]:
        """Return the format of the elements.

        :returns tuple: (array_format, number of channels).
        """
        return self._format

    def get_flags(self) -> int:
        """Return the flags of the reference.

        :returns: Combination of the flags ``TRSF_...``.
        """
        return self._flags

    def _make_object(self) -> TextureObject:
        """Return a texture object of the binding, or raise LogicError if it does not fit."""
        source, declared = self._source, self._declared
        if source is None or declared is None:
            raise errors.LogicError("a texture object was asked of a reference that is not bound")
        declared.check_elements(*(format := arrays.channel_format(*self._format)))
        how: dict[str, Any] = {
            "normalized_float": format[2] != 2 and declared.is_read_as_float(),
            "srgb": bool(self._flags & enums.TRSF_SRGB),
        }
        if not isinstance(source, _Memory) or source.height:
            how["address_mode"], how["filter_mode"] = self._modes, self._filter
            how["normalized_coords"] = (
                bool(self._flags & enums.TRSF_NORMALIZED_COORDINATES)
                or declared.dimensions in CUBES
            )
        if not isinstance(source, _Memory):
            declared.check_shape(source)
            return TextureObject(source, **how)
        needed = 2 if source.height else 1
        if declared.dimensions != needed:
            raise errors.LogicError(
                f"it is declared as {NAMES.get(declared.dimensions, declared.dimensions)}, but "
                f"bound to memory, which a {NAMES[needed]} reference reads"
            )
        bits, how["num_channels"], kind = format
        how["dtype"] = np.dtype(f"{'iuf'[kind]}{bits // 8}")
        how["shape"] = source.nbytes // (bits // 8 * format[1])
        if source.height:
            how["shape"], how["pitch"] = (source.height, source.width), source.pitch
        return TextureObject(source, **how)


class SurfaceReference:
    """A surface reference of a module, from :meth:`Module.get_surfref`.

    Kernels read and write the bound Array in place.

    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('''
    ... surface<void, cudaSurfaceType2DLayered> image;
    ... __global__ void store() { surf2DLayeredwrite(7.0f, image, 0, 0, 0); }''')
    >>> array = drv.np_to_array(np.zeros((1, 2), np.float32), "C", allowSurfaceBind=True)
    >>> module.get_surfref("image").set_array(array)
    >>> module.get_function("store")(block=(1, 1, 1))
    >>> copy, y = drv.Memcpy2D(), np.empty(1, np.float32)
    >>> copy.set_src_array(array)
    >>> copy.set_dst_host(y)
    >>> copy.width_in_bytes, copy.height = 4, 1
    >>> copy()
    >>> y
    array([7.], dtype=float32)
    """

    _object: SurfaceObject | None = None
    _is_changed = False

    def __init__(self) -> None:
        self._declared: Declared | None = None
        self._source: arrays.Array | None = None

    def _declare(self, declared: Declared) -> None:
        self._declared = declared

    def set_array(self, array: arrays.Array, flags: Int = 0) -> None:
        """Bind the reference to an Array.

        :param array: Array made with ``array3d_flags.SURFACE_LDST``; the reference keeps it alive.
        :param {0} flags: Must be 0.
        """
        if integer("flags", flags):
            raise errors.LogicError(f"SurfaceReference.set_array failed: flags={flags}: expected 0")
        array_in(array, "array")
        self._source = array
        self._is_changed = True

    def get_array(self) -> arrays.Array:
        """Return the bound Array.

        :returns: The Array.
        :raises LogicError: If the reference is not bound.
        """
        if self._source is None:
            raise errors.LogicError("get_array failed: the reference is not bound to an Array")
        return self._source

    def _make_object(self) -> SurfaceObject:
        source = self.get_array()
        if self._declared is not None:
            self._declared.check_shape(source)
        return SurfaceObject(source)


Reference = Union[TextureReference, SurfaceReference]


def _axis(dim: Int) -> int:
    axis = integer("dim", dim)
    if not 0 <= axis <= 2:
        raise errors.LogicError(f"dim={axis}: expected an axis from 0 to 2")
    return axis


def bind_array_to_texref(ary: arrays.Array, texref: TextureReference) -> None:
    """Bind a texture reference to an Array, without filtering and with clamped coordinates.

    :param ary: Array to read.
    :param texref: Reference to bind.

    >>> reference = drv.TextureReference()
    >>> array = drv.matrix_to_array(np.float32([[4, 5]]), "C")
    >>> drv.bind_array_to_texref(array, reference)
    >>> reference.get_array() is array
    True
    """
    texref.set_array(ary)
    texref.set_address_mode(0, enums.address_mode.CLAMP)
    texref.set_address_mode(1, enums.address_mode.CLAMP)
    texref.set_filter_mode(enums.filter_mode.POINT)


def matrix_to_texref(matrix: ArrayLike, texref: TextureReference, order: Order) -> None:
    """Copy a matrix to a new Array and bind a texture reference to it.

    :param matrix: Shape (height, width) for the order "C", (width, height) for "F".
    :param texref: Reference to bind.
    :param order: Order of the axes.

    >>> reference = drv.TextureReference()
    >>> drv.matrix_to_texref(np.float32([[4, 5]]), reference, "C")
    >>> reference.get_array().get_descriptor().width
    2
    """
    bind_array_to_texref(arrays.matrix_to_array(matrix, order), texref)


_KINDS = ("int", "uint", "float")
NAMES = {0x01: "1D", 0x02: "2D", 0x03: "3D", 0x0C: "Cubemap"}
CUBES = (0x0C, 0xFC)
NAMES.update({0xF1: "1DLayered", 0xF2: "2DLayered", 0xFC: "CubemapLayered"})


class Declared(NamedTuple):
    """Declaration of a reference in the kernel text."""

    dimensions: int  # cudaTextureType… or cudaSurfaceType…
    reading: int = 0  # cudaTextureReadMode
    bits: int = 32
    channels: int = 1
    kind: int = 2  # of the channels, as in arrays.channel_format

    def is_read_as_float(self) -> bool:
        return self.kind == 2 or self.reading == 1

    def check_elements(self, bits: int, channels: int, kind: int) -> None:
        """Raise LogicError if the bound elements differ from the declared ones."""
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
        """Raise LogicError if the bound Array has other dimensions than the declared ones."""
        found = _dimensions_of(array)
        if self.dimensions not in found:
            names = " or ".join(NAMES[one] for one in found)
            raise errors.LogicError(
                f"it is declared as {NAMES.get(self.dimensions, self.dimensions)}, but bound to "
                f"an array of {names}"
            )


def _element(bits: int, channels: int, kind: int) -> str:
    return f"{channels} x {_KINDS[kind]}{bits}"


def _dimensions_of(array: arrays.Array) -> tuple[int, ...]:
    """Return the reference types that can read an Array; a single row is 1D as well as 2D."""
    _, _, height, depth, flags = array._shape()
    if flags & enums.array3d_flags.CUBEMAP:
        return (0xFC,) if flags & enums.array3d_flags.ARRAY3D_LAYERED else (0x0C,)
    if flags & enums.array3d_flags.ARRAY3D_LAYERED:
        return (0xF2,) if height else (0xF1,)
    if depth:
        return (3,)
    return (2,) if height > 1 else (1, 2) if height else (1,)


docstrings.complete(__name__)
