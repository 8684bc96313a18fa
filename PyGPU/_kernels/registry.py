"""Which dtype belongs to which name in C, and declarations read by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from PyGPU._compile import signature

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypeLike

Scalar = TypeVar("Scalar")
Vector = TypeVar("Vector")


class DTypeRegistry:
    """Names in C of dtypes, both ways.

    Attributes
    ----------
    dtype_to_name : dict
        The name that is written, by dtype and by the dtype's text.
    name_to_dtype : dict
        The dtype of each name that is read.
    """

    def __init__(self) -> None:
        self.dtype_to_name: dict[DType | str, str] = {}
        self.name_to_dtype: dict[str, DType] = {}

    def get_or_register_dtype(
        self, names: str | Iterable[str], dtype: DTypeLike | None = None
    ) -> DType:
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
            return self.name_to_dtype[names[0]]
        dtype = np.dtype(dtype)
        for name in names:
            other = self.name_to_dtype.get(name, dtype)
            if other != dtype:
                raise RuntimeError(f"the name '{name}' is already that of {other}, not {dtype}")
        self.dtype_to_name.setdefault(dtype, names[0])
        self.dtype_to_name.setdefault(str(dtype), names[0])
        for name in names:
            self.name_to_dtype[name] = dtype
        return dtype

    def dtype_to_ctype(self, dtype: DTypeLike | None) -> str:
        """The C name of a type; ValueError for None and for types without a name."""
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
    return ""


#: The one that kernels' arguments are read and written by.
REGISTRY = DTypeRegistry()
for _code, _names in signature.C_NAMES.items():
    REGISTRY.get_or_register_dtype(_names, _code)


def read_declaration(
    c_arg: str,
    of_scalar: Callable[[DType, str], Scalar],
    of_vector: Callable[[DType, str], Vector],
    dtype_of: Callable[[str], DType],
) -> Scalar | Vector:
    """What is made of a declaration such as ``const float *x`` or ``int n``.

    Parameters
    ----------
    of_scalar, of_vector : callable(dtype, name)
    dtype_of : callable(name)
        KeyError for unknown names of types.

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
        dtype = dtype_of(name)
    except KeyError:
        raise ValueError(f"unknown type '{name}' in '{c_arg}'") from None
    if match.group(2) or match.group(4):
        return of_vector(dtype, match.group(3))
    return of_scalar(dtype, match.group(3))
