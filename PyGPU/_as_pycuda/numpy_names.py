"""Restoration of removed NumPy names, such as numpy.int, for old programs of PyCUDA."""

from __future__ import annotations

import ast
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU._runtime import warn

__all__ = ["NumPyCompatWarning", "remove", "restore"]


class NumPyCompatWarning(UserWarning):
    """Removed names of NumPy were restored. The warning's message lists the names.

    Examples
    --------
    >>> import warnings
    >>> import PyGPU
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PyGPU.NumPyCompatWarning)
    """


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def _bytes_of(obj: Any, offset: int = 0, size: int | None = None) -> memoryview:
    """Return a view of an array's bytes. Replacement for numpy.getbuffer."""
    array = np.asarray(obj)
    if not array.flags.forc:
        raise TypeError(f"getbuffer: expected a contiguous array, got strides {array.strides}")
    data = array.reshape(-1, order="A").view(np.uint8).data
    return data[offset : None if size is None else offset + size]


def _asfarray(a: Any, dtype: Any = np.float64) -> Any:
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


class _Cast(dict):  # type: ignore[type-arg]
    """Replacement for the dict numpy.cast: ``cast[dtype](x)`` converts `x` to `dtype`."""

    def __missing__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda x: np.asarray(x).astype(dtype)


def _obj2sctype(rep: Any, default: Any = None) -> Any:
    """Return the scalar type of an array, a dtype or a dtype's name, or else `default`."""
    if isinstance(rep, type) and issubclass(rep, np.generic):
        return rep
    try:
        return (rep.dtype if isinstance(rep, np.ndarray) else np.dtype(rep)).type
    except TypeError:
        return default


def _sctype2char(sctype: Any) -> str:
    found = _obj2sctype(sctype)
    if found is None:
        raise ValueError(f"sctype2char: expected a NumPy type, got {sctype!r}")
    return str(np.dtype(found).char)


def _maximum_sctype(t: Any) -> Any:
    found = _obj2sctype(t)
    for kind in ("int", "uint", "float", "complex"):
        if found in _sctypes()[kind]:
            return _sctypes()[kind][-1]
    return t if found is None else found


def _sctypes() -> dict[str, list[Any]]:
    return {
        "int": [np.int8, np.int16, np.int32, np.int64],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    }


def _find_common_type(array_types: Any, scalar_types: Any) -> Any:
    """Return the common dtype of arrays and scalars. Replacement for numpy.find_common_type.

    Scalar types have an effect only if their kind is higher than that of the arrays: a float scalar
    changes the result for integer arrays, but not for float arrays.
    """
    arrays, scalars = ([np.dtype(t) for t in types] for types in (array_types, scalar_types))
    if not arrays or not scalars:
        return np.result_type(*arrays, *scalars) if arrays or scalars else None
    array, scalar = np.result_type(*arrays), np.result_type(*scalars)
    kinds = "buifcSUVOMm"
    higher = kinds.index(scalar.kind) > kinds.index(array.kind)
    return np.promote_types(array, scalar) if higher else array


class _Sizes(dict):  # type: ignore[type-arg]
    """Replacement for the dict numpy.nbytes: ``nbytes[dtype]`` is the item size in bytes."""

    def __missing__(self, dtype: Any) -> int:
        return int(np.dtype(dtype).itemsize)


def _first(*names: str) -> Any:
    """Return the object with the first dotted name that NumPy has, or None if it has none."""
    for name in names:
        found: Any = np
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


def _replacements() -> dict[str, Any]:
    """Return {removed name: replacement}. A value is None if this NumPy has no replacement."""
    return {
        # aliases of Python's types
        **{"int": int, "float": float, "bool": bool, "complex": complex, "object": object},
        **{"str": str, "long": int, "unicode": str},
        # aliases of NumPy's scalar types
        **{"int0": np.intp, "uint0": np.uintp, "bool8": np.bool_, "object0": np.object_},
        **{"float_": np.float64, "longfloat": np.longdouble, "singlecomplex": np.complex64},
        **{"complex_": np.complex128, "cfloat": np.complex128, "clongfloat": np.clongdouble},
        **{"longcomplex": np.clongdouble, "string_": np.bytes_, "unicode_": np.str_},
        **{"str0": np.str_, "bytes0": np.bytes_, "void0": np.void},
        # tables of scalar types and their lookups; sctypeDict of NumPy 2 lacks the letter codes
        "typeDict": {**{c: np.dtype(c).type for c in np.typecodes["All"]}, **np.sctypeDict},
        **{"sctypes": _sctypes(), "obj2sctype": _obj2sctype, "sctype2char": _sctype2char},
        **{"maximum_sctype": _maximum_sctype, "find_common_type": _find_common_type},
        "issctype": lambda rep: (
            isinstance(rep, (type, np.dtype)) and _obj2sctype(rep) not in (None, np.object_)
        ),
        "nbytes": _Sizes(),
        # constants
        **{"Inf": np.inf, "Infinity": np.inf, "PINF": np.inf, "infty": np.inf, "NINF": -np.inf},
        **{"NaN": np.nan, "PZERO": 0.0, "NZERO": -0.0},
        # functions
        **{"product": np.prod, "cumproduct": np.cumprod, "sometrue": np.any, "alltrue": np.all},
        **{"round_": np.around, "row_stack": np.vstack, "rank": np.ndim, "mat": np.asmatrix},
        **{"trapz": _first("trapezoid"), "in1d": _in1d, "asfarray": _asfarray, "cast": _Cast()},
        "asscalar": lambda a: np.asarray(a).item(),
        "alen": lambda a: len(np.atleast_1d(a)),
        "msort": lambda a: np.sort(a, axis=0),
        "fastCopyAndTranspose": lambda a: np.array(a).T.copy(),
        "issubclass_": lambda a, b: isinstance(a, type) and issubclass(a, b),
        "issubsctype": np.issubdtype,
        "disp": lambda mesg, device=None, linefeed=True: print(
            mesg, file=device, end="\n" if linefeed else ""
        ),
        "byte_bounds": _first("lib.array_utils.byte_bounds"),
        **{"getbuffer": _bytes_of, "newbuffer": bytearray},
        **{"loads": pickle.loads, "safe_eval": ast.literal_eval},
        # exceptions
        **{
            name: _first(f"exceptions.{name}")
            for name in (
                *("AxisError", "ComplexWarning", "ModuleDeprecationWarning", "TooHardError"),
                *("RankWarning", "VisibleDeprecationWarning"),
            )
        },
    }


def _has(name: str) -> bool:
    with warnings.catch_warnings():  # deprecated names warn
        warnings.simplefilter("ignore")
        return hasattr(np, name)


def restore() -> dict[str, Any]:
    """Add replacements of removed names to NumPy, and warn.

    Names that this NumPy still has are left unchanged.

    Returns
    -------
    dict
        {name: replacement} of the added names.
    """
    added = {
        name: value
        for name, value in _replacements().items()
        if value is not None and not _has(name)
    }
    for name, value in added.items():
        setattr(np, name, value)
    if added:
        listed = ", ".join(sorted(added, key=str.lower))
        warn(
            f"NumPy {np.__version__} lacks names that older versions had. PyGPU has added them to "
            f"the module numpy of this process: {listed}",
            NumPyCompatWarning,
        )
    return added


def remove(added: dict[str, Any]) -> None:
    """Remove the names that restore() added to NumPy, and returned as `added`.

    A name that the program has set to another object since then is left unchanged.
    """
    for name, value in added.items():
        if vars(np).get(name) is value:
            delattr(np, name)
