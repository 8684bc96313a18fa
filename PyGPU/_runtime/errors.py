"""The conversion of a status to an exception.

All exception classes can be imported from here.
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

from PyGPU._runtime.exceptions import (
    ArgumentError,
    ArgumentWarning,
    CompileError,
    CompilerMissing,
    Error,
    ExchangeError,
    LaunchError,
    LogicError,
    MemoryError,
    RuntimeError,
    ShapeError,
    TraceError,
    warn,
)
from PyGPU._runtime.targets import core, hiding

__all__ = [
    "ArgumentError",
    "ArgumentWarning",
    "CompileError",
    "CompilerMissing",
    "Error",
    "ExchangeError",
    "LaunchError",
    "LogicError",
    "MemoryError",
    "RuntimeError",
    "ShapeError",
    "TraceError",
    "check",
    "exception_of",
]

_T = TypeVar("_T")
_U = TypeVar("_U")

_CLASSES: dict[int, type[Error]] = {
    **dict.fromkeys((701, 702, 703, 719), LaunchError),
    2: MemoryError,
    **dict.fromkeys((3, 35, 46, 100, 209, 214, 301, 600), RuntimeError),
    999: Error,
}

#: Code of the error that no device is visible.
NO_DEVICE = 100
_HINTS = {
    3: "this process cannot use the device",
    35: "the driver is missing or older than this runtime; PYGPU_TARGET=host runs without a GPU",
    215: "devices of compute capability 9 and later have no such limit, as their kernels cannot "
    "wait for kernels that they launch; leave it unset",
    NO_DEVICE: "no GPU is visible; PYGPU_TARGET=host runs without one",
    900: "a stream is being captured: its work runs when the graph is launched, so no call can "
    "wait for it",
    901: "a call invalidated the capture: it waited, or it used the null stream, as another "
    "library does unless it receives the captured stream's handle",
    904: "another stream joined the capture and was never joined back",
    905: "captured work cannot wait for work that is not captured",
    906: "a stream that waits for the null stream is being captured: pass the captured stream (its "
    "handle) to the call, or capture a Stream(1)",
    907: "an event recorded in captured work is a point in a graph and has no time",
    908: "a capture must be ended by the thread that began it",
}


def exception_of(call: str, status: core.cudaError_t) -> Error:
    """Return the exception for a failed call.

    Parameters
    ----------
    call : str
        Name of the runtime call.
    status : cudaError_t
        Status that the call returned.

    Returns
    -------
    Error
        Exception of the class that PyCUDA raises for the code.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.errors import exception_of
    >>> exception_of("cudaMalloc", PyGPU.cudaError_t(2))
    MemoryError('cudaMalloc failed: out of memory')
    """
    extra = status.detail or _HINTS.get(status.code, "")
    if status.code == NO_DEVICE and (hidden := hiding()):
        extra += f"; {hidden}"
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
    """Raise an exception if a low-level call failed; otherwise return its values.

    Parameters
    ----------
    result : cudaError_t or tuple
        Result of the call: a status, or a tuple that ends with one.
    call : str, optional
        Name of the call, for the message.

    Returns
    -------
    object
        None, the value, or a tuple of several values, without the status.

    Raises
    ------
    Error
        If the status is an error.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.errors import check
    >>> check(PyGPU.cudaGetDevice())
    0
    """
    *values, status = (result,) if isinstance(result, core.cudaError_t) else result
    if status:
        core.cudaGetLastError()  # clear the error, which a later query would report again
        raise exception_of(call, status)
    return values[0] if len(values) == 1 else tuple(values) or None


core._set_hook("exception_of", exception_of)
core._set_hook("argument_error", ArgumentError)
core._set_hook("argument_warning", ArgumentWarning)
core._set_hook("warn", warn)
core._set_hook("shape_error", ShapeError)
core._set_hook("exchange_error", ExchangeError)
core._set_hook("compiler_missing", CompilerMissing)
