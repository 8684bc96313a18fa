"""State behind the driver's functions: the debugging switch and each thread's context stack."""

from __future__ import annotations

import threading
from typing import Any

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

debugging = False


def set_debugging(flag: bool = True) -> None:
    """Switch debugging on or off: compile with -G, keep the sources, and do not use the cache.

    Parameters
    ----------
    flag : bool, optional
        New state of the switch.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.set_debugging(False)
    >>> drv.CUDA_DEBUGGING
    False
    """
    global debugging
    debugging = bool(flag)


_thread = threading.local()


def stack() -> list[Any]:
    """Return the calling thread's contexts, the current one last."""
    if not hasattr(_thread, "contexts"):
        _thread.contexts = []
    contexts: list[Any] = _thread.contexts
    return contexts


def device_below_contexts() -> int:
    """Return the device that was current in the thread before its first context."""
    device: int = _thread.device
    return device


def set_device_below_contexts(device: int) -> None:
    """Keep the device that is current in the thread before its first context."""
    _thread.device = device


def current_device() -> int:
    """Return the ordinal of the calling thread's device, or raise RuntimeError without a device."""
    return errors.check(core.cudaGetDevice(), "cudaGetDevice")


def device_attribute(attribute: int) -> int:
    """Return an attribute, given by its number, of the calling thread's device."""
    found = core.cudaDeviceGetAttribute(attribute, current_device())
    return errors.check(found, "cudaDeviceGetAttribute")


def require_device() -> None:
    """Raise RuntimeError if the target has no device."""
    count = errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount")
    if count == 0:
        raise errors.exception_of("cudaGetDeviceCount", core.cudaError_t(errors.NO_DEVICE))
