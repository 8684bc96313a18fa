"""The context on the default device, which ``PyGPU.autoinit`` makes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PyGPU._driver.context import Context
from PyGPU._driver.device import Device
from PyGPU._runtime import clear_context_caches, docstrings, errors, settings, state

_CHOICE_FILES = ("~/.cuda_device", "~/.cuda-device")


def chosen_device() -> int | None:
    """Return the ordinal that the environment or a file in the home directory sets, or None."""
    ordinal: int | None = settings.value("PYGPU_DEVICE")
    if ordinal is not None:
        return ordinal
    for name in _CHOICE_FILES:
        try:
            return int(Path(name).expanduser().read_text().strip())
        except (OSError, ValueError, RuntimeError):
            continue
    return None


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """Make a context on the default device.

    The ordinal of the default device is read from the environment variables PYGPU_DEVICE and
    CUDA_DEVICE, then from the files ~/.cuda_device and ~/.cuda-device. If none of them sets an
    ordinal, the first device on which a context can be made is used.

    :param callable(Device) ctx_maker: Function that makes a context on a device. The default is
        ``Device.make_context``.
    :returns: The context, which is current in this thread.
    :raises RuntimeError: If no device is available, or if no context can be made on any device.

    >>> from PyGPU.tools import make_default_context
    >>> context = make_default_context()
    >>> int(context.get_device())
    0
    >>> context.pop()
    """
    make = ctx_maker or (lambda device: device.make_context())
    state.require_device()
    chosen = chosen_device()
    if chosen is not None:
        return make(Device(chosen))
    failures = []
    for ordinal in range(Device.count()):
        try:
            return make(Device(ordinal))
        except errors.Error as error:
            failures.append(f"device {ordinal}: {error}")
    raise errors.RuntimeError("no context can be made on any device: " + "; ".join(failures))


def exit_handler(module: dict[str, Any]) -> Callable[[], None]:
    """Return a function for `atexit` that pops a module's context.

    `module` contains the module's global variables. The function sets the variable ``context`` to
    None.
    """

    def finish_up() -> None:
        if module["context"] is not None:
            if Context.get_current() is not None:
                Context.pop()
            module["context"] = None
        clear_context_caches()

    return finish_up


docstrings.complete(__name__)
