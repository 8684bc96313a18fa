"""What the driver's look-alikes share: the debugging switch and each thread's stack of contexts."""

from __future__ import annotations

import threading
from typing import Any

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

debugging = False


def set_debugging(flag: bool = True) -> None:
    """Compile for the debugger (-G), keep the sources, and cache nothing."""
    global debugging
    debugging = bool(flag)


_thread = threading.local()


def stack() -> list[Any]:
    """The calling thread's contexts, the current one last."""
    if not hasattr(_thread, "contexts"):
        _thread.contexts = []
    contexts: list[Any] = _thread.contexts
    return contexts


def current_device() -> int:
    """The ordinal of the calling thread's device. RuntimeError where there is none."""
    return errors.check(core.cudaGetDevice(), "cudaGetDevice")


def device_attribute(attribute: int) -> int:
    """An attribute of the calling thread's device, by its number."""
    found = core.cudaDeviceGetAttribute(attribute, current_device())
    return errors.check(found, "cudaDeviceGetAttribute")


def require_device() -> None:
    """RuntimeError where the target has no device."""
    count = errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount")
    if count == 0:
        raise errors.exception_of("cudaGetDeviceCount", core.cudaError_t(100))
