"""Decorator that runs a function on the device of its first array argument."""

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


def on_device_of_first(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to run on the device of its first argument.

    If the argument is a list or tuple, its first item determines the device. The current device is
    restored when the function returns.
    """
    name = function.__code__.co_varnames[0]

    @functools.wraps(function)
    def run_on_device(*args: P.args, **kwargs: P.kwargs) -> R:
        if not are_several():
            return function(*args, **kwargs)
        first = args[0] if args else kwargs.get(name)
        array = next(iter(first), None) if isinstance(first, (list, tuple)) else first
        # The device of an array without elements is None.
        device = array.device if isinstance(array, core.GPUArray) else None
        if device is None:
            return function(*args, **kwargs)
        with core.device(device):
            return function(*args, **kwargs)

    return run_on_device
