"""Arrays that texture references read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver import arrays, enums
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import TextureReference


def bind_to_texref(
    self: core.GPUArray, texref: TextureReference, allow_offset: bool = False
) -> float:
    """Let ``tex1Dfetch`` read the array's memory, as the elements that `texref` is declared for.

    Parameters
    ----------
    texref : TextureReference
    allow_offset : bool
        Take memory that begins anywhere, as that of slices does.

    Returns
    -------
    float
        The elements from where the texture begins to the array.
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
    """:meth:`bind_to_texref`, and the array's dtype for the texture's format.

    Parameters
    ----------
    texref : TextureReference
    channels : int
        1, 2 or 4 neighbours that are one element of the texture.
    allow_double_hack, allow_complex_hack : bool
        Take float64, or complex64 and complex128, as two or four channels of int32, which the
        functions of ``pycuda-helpers.hpp`` put together.
    allow_offset : bool

    Returns
    -------
    float
        The elements from where the texture begins to the array.

    Raises
    ------
    RuntimeError
        For an array that is not contiguous.
    ValueError
        For numbers in parts and several channels.
    TypeError
        For a dtype that no texture has.
    """
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
        raise ValueError(f"channels={channels}: {self.dtype} is read in parts, as one channel")
    offset = texref.set_address(self, self.nbytes, allow_offset)
    texref.set_format(*format)
    if self.dtype.kind in "iu" or in_parts:
        texref.set_flags(texref.get_flags() | enums.TRSF_READ_AS_INTEGER)
    return offset / self.itemsize


#: Of the class GPUArray.
METHODS = {"bind_to_texref": bind_to_texref, "bind_to_texref_ext": bind_to_texref_ext}
