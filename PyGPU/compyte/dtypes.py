"""The names of ``pycuda.compyte.dtypes``: dtypes and their names in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PyGPU._kernels.types import (
    REGISTRY,
    DTypeRegistry,
    Scalar,
    Vector,
    read_declaration,
    register_dtype,
)
from PyGPU._runtime import docstrings

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
    """A type name in C that belongs to no dtype.

    Programs of PyCUDA catch this exception; PyGPU does not raise it.
    """


#: The registry for declarations of kernels' arguments, and its tables.
TYPE_REGISTRY = REGISTRY
DTYPE_TO_NAME = TYPE_REGISTRY.dtype_to_name
NAME_TO_DTYPE = TYPE_REGISTRY.name_to_dtype

dtype_to_ctype = TYPE_REGISTRY.dtype_to_ctype
get_or_register_dtype = TYPE_REGISTRY.get_or_register_dtype

# For each dtype code, its names separated by commas; the first one is written.
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
    """Add the names of C's types to a registry.

    :param reg: Registry to fill.
    :param respect_windows: Ignored; PyCUDA uses it for Windows, where long has four bytes.
    :param include_bool: Add bool as well.

    >>> from PyGPU.compyte.dtypes import DTypeRegistry, fill_registry_with_c_types
    >>> registry = DTypeRegistry()
    >>> fill_registry_with_c_types(registry, respect_windows=False)
    >>> registry.dtype_to_ctype("i8")
    'long'
    """
    _fill(reg, {**({"?": "bool"} if include_bool else {}), **_C})


def fill_registry_with_opencl_c_types(reg: DTypeRegistry) -> None:
    """Add the names of OpenCL's types to a registry.

    :param reg: Registry to fill.

    >>> from PyGPU.compyte.dtypes import DTypeRegistry, fill_registry_with_opencl_c_types
    >>> registry = DTypeRegistry()
    >>> fill_registry_with_opencl_c_types(registry)
    >>> registry.dtype_to_ctype("u4")
    'uint'
    """
    _fill(reg, _OPENCL)


def fill_registry_with_c99_stdint_types(reg: DTypeRegistry) -> None:
    """Add the names of the types in <stdint.h> to a registry.

    :param reg: Registry to fill.

    >>> from PyGPU.compyte.dtypes import DTypeRegistry, fill_registry_with_c99_stdint_types
    >>> registry = DTypeRegistry()
    >>> fill_registry_with_c99_stdint_types(registry)
    >>> registry.dtype_to_ctype("u4")
    'uint32_t'
    """
    _fill(reg, _STDINT)


def fill_registry_with_c99_complex_types(reg: DTypeRegistry) -> None:
    """Add the names of the types in <complex.h> to a registry.

    :param reg: Registry to fill.

    >>> from PyGPU.compyte.dtypes import DTypeRegistry, fill_registry_with_c99_complex_types
    >>> registry = DTypeRegistry()
    >>> fill_registry_with_c99_complex_types(registry)
    >>> registry.dtype_to_ctype("c8")
    'float complex'
    """
    _fill(reg, _COMPLEX)


def parse_c_arg_backend(
    c_arg: str,
    scalar_arg_factory: Callable[[DType, str], Scalar],
    vec_arg_factory: Callable[[DType, str], Vector],
    name_to_dtype: Callable[[str], DType] | DTypeRegistry | None = None,
) -> Scalar | Vector:
    """Parse a declaration such as ``const float *x``, and pass dtype and name to a factory.

    Parameters
    ----------
    c_arg : str
        Declaration in C.
    scalar_arg_factory, vec_arg_factory : callable(dtype, name)
        Functions that make the result for a value and for a pointer.
    name_to_dtype : callable(str) or DTypeRegistry, optional
        Dtypes of the types' names; TYPE_REGISTRY by default.

    Returns
    -------
    object
        The factory's result.

    Raises
    ------
    ValueError
        `c_arg` is not a declaration, or the name of its type is unknown.

    Examples
    --------
    >>> from PyGPU.compyte.dtypes import parse_c_arg_backend
    >>> from PyGPU.tools import ScalarArg, VectorArg
    >>> parse_c_arg_backend("const float *x", ScalarArg, VectorArg)
    VectorArg('x', float32)
    """
    if name_to_dtype is None:
        name_to_dtype = TYPE_REGISTRY
    if isinstance(name_to_dtype, DTypeRegistry):
        name_to_dtype = name_to_dtype.name_to_dtype.__getitem__
    return read_declaration(c_arg, scalar_arg_factory, vec_arg_factory, name_to_dtype)


docstrings.complete(__name__)
