"""Exceptions for device errors, and their one conversion from a status."""

from PyGPU._runtime.errors import (
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
    check,
    exception_of,
)

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
