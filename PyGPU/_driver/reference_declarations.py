"""Declarations of texture and surface references, and the checks of bindings against them."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._driver import arrays, enums
from PyGPU._runtime import errors

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
