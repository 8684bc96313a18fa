"""GPUArray's methods that bind its memory to texture references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import core, docstrings

if TYPE_CHECKING:
    from PyGPU._types import TextureReference


def bind_to_texref(
    self: core.GPUArray, texref: TextureReference, allow_offset: bool = False
) -> float:
    """Bind the array's memory to a texture reference, which ``tex1Dfetch`` reads.

    The elements are read as those that `texref` is declared for.

    :param texref: Reference of a module.
    :param allow_offset: Accept memory at any address, such as that of a slice.
    :returns: Offset of the array in the texture, in elements.
    """
    return texref.set_address(self, self.nbytes, allow_offset) / self.itemsize


def bind_to_texref_ext(
    self: core.GPUArray,
    texref: TextureReference,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> float:
    """Bind the array's memory to a texture reference and set its format from the dtype.

    :param texref: Reference of a module.
    :param channels: 1, 2 or 4 adjacent array elements that form one texture element.
    :param allow_double_hack: Read float64 as two channels of int32, which ``pycuda-helpers.hpp``
        joins.
    :param allow_complex_hack: Read complex64 and complex128 as two and four channels of int32.
    :param allow_offset: Accept memory at any address, such as that of a slice.
    :returns: Offset of the array in the texture, in elements.
    :raises RuntimeError: If the array is not contiguous.
    :raises ValueError: If elements are read as int32 channels and `channels` is not 1.
    :raises TypeError: If no texture has the array's dtype.
    """
    from PyGPU._driver import arrays, enums

    if not self.flags.forc:
        raise RuntimeError(
            "only contiguous arrays may be bound to a texture reference: this one has shape "
            f"{self.shape} and strides {self.strides}"
        )
    in_parts = allow_complex_hack if self.dtype.kind == "c" else allow_double_hack
    in_parts = in_parts and self.dtype.itemsize > 4
    if not in_parts:
        format = arrays.dtype_to_array_format(self.dtype), channels
    elif channels == 1:
        format = arrays.element_in_parts(self.dtype)
    else:
        raise ValueError(
            f"channels={channels}: expected 1, as {self.dtype} is read as several int32 channels"
        )
    offset = texref.set_address(self, self.nbytes, allow_offset)
    texref.set_format(*format)
    if self.dtype.kind in "iu" or in_parts:
        texref.set_flags(texref.get_flags() | enums.TRSF_READ_AS_INTEGER)
    return offset / self.itemsize


#: Methods that GPUArray gets.
METHODS = {"bind_to_texref": bind_to_texref, "bind_to_texref_ext": bind_to_texref_ext}


docstrings.complete(__name__)
