"""Work on another device than the current one, such as the device of an array."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R


@contextlib.contextmanager
def on_device(device: int) -> Iterator[None]:
    """Make a device current in this thread for the time of a ``with`` block.

    Raises
    ------
    LogicError
        If the device cannot be set, or the previous device cannot be restored. An exception of the
        block is not replaced by an error of restoring.
    """
    before = errors.check(core.cudaGetDevice(), "cudaGetDevice")
    if device == before:
        yield
        return
    errors.check(core.cudaSetDevice(device), "cudaSetDevice")
    try:
        yield
    except BaseException:
        if core.cudaSetDevice(before):
            core.cudaGetLastError()
        raise
    errors.check(core.cudaSetDevice(before), "cudaSetDevice")


@functools.cache
def are_several() -> bool:
    """Report whether there is more than one device."""
    return errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount") > 1


def _device_of(array: object) -> int | None:
    """Return the ordinal of an array's device; None if there is one device or no array memory."""
    return array._device if are_several() and isinstance(array, core.GPUArray) else None


def beside_first(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function run on the device of its first argument, or of the first array in it."""
    name = function.__code__.co_varnames[0]

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        first = args[0] if args else kwargs.get(name)
        array = next(iter(first), None) if isinstance(first, (list, tuple)) else first
        device = _device_of(array)
        if device is None:
            return function(*args, **kwargs)
        with on_device(device):
            return function(*args, **kwargs)

    return run
