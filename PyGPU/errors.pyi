"""Types of PyGPU.errors: a stub for editors and type checkers."""

import builtins
import struct
from collections.abc import Sequence
from typing import TypeVar, overload

from PyGPU import cudaError_t

_T = TypeVar("_T")
_U = TypeVar("_U")

class Error(Exception):
    call: str
    status: cudaError_t | None

class MemoryError(Error, builtins.MemoryError): ...
class LogicError(Error): ...
class ArgumentError(LogicError, struct.error, TypeError): ...
class ShapeError(ValueError, NotImplementedError): ...
class LaunchError(Error): ...
class RuntimeError(Error, builtins.RuntimeError): ...

class CompileError(Error):
    msg: str
    command_line: Sequence[str]
    stdout: str | None
    stderr: str | None
    def __init__(
        self,
        msg: str,
        command_line: Sequence[str],
        stdout: str | None = None,
        stderr: str | None = None,
    ) -> None: ...

class CompilerMissing(CompileError): ...

def exception_of(call: str, status: cudaError_t) -> Error: ...
@overload
def check(result: cudaError_t, call: str = "device call") -> None: ...
@overload
def check(result: tuple[_T, cudaError_t], call: str = "device call") -> _T: ...
@overload
def check(result: tuple[_T, _U, cudaError_t], call: str = "device call") -> tuple[_T, _U]: ...
