"""The names of ``pycuda.compyte.dtypes``: which dtype has which name in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PyGPU._kernels.registry import REGISTRY, DTypeRegistry, Scalar, Vector, read_declaration
from PyGPU._kernels.types import register_dtype

if TYPE_CHECKING:
    from PyGPU._types import DType

__all__ = [
    "DTYPE_TO_NAME",
    "NAME_TO_DTYPE",
    "TYPE_REGISTRY",
    "DTypeRegistry",
    "TypeNameNotKnown",
    "dtype_to_ctype",
    "fill_registry_with_c99_complex_types",
    "fill_registry_with_c99_stdint_types",
    "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types",
    "get_or_register_dtype",
    "parse_c_arg_backend",
    "register_dtype",
]


class TypeNameNotKnown(RuntimeError):
    """A name in C that no dtype has."""


#: The registry by which kernels' arguments are read and written, and its tables.
TYPE_REGISTRY = REGISTRY
DTYPE_TO_NAME = TYPE_REGISTRY.dtype_to_name
NAME_TO_DTYPE = TYPE_REGISTRY.name_to_dtype

dtype_to_ctype = TYPE_REGISTRY.dtype_to_ctype
get_or_register_dtype = TYPE_REGISTRY.get_or_register_dtype

# Codes of dtypes and their names, the first of which is written; of several, by commas.
_C = {
    **{"i1": "signed char,char", "u1": "unsigned char"},
    **{"i2": "short,signed short,signed short int,short signed int"},
    **{"u2": "unsigned short,unsigned short int,short unsigned int"},
    **{"i4": "int,signed int", "u4": "unsigned,unsigned int"},
    **{"i8": "long,long int,signed long int,long signed int"},
    **{"u8": "unsigned long,unsigned long int,long unsigned int"},
    **{"f4": "float", "f8": "double"},
}
_OPENCL = {
    **{"i1": "char,signed char", "u1": "uchar,unsigned char", "i2": _C["i2"]},
    **{"u2": f"ushort,{_C['u2']}", "i4": _C["i4"], "u4": f"uint,{_C['u4']}"},
    **{"i8": f"{_C['i8']},intptr_t", "u8": f"ulong,{_C['u8']},uintptr_t"},
    **{"f4": "float", "f8": "double"},
}
_STDINT = {
    **{f"i{size}": f"int{8 * size}_t" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}_t" for size in (1, 2, 4)},
    **{"?": "bool", "u8": "uint64_t,uintptr_t", "f4": "float", "f8": "double"},
}
_COMPLEX = {"F": "float complex", "D": "double complex", "G": "long double complex"}


def _fill(registry: DTypeRegistry, names: dict[str, str]) -> None:
    for code, text in names.items():
        registry.get_or_register_dtype(text.split(","), code)


def fill_registry_with_c_types(
    reg: DTypeRegistry, respect_windows: bool, include_bool: bool = True
) -> None:
    """Add C's names. (`respect_windows` is for Windows, where long has four bytes.)"""
    _fill(reg, {**({"?": "bool"} if include_bool else {}), **_C})


def fill_registry_with_opencl_c_types(reg: DTypeRegistry) -> None:
    """Add OpenCL's names."""
    _fill(reg, _OPENCL)


def fill_registry_with_c99_stdint_types(reg: DTypeRegistry) -> None:
    """Add the names of <stdint.h>."""
    _fill(reg, _STDINT)


def fill_registry_with_c99_complex_types(reg: DTypeRegistry) -> None:
    """Add the names of <complex.h>."""
    _fill(reg, _COMPLEX)


def parse_c_arg_backend(
    c_arg: str,
    scalar_arg_factory: Callable[[DType, str], Scalar],
    vec_arg_factory: Callable[[DType, str], Vector],
    name_to_dtype: Callable[[str], DType] | DTypeRegistry | None = None,
) -> Scalar | Vector:
    """What a factory makes of the dtype and the name in a declaration such as ``const float *x``.

    Parameters
    ----------
    scalar_arg_factory, vec_arg_factory : callable(dtype, name)
    name_to_dtype : callable(str) or DTypeRegistry, optional
        TYPE_REGISTRY by default.

    Raises
    ------
    ValueError
        For what is no declaration, or a type without a known name.
    """
    if name_to_dtype is None:
        name_to_dtype = TYPE_REGISTRY
    if isinstance(name_to_dtype, DTypeRegistry):
        name_to_dtype = name_to_dtype.name_to_dtype.__getitem__
    return read_declaration(c_arg, scalar_arg_factory, vec_arg_factory, name_to_dtype)
