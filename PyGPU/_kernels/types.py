"""C's names of NumPy's types, and kernel arguments read from declarations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._kernels.registry import REGISTRY, read_declaration
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

_TEXTURE_NAMES = {
    **{"f4": "fp_tex_float", "f8": "fp_tex_double"},
    **{"c8": "fp_tex_cfloat", "c16": "fp_tex_cdouble"},
}


def dtype_to_ctype(dtype: DTypeLike | None, with_fp_tex_hack: bool = False) -> str:
    """The C name of a type.

    Parameters
    ----------
    dtype : numpy.dtype or what makes one
    with_fp_tex_hack : bool
        Names of the types of old textures for floating-point data.

    Raises
    ------
    ValueError
        For None, and for types without a name: strings, structures that are not registered.
    """
    if with_fp_tex_hack and dtype is not None:
        found = np.dtype(dtype)
        if found.isnative and found.str[1:] in _TEXTURE_NAMES:
            return _TEXTURE_NAMES[found.str[1:]]
    return REGISTRY.dtype_to_ctype(dtype)


get_or_register_dtype = REGISTRY.get_or_register_dtype


def register_dtype(dtype: DTypeLike, name: str, alias_ok: bool = False) -> None:
    """Deprecated: get_or_register_dtype(name, dtype)."""
    warnings.warn("register_dtype is deprecated: get_or_register_dtype", DeprecationWarning, 2)
    if np.dtype(dtype) in REGISTRY.dtype_to_name and not alias_ok:
        raise RuntimeError(f"dtype '{dtype}' is already registered")
    get_or_register_dtype(name, dtype)


class Argument:
    """A kernel's argument: its dtype and name."""

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        self.dtype: DType = np.dtype(dtype)
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """A pointer to elements."""

    struct_char = "P"

    def declarator(self) -> str:
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A value."""

    def declarator(self) -> str:
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        return f"{self.dtype.itemsize}s" if self.dtype.kind == "V" else self.dtype.char


def require_elements(name: str, array: core.GPUArray, dtype: DType, needed: int) -> None:
    """What a kernel that reads elements of `dtype` needs: ValueError for an array that begins where
    none can be, ArgumentError for one with fewer than `needed`."""
    if array._size and array._address % dtype.alignment:
        raise ValueError(
            f"{name}: its elements begin at {array._address:#x}, expected a multiple of "
            f"{dtype.alignment}; copy() makes an array that does"
        )
    held, has = array._size, f"{array._size} elements"
    if array.dtype.itemsize < dtype.itemsize:
        held = array.nbytes // dtype.itemsize
        has = f"{held} elements of {dtype}, as it is of {array.dtype}"
    if held < needed:
        raise errors.ArgumentError(f"{name}: it has {has}, and indices up to {needed - 1} are used")


def parse_c_arg(c_arg: str) -> VectorArg | ScalarArg:
    """A VectorArg or ScalarArg from a declaration such as ``const float *x`` or ``int n``.

    Raises
    ------
    ValueError
        For what is no declaration, or a type without a known name.
    """
    return read_declaration(c_arg, ScalarArg, VectorArg, REGISTRY.name_to_dtype.__getitem__)


def get_arg_type(c_arg: str) -> str:
    """The struct character of a declared argument."""
    return parse_c_arg(c_arg).struct_char
