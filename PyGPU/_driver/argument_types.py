"""Argument types of prepared calls: format characters of struct, or NumPy's types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._runtime import errors

if TYPE_CHECKING:
    from PyGPU._types import ArgTypes

# (kind as in src/python/launch/packing.h, bytes) of each format character of struct.
_PROMISES = {
    **{"P": ("P", 8), "F": ("c", 8), "D": ("c", 16), "?": ("b", 1)},
    **{"b": ("i", 1), "h": ("i", 2), "i": ("i", 4), "l": ("i", 8), "q": ("i", 8), "n": ("i", 8)},
    **{"B": ("u", 1), "H": ("u", 2), "I": ("u", 4), "L": ("u", 8), "Q": ("u", 8), "N": ("u", 8)},
    **{"e": ("f", 2), "f": ("f", 4), "d": ("f", 8), "c": ("s", 1)},
}


def declared_parameters(arg_types: ArgTypes) -> list[tuple[str, int]]:
    """Return [(kind, bytes)] of the argument types that prepare() receives."""
    if isinstance(arg_types, str):
        found = re.findall(r"(\d*)([A-Za-z?])", arg_types)
        if "".join(number + char for number, char in found) != re.sub(r"\s", "", arg_types):
            raise errors.ArgumentError(
                f"prepare: arg_types={arg_types!r}: expected a format as of struct"
            )
        result = []
        for number, char in found:
            if char == "s":
                result.append(("s", int(number or 1)))
            elif char in _PROMISES:
                result += [_PROMISES[char]] * int(number or 1)
            else:
                raise errors.ArgumentError(
                    f"prepare: arg_types={arg_types!r}: bad char {char!r} in struct format"
                )
        return result
    if not isinstance(arg_types, Iterable):
        raise TypeError(f"prepare: arg_types: expected a str or a sequence, got {arg_types!r}")
    return [parameter for arg_type in arg_types for parameter in _declared(arg_type)]


def _declared(arg_type: Any) -> list[tuple[str, int]]:
    if isinstance(arg_type, str):
        return declared_parameters(arg_type)
    if isinstance(arg_type, np.dtype) or (
        isinstance(arg_type, type) and issubclass(arg_type, np.generic)
    ):
        dtype = np.dtype(arg_type)
        return [(dtype.kind if dtype.kind in "iufcb" else "s", dtype.itemsize)]
    return [("P", 8)]
