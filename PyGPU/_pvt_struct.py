"""The names of ``pycuda._pvt_struct``: Python's struct, with complex numbers and addresses.

``F`` and ``D`` are complex numbers of two floats and of two doubles, ``P`` takes whatever has an
address as an int.
"""

from __future__ import annotations

import re
import struct
from struct import error
from typing import Any

__all__ = ["calcsize", "error", "pack"]

_PARTS = {"F": "ff", "D": "dd"}


def _plain(format: str) -> str:
    """The format with the parts of complex numbers."""
    return re.sub(r"(\d*)([FD])", lambda match: _PARTS[match[2]] * int(match[1] or 1), str(format))


def calcsize(format: str) -> int:
    """How many bytes values of a format take."""
    return struct.calcsize(_plain(format))


def pack(format: str, *values: Any) -> bytes:
    """The bytes of values, as C aligns them.

    Raises
    ------
    struct.error
        For values that do not fit the format.
    """
    given, found = iter(values), []
    try:
        for count, code in re.findall(r"(\d*)([A-Za-z?])", format):
            for _ in range(1 if code == "s" else int(count or 1)):
                found += _parts(code, next(given))
    except StopIteration:
        raise error(f"pack: {format!r} needs more than the {len(values)} values given") from None
    if len(list(given)):
        raise error(f"pack: {format!r} takes fewer than the {len(values)} values given")
    return struct.pack(_plain(format), *found)


def _parts(code: str, value: Any) -> list[Any]:
    if code in _PARTS:
        number = complex(value)
        return [number.real, number.imag]
    return [int(value)] if code == "P" else [value]
