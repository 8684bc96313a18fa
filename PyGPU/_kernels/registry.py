"""The registry of dtypes and their names in C, and the parser of declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._compile.source import c_names
from PyGPU._runtime import docstrings

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

Scalar = TypeVar("Scalar")
Vector = TypeVar("Vector")


class DTypeRegistry:
    """A registry of dtypes and their names in C.

    Attributes
    ----------
    dtype_to_name : dict
        The name to write, by dtype and by the dtype's text.
    name_to_dtype : dict
        The dtype of each name that can be read.

    >>> from PyGPU.compyte.dtypes import DTypeRegistry
    >>> registry = DTypeRegistry()
    >>> registry.get_or_register_dtype(["int", "signed int"], "i4")
    dtype('int32')
    >>> registry.dtype_to_ctype("i4")
    'int'
    """

    def __init__(self) -> None:
        self.dtype_to_name: dict[DType | str, str] = {}
        self.name_to_dtype: dict[str, DType] = {}

    def get_or_register_dtype(
        self, names: str | Iterable[str], dtype: DTypeLike | None = None
    ) -> DType:
        """Look up the dtype of a C name, or register names for a dtype.

        :param str or list of str names: Names in C. `dtype_to_ctype` returns the first one.
        :param dtype: Dtype to register; None looks up the first of `names`.
        :returns: The dtype.
        :raises KeyError: `dtype` is None and the name is unknown.
        :raises RuntimeError: A name belongs to another dtype.

        >>> from PyGPU.tools import get_or_register_dtype
        >>> get_or_register_dtype("float")
        dtype('float32')
        >>> get_or_register_dtype("my_pair", np.dtype([("a", "i4"), ("b", "i4")]))
        dtype([('a', '<i4'), ('b', '<i4')])
        """
        names = [names] if isinstance(names, str) else list(names)
        if dtype is None:
            return self.name_to_dtype[names[0]]
        dtype = np.dtype(dtype)
        for name in names:
            other = self.name_to_dtype.get(name, dtype)
            if other != dtype:
                raise RuntimeError(f"the name '{name}' already belongs to {other}, not to {dtype}")
        self.dtype_to_name.setdefault(dtype, names[0])
        self.dtype_to_name.setdefault(str(dtype), names[0])
        for name in names:
            self.name_to_dtype[name] = dtype
        return dtype

    def dtype_to_ctype(self, dtype: DTypeLike | None) -> str:
        """Return the C name of a dtype.

        :param numpy.dtype dtype: Dtype, or an object that numpy.dtype accepts.
        :returns: The name in C.
        :raises ValueError: `dtype` is None or has no name in C.

        >>> from PyGPU.compyte.dtypes import dtype_to_ctype
        >>> dtype_to_ctype("f8")
        'double'
        """
        if dtype is None:
            raise ValueError("dtype may not be None")
        dtype = np.dtype(dtype)
        try:
            return self.dtype_to_name[dtype]
        except KeyError:
            raise ValueError(f"unable to map dtype '{dtype}'{_advice(dtype)}") from None


def _advice(dtype: DType) -> str:
    if dtype.fields:
        return "; PyGPU.tools.get_or_register_dtype(name, dtype) gives it a name in C"
    if not dtype.isnative:
        return "; convert the array before to_gpu(): .astype(dtype.newbyteorder('='))"
    if dtype.kind in "Mm":
        return "; compute with a.view('int64'), in which NaT is the least number"
    return ""


#: The registry for declarations of kernels' arguments.
REGISTRY = DTypeRegistry()
for _code, _names in c_names.C_NAMES.items():
    REGISTRY.get_or_register_dtype(_names, _code)


def read_declaration(
    c_arg: str,
    of_scalar: Callable[[DType, str], Scalar],
    of_vector: Callable[[DType, str], Vector],
    dtype_of: Callable[[str], DType],
) -> Scalar | Vector:
    """Parse a declaration such as ``const float *x`` or ``int n``.

    Parameters
    ----------
    c_arg : str
        Declaration in C.
    of_scalar, of_vector : callable(dtype, name)
        Functions that make the result for a value and for a pointer.
    dtype_of : callable(name)
        Function that returns the dtype of a type's name; KeyError for unknown names.

    Returns
    -------
    object
        The result of `of_scalar` or `of_vector`.

    Raises
    ------
    ValueError
        `c_arg` is not a declaration, or the name of its type is unknown.
    """
    text = re.sub(r"\b(?:const|volatile|restrict|__restrict__|__restrict)\b", " ", c_arg)
    match = re.fullmatch(r"\s*([\w:<>,\s]+?)\s*((?:\*\s*)*)\b(\w+)\s*(\[\s*\d*\s*\])?\s*", text)
    if match is None:
        raise ValueError(f"couldn't parse C declaration '{c_arg}'")
    name = " ".join(match.group(1).split())
    try:
        dtype = dtype_of(name)
    except KeyError:
        raise ValueError(f"unknown type '{name}' in '{c_arg}'") from None
    if match.group(2) or match.group(4):
        return of_vector(dtype, match.group(3))
    return of_scalar(dtype, match.group(3))


docstrings.complete(__name__)
