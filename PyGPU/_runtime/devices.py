"""Functions of arrays that do their work on the arrays' device, whatever the current one is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from PyGPU._runtime import errors, state
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R


@functools.cache
def _are_several() -> bool:
    return errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount") > 1


def _device_of(array: object) -> int | None:
    """The ordinal of an array's device; None where only one is there, or the array is empty."""
    if not _are_several() or not isinstance(array, core.GPUArray) or not array.ptr:
        return None
    attributes = errors.check(core.cudaPointerGetAttributes(array), "cudaPointerGetAttributes")
    return attributes["device"]


def beside_first(function: Callable[P, R]) -> Callable[P, R]:
    """The device is that of the function's first argument, or of the first array in it."""
    name = function.__code__.co_varnames[0]

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        first = args[0] if args else kwargs.get(name)
        array = next(iter(first), None) if isinstance(first, (list, tuple)) else first
        device = _device_of(array)
        if device is None or device == (current := state.current_device()):
            return function(*args, **kwargs)
        errors.check(core.cudaSetDevice(device), "cudaSetDevice")
        try:
            return function(*args, **kwargs)
        finally:
            errors.check(core.cudaSetDevice(current), "cudaSetDevice")

    return run
