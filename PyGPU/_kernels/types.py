"""C's names of NumPy's types, and kernel arguments read from declarations."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from PyGPU._compile import signature
from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

_names: dict[DType, str] = {}  # dtype -> its C name
_dtypes: dict[str, DType] = {}  # C name -> dtype
_TEXTURE_NAMES = {
    **{"f4": "fp_tex_float", "f8": "fp_tex_double"},
    **{"c8": "fp_tex_cfloat", "c16": "fp_tex_cdouble"},
}


def _add(dtype: DType, *names: str) -> None:
    _names.setdefault(dtype, names[0])
    for name in names:
        _dtypes[name] = dtype


for _code, _c_names in signature.C_NAMES.items():
    _add(np.dtype(_code), *_c_names)


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
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    if with_fp_tex_hack and dtype.isnative and dtype.str[1:] in _TEXTURE_NAMES:
        return _TEXTURE_NAMES[dtype.str[1:]]
    try:
        return _names[dtype]
    except KeyError:
        raise ValueError(f"unable to map dtype '{dtype}'") from None


def get_or_register_dtype(names: str | Iterable[str], dtype: DTypeLike | None = None) -> DType:
    """Look a C name up, or give a type one.

    Parameters
    ----------
    names : str or list of str
        The first is what dtype_to_ctype will say.
    dtype : numpy.dtype, optional
        None: look `names` up.

    Raises
    ------
    KeyError
        For an unknown name without a dtype.
    RuntimeError
        For a name that another type has.
    """
    names = [names] if isinstance(names, str) else list(names)
    if dtype is None:
        return _dtypes[names[0]]
    dtype = np.dtype(dtype)
    for name in names:
        if _dtypes.get(name, dtype) != dtype:
            raise RuntimeError(f"the name '{name}' is already that of {_dtypes[name]}, not {dtype}")
    _add(dtype, *names)
    return dtype


def register_dtype(dtype: DTypeLike, name: str, alias_ok: bool = False) -> None:
    """Deprecated: get_or_register_dtype(name, dtype)."""
    warnings.warn("register_dtype is deprecated: get_or_register_dtype", DeprecationWarning, 2)
    if np.dtype(dtype) in _names and not alias_ok:
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
    if array._size and array.ptr % dtype.alignment:
        raise ValueError(
            f"{name}: its elements begin at {array.ptr:#x}, expected a multiple of "
            f"{dtype.alignment}; copy() makes an array that does"
        )
    if array._size < needed:
        raise errors.ArgumentError(
            f"{name}: it has {array._size} elements, and indices up to {needed - 1} are used"
        )


def parse_c_arg(c_arg: str) -> VectorArg | ScalarArg:
    """A VectorArg or ScalarArg from a declaration such as ``const float *x`` or ``int n``.

    Raises
    ------
    ValueError
        For what is no declaration, or a type without a known name.
    """
    text = re.sub(r"\b(?:const|volatile|restrict|__restrict__|__restrict)\b", " ", c_arg)
    match = re.fullmatch(r"\s*([\w:<>,\s]+?)\s*((?:\*\s*)*)\b(\w+)\s*(\[\s*\d*\s*\])?\s*", text)
    if match is None:
        raise ValueError(f"couldn't parse C declaration '{c_arg}'")
    name = " ".join(match.group(1).split())
    try:
        dtype = _dtypes[name]
    except KeyError:
        raise ValueError(f"unknown type '{name}' in '{c_arg}'") from None
    return (VectorArg if match.group(2) or match.group(4) else ScalarArg)(dtype, match.group(3))


def get_arg_type(c_arg: str) -> str:
    """The struct character of a declared argument."""
    return parse_c_arg(c_arg).struct_char
