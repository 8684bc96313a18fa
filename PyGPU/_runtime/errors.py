"""Exceptions for device errors, and their one conversion from a status.

The classes are PyCUDA's. ``MemoryError`` and ``RuntimeError`` also subclass the builtins of that
name, so either spelling catches them.
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
    """A device call failed.

    Attributes
    ----------
    call : str
        Name of the call.
    status : cudaError_t or None
        Status that the call returned.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> try:
    ...     drv.mem_get_address_range(64)
    ... except drv.Error as error:
    ...     print(error.call, error.status.name)
    cuMemGetAddressRange cudaErrorInvalidValue
    """

    call: str = ""
    status: core.cudaError_t | None = None


class MemoryError(Error, builtins.MemoryError):
    """Device or page-locked memory ran out.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> try:
    ...     drv.mem_alloc(1 << 62)
    ... except MemoryError as error:
    ...     print(type(error).__module__)
    PyGPU.errors
    """


class LogicError(Error):
    """The call was wrong: an invalid value, handle, address or state.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> try:
    ...     drv.mem_alloc(0)
    ... except drv.LogicError as error:
    ...     print("refused")
    refused
    """


class ArgumentError(LogicError, struct.error, TypeError):
    """A kernel argument does not fit its parameter: its count, type, width or range.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> kernel = SourceModule("__global__ void f(int n) {}").get_function("f")
    >>> try:
    ...     kernel(np.int64(2**40), block=(1, 1, 1))
    ... except drv.ArgumentError as error:
    ...     print("refused")
    refused
    """


class ArgumentWarning(UserWarning):
    """A kernel argument's dtype differs from its parameter's, and no other check would report it.

    The environment variable PYGPU_CHECK=error turns the warning into an error, PYGPU_CHECK=off
    suppresses it.

    Examples
    --------
    >>> import warnings
    >>> from PyGPU.errors import ArgumentWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ArgumentWarning)
    """


class ShapeError(ValueError, NotImplementedError):
    """Shapes do not match: PyCUDA raises NotImplementedError here, NumPy ValueError.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU.errors import ShapeError
    >>> try:
    ...     gpuarray.zeros(2, "float32") + gpuarray.zeros(3, "float32")
    ... except ShapeError:
    ...     print("refused")
    refused
    """


class TraceError(TypeError):
    """A fused function does something that a kernel cannot do; the message names the line.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.errors import TraceError
    >>> @PyGPU.fuse
    ... def absolute(x):
    ...     return x if x > 0 else -x
    >>> try:
    ...     absolute(PyGPU.zeros(2, "float32"))
    ... except TraceError:
    ...     print("refused")
    refused
    """


class LaunchError(Error):
    """A kernel could not be started or did not finish.

    Examples
    --------
    >>> import PyGPU.errors as errors
    >>> issubclass(errors.LaunchError, errors.Error)
    True
    """


class RuntimeError(Error, builtins.RuntimeError):
    """The environment is wrong: no device, no code for it, a missing file, a hardware fault.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> try:
    ...     drv.module_from_file("/no/such/file")
    ... except RuntimeError as error:
    ...     print(type(error).__module__)
    PyGPU.errors
    """


class CompileError(Error):
    """A kernel's source text did not compile.

    Parameters
    ----------
    msg : str
        Summary of the failure.
    command_line : list of str
        Compiler and its options.
    stdout : str, optional
        Output of the compiler.
    stderr : str, optional
        Error messages of the compiler.

    Examples
    --------
    >>> from PyGPU.compiler import SourceModule
    >>> from PyGPU.errors import CompileError
    >>> try:
    ...     SourceModule("__global__ void f() { undeclared = 1; }")
    ... except CompileError as error:
    ...     print("undeclared" in error.stderr)
    True
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
    """No compiler for kernels was found; the message says what to install.

    Parameters
    ----------
    msg : str
        Summary of the failure.
    command_line : list of str
        Compiler and its options.
    stdout : str, optional
        Output of the compiler.
    stderr : str, optional
        Error messages of the compiler.

    Examples
    --------
    >>> import PyGPU.errors as errors
    >>> issubclass(errors.CompilerMissing, errors.CompileError)
    True
    """


_CLASSES: dict[int, type[Error]] = {
    **dict.fromkeys((701, 702, 703, 719), LaunchError),
    2: MemoryError,
    **dict.fromkeys((3, 35, 46, 100, 209, 214, 301, 600), RuntimeError),
    999: Error,
}

_HINTS = {
    3: "this process cannot use the device",
    35: "the driver is missing or older than this runtime; PYGPU_TARGET=host runs without a GPU",
    215: "devices of compute capability 9 and later have no such limit, as their kernels cannot "
    "wait for kernels that they launch; leave it unset",
    100: "no GPU is visible; PYGPU_TARGET=host runs without one",
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
