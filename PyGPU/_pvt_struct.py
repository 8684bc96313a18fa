"""The names of ``pycuda._pvt_struct``: Python's struct with complex numbers and addresses.

``F`` and ``D`` are complex numbers of two floats and of two doubles; ``P`` accepts any object that
``int()`` converts to an address.
"""

from __future__ import annotations

import re
import struct
from struct import error
from typing import Any

__all__ = ["calcsize", "error", "pack"]

_PARTS = {"F": "ff", "D": "dd"}


def _plain(format: str) -> str:
    """Return the format with complex numbers replaced by pairs of real numbers."""
    return re.sub(r"(\d*)([FD])", lambda match: _PARTS[match[2]] * int(match[1] or 1), str(format))


def calcsize(format: str) -> int:
    """Return the size in bytes of values of a format.

    :param format: Format characters.
    :returns: Size in bytes.

    >>> from PyGPU._pvt_struct import calcsize
    >>> calcsize("iF")
    12
    """
    return struct.calcsize(_plain(format))


def pack(format: str, *values: Any) -> bytes:
    """Return the bytes of values, with C's alignment.

    :param format: Format characters.
    :param object *values: One value for each character.
    :returns: The packed values.
    :raises struct.error: If the values do not fit the format.

    >>> from PyGPU._pvt_struct import pack
    >>> tuple(pack("<h", 258))
    (2, 1)
    """
    given, found = iter(values), []
    try:
        for count, code in re.findall(r"(\d*)([A-Za-z?])", format):
            for _ in range(1 if code == "s" else int(count or 1)):
                found += _parts(code, next(given))
    except StopIteration:
        raise error(f"pack: format={format!r}: needs more than {len(values)} values") from None
    if len(list(given)):
        raise error(f"pack: format={format!r}: needs fewer than {len(values)} values")
    return struct.pack(_plain(format), *found)


def _parts(code: str, value: Any) -> list[Any]:
    if code in _PARTS:
        number = complex(value)
        return [number.real, number.imag]
    return [int(value)] if code == "P" else [value]
