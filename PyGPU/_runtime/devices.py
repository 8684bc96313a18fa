"""Functions that run on the device of an array, though another one is current."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R


@functools.cache
def are_several() -> bool:
    """Report whether there is more than one device."""
    return errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount") > 1


def beside_first(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function run on the device of its first argument, or of the first array in it."""
    name = function.__code__.co_varnames[0]

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not are_several():
            return function(*args, **kwargs)
        first = args[0] if args else kwargs.get(name)
        array = next(iter(first), None) if isinstance(first, (list, tuple)) else first
        # An array without elements has no device.
        device = array.device if isinstance(array, core.GPUArray) else None
        if device is None:
            return function(*args, **kwargs)
        with core.device(device):
            return function(*args, **kwargs)

    return run
