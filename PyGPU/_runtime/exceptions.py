"""Exception classes for errors of devices, arguments and compilers; warnings at the program's line.

The classes are PyCUDA's. ``MemoryError`` and ``RuntimeError`` also subclass the builtins of that
name, so either spelling catches them.
"""

from __future__ import annotations

import builtins
import struct
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PyGPU import _host as core


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


# The builtin comes first: Error's `__new__` refuses subclasses of it, and tblib calls `__new__`.
class MemoryError(builtins.MemoryError, Error):
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
    """The call was wrong: an invalid value, handle, address or state."""


class ArgumentError(LogicError, struct.error, TypeError, OverflowError):
    """A kernel argument does not fit its parameter: its count, type, width or range."""


class ArgumentWarning(UserWarning):
    """A kernel argument's dtype differs from its parameter's, and no other check would report it.

    The environment variable PYGPU_CHECK=error turns the warning into an error, PYGPU_CHECK=off
    suppresses it.
    """


class ShapeError(ValueError, NotImplementedError):
    """Shapes do not match: PyCUDA raises NotImplementedError here, NumPy ValueError."""


class ExchangeError(BufferError, NotImplementedError):
    """DLPack has no type for the dtype of the array.

    mpi4py accepts the array by another protocol if it catches the NotImplementedError.
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
    """A kernel could not be started or did not finish."""


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
    """


for _class in (
    *Error.__subclasses__(),
    Error,
    ArgumentError,
    ShapeError,
    TraceError,
    CompilerMissing,
):
    _class.__module__ = "PyGPU.errors"


# Packages whose frames lie between the program's line and the warning. The module pycuda is
# PyGPU's under PyCUDA's name; Python's own two run imports and ``with`` blocks of ours.
_SKIPPED = {"PyGPU", "pycuda", "importlib", "_frozen_importlib", "contextlib"}


def _is_skipped(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in _SKIPPED


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside of PyGPU.

    ``warnings.warn`` has no way to say this before Python 3.12 (``skip_file_prefixes``), and a
    fixed ``stacklevel`` is right for one way to the warning only.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_skipped(frame):
        frame = frame.f_back
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    module = names.get("__name__") or "<unknown>"
    code = frame.f_code.co_filename
    warnings.warn_explicit(message, category, code, frame.f_lineno, module, registry)
