"""What programs pass, checked: errors name the argument and what was expected."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import Int


def integer(name: str, value: Int) -> int:
    """An int from anything that stands for one. TypeError otherwise."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r}") from None


def extent(name: str, value: Int) -> int:
    """A number of bytes or elements. OverflowError for negative ones and those beyond 64 bits."""
    number = integer(name, value)
    if not 0 <= number < 1 << 63:
        raise OverflowError(f"{name}: expected a size of up to 63 bits, got {number}")
    return number


def require_array(name: str, value: object) -> core.GPUArray:
    """A GPUArray. TypeError otherwise."""
    if not isinstance(value, core.GPUArray):
        raise TypeError(
            f"{name}: expected a GPUArray, got {type(value).__name__}; to_gpu() sends data of the "
            "host to the device, .get() fetches arrays"
        )
    return value
