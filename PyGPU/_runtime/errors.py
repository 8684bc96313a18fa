"""Exceptions for device errors, and the one way from a status to an exception.

The classes are PyCUDA's. ``MemoryError`` and ``RuntimeError`` are also the builtins of that name,
so either spelling catches them.
"""

from __future__ import annotations

import builtins
import struct
from collections.abc import Sequence
from typing import Any, TypeVar, overload

from PyGPU._runtime.targets import core

_T = TypeVar("_T")
_U = TypeVar("_U")


class Error(Exception):
    """A device call failed. ``call`` names it, ``status`` is its cudaError_t (or None)."""

    call: str = ""
    status: core.cudaError_t | None = None


class MemoryError(Error, builtins.MemoryError):
    """Device or page-locked memory ran out."""


class LogicError(Error):
    """The call was wrong: an invalid value, handle, address or state."""


class ArgumentError(LogicError, struct.error, TypeError):
    """An argument does not fit the kernel's parameter: its number, type, width or range."""


class ArgumentWarning(UserWarning):
    """A kernel's argument is of another type than its parameter, where nothing else would tell."""


class ShapeError(ValueError, NotImplementedError):
    """Shapes that do not fit together. PyCUDA raises NotImplementedError, NumPy ValueError."""


class TraceError(TypeError):
    """A function that is to be fused does what cannot be part of a kernel; the text says in which
    line."""


class LaunchError(Error):
    """A kernel could not be started or did not finish."""


class RuntimeError(Error, builtins.RuntimeError):
    """The surroundings are wrong: no device, no code for it, a missing file, a hardware fault."""


class CompileError(Error):
    """A kernel's source did not compile.

    Parameters
    ----------
    msg : str
    command_line : list of str
    stdout, stderr : str, optional
    """

    def __init__(
        self,
        msg: str,
        command_line: Sequence[str],
        stdout: str | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self) -> str:
        text = self.msg
        for name in ("stderr", "stdout"):
            if getattr(self, name):
                text += f"\n[{name}:\n{getattr(self, name)}]"
        return f"{text}\n[command: {' '.join(map(str, self.command_line))}]"


class CompilerMissing(CompileError):
    """There is no compiler for kernels here; the text says what to install."""


_CLASSES: dict[int, type[Error]] = {
    **dict.fromkeys((701, 702, 703, 719), LaunchError),
    2: MemoryError,
    **dict.fromkeys((3, 35, 46, 100, 209, 214, 301, 600), RuntimeError),
    999: Error,
}

_HINTS = {
    3: "the device cannot be used in this process",
    35: "the driver is missing or older than this runtime; PYGPU_TARGET=host runs without a GPU",
    215: "devices of compute capability 9 and later have no such limit, as kernels cannot wait for "
    "the kernels that they launch; nothing need be set",
    100: "no GPU is visible; PYGPU_TARGET=host runs without one",
    900: "a stream is captured: its work is done when the graph is launched, so nothing can wait",
    901: "a call in the captured work has spoilt it: one that waits, or that uses the null stream, "
    "as launches of another library do that are not given the captured stream's handle",
    904: "another stream has taken part, and the captured one does not wait for it in the end",
    905: "captured work cannot wait for what is not captured",
    906: "the null stream cannot be used while a stream that waits for it is captured: give the "
    "call the captured stream (its handle), or capture a Stream(1)",
    907: "an event that is recorded in captured work is a point in a graph, without a time",
    908: "a capture is ended by the thread that has begun it",
}


def exception_of(call: str, status: core.cudaError_t) -> Error:
    """The exception for a failed call.

    Parameters
    ----------
    call : str
        Name of the runtime call.
    status : cudaError_t

    Returns
    -------
    Error
        Of the class that PyCUDA raises for the code.
    """
    extra = status.detail or _HINTS.get(status.code, "")
    message = f"{call} failed: {status.string}" + (f" - {extra}" if extra else "")
    error = _CLASSES.get(status.code, LogicError)(message)
    error.call, error.status = call, status
    return error


@overload
def check(result: core.cudaError_t, call: str = ...) -> None: ...
@overload
def check(result: tuple[_T, core.cudaError_t], call: str = ...) -> _T: ...
@overload
def check(result: tuple[_T, _U, core.cudaError_t], call: str = ...) -> tuple[_T, _U]: ...
def check(result: Any, call: str = "device call") -> Any:
    """Raise if a low-level call failed; otherwise give what it yielded.

    Parameters
    ----------
    result : cudaError_t or tuple
        What the call returned: a status, or a tuple that ends with one.
    call : str, optional
        Its name, for the message.

    Returns
    -------
    None, or the value, or a tuple of values without the status.

    Raises
    ------
    Error
    """
    *values, status = (result,) if isinstance(result, core.cudaError_t) else result
    if status:
        core.cudaGetLastError()  # a later call that does not fail is not to report it
        raise exception_of(call, status)
    return values[0] if len(values) == 1 else tuple(values) or None


for _class in (
    *Error.__subclasses__(),
    Error,
    ArgumentError,
    ShapeError,
    TraceError,
    CompilerMissing,
):
    _class.__module__ = "PyGPU.errors"

core._set_hook("exception_of", exception_of)
core._set_hook("argument_error", ArgumentError)
core._set_hook("argument_warning", ArgumentWarning)
core._set_hook("shape_error", ShapeError)
core._set_hook("compiler_missing", CompilerMissing)
