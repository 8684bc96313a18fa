"""Argument checks: their errors name the argument, its value and what was expected."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import targets
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

    from PyGPU._types import Int


def _is_raised_by_program(error: BaseException) -> bool:
    """Report whether a conversion's exception comes from Python code, such as an __index__."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def integer(name: str, value: Int) -> int:
    """Return an integer of any type as an int, or raise TypeError."""
    try:
        return operator.index(value)
    except TypeError as error:
        if _is_raised_by_program(error):
            raise
        raise TypeError(f"{name}: expected an integer, got {value!r}") from None


def as_list(name: str, values: Any) -> list[Any]:
    """Return the values as a list, or raise TypeError."""
    if not (hasattr(values, "__iter__") or hasattr(values, "__getitem__")):
        raise TypeError(f"{name}: expected a sequence, got {values!r}")
    return list(values)


def extent(name: str, value: Int) -> int:
    """Return a size as an int; raise OverflowError unless it is 0 to 2**63 - 1."""
    number = integer(name, value)
    if not 0 <= number < 1 << 63:
        raise OverflowError(f"{name}: expected a size of up to 63 bits, got {number}")
    return number


def is_gpuarray(value: object) -> TypeGuard[core.GPUArray]:
    """Return True for a GPUArray, which an installation without arrays does not have."""
    return "arrays" in targets.installed and isinstance(value, core.GPUArray)


def require_array(name: str, value: object) -> core.GPUArray:
    """Return the value if it is a GPUArray, or raise TypeError."""
    if not isinstance(value, core.GPUArray):
        raise TypeError(
            f"{name}: expected a GPUArray, got {type(value).__name__}; to_gpu() copies host data "
            "to the device, .get() copies an array to the host"
        )
    return value
