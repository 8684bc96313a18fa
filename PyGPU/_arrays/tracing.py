"""Symbols of :func:`PyGPU.fuse`, whose operations are recorded instead of executed.

A :class:`Traced` represents an array: an argument, or the result of an operation. A :class:`Number`
represents a number argument, or a number computed only from number arguments. Both belong to a
trace: see traces.py.
"""

from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from PyGPU._types import DType, DTypes

GPUArray = core.GPUArray


def _is_ours(frame: FrameType) -> bool:
    """Test whether the code of a frame belongs to PyGPU or NumPy."""
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in ("PyGPU", "numpy")


def trace_error(text: str, frame: FrameType) -> errors.TraceError:
    """Make the TraceError that names the current line of a frame."""
    return error_at_line(text, frame.f_code, frame.f_lineno)


def error_at_line(text: str, code: CodeType, line: int) -> errors.TraceError:
    """Make the TraceError that names a line of a code object."""
    source_line = linecache.getline(code.co_filename, line).strip()
    location = f'\n  File "{code.co_filename}", line {line}, in {code.co_name}'
    return errors.TraceError(text + location + (f"\n    {source_line}" if source_line else ""))


def error_at_current_line(text: str) -> errors.TraceError:
    """Make the TraceError that names the current line of the traced function.

    Frames of PyGPU and NumPy are skipped.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return trace_error(text, frame)


def error_at_users_line(error: BaseException) -> errors.TraceError | None:
    """Convert an error into the TraceError that names the line of the user's function.

    Return None if the error was raised outside of the user's function.
    """
    found, trace = None, error.__traceback__
    while trace is not None:
        if not _is_ours(trace.tb_frame):
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    text = str(error).replace("'Symbol' object", "'GPUArray' object")
    if text.startswith("this object was not made"):  # C++ tried to use a traced array's memory
        text = "a function that is not element-wise, or reads the elements, cannot be traced"
    return error_at_line(text, found.tb_frame.f_code, found.tb_lineno)


class Traced:
    """A symbolic array, which has a dtype but no elements and no shape.

    The subclass :class:`Symbol` is also a GPUArray, so functions accept it. A function that uses
    the array's memory raises an error.
    """

    def __init__(self, trace: Any, source: Any, dtype: DType) -> None:
        self._trace, self._source, self._dtype = trace, source, dtype

    dtype = property(operator.attrgetter("_dtype"))


class Number:
    """A symbolic number: a number argument, or a number computed from number arguments."""

    def __init__(self, trace: Any, slot: int, value: Any) -> None:
        self._trace, self._slot = trace, slot
        self.traced_value = value  # the value in the call that is traced; others may differ


def identity(value: Any) -> Any:
    return value


def untraced_array(array: GPUArray) -> errors.TraceError:
    """Make the TraceError for an array that is not an argument of the fused function."""
    return error_at_current_line(
        f"an array of shape {array.shape} is not an argument of the fused function; pass it as an "
        "argument, because its elements may change between calls"
    )


def traced(operands: Iterable[object]) -> Any:
    """Return the trace that the operands belong to, or None."""
    for one in operands:
        if isinstance(one, (Traced, Number)):
            return one._trace
    return None


def record(
    name: str,
    operands: tuple[Any, ...],
    compute: DTypes,
    results: DTypes,
    **refused_settings: object,
) -> GPUArray:
    """Record an operation in the trace that its operands belong to."""
    for setting, value in refused_settings.items():
        if value is not None:
            raise error_at_current_line(
                f"{setting}= is an argument of the fused function, not of the functions inside it"
            )
    made: GPUArray = traced(operands).record(name, operands, compute, results)
    return made


def require_values(operands: Iterable[object]) -> None:
    """Restrict the trace to calls in which these numbers have the same values."""
    for one in operands:
        if isinstance(one, Number):
            one._trace.require(one._slot, identity, one.traced_value)


def computed(function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function to numbers, and record it for each call if an operand is a Number."""
    for one in operands:
        if isinstance(one, Number):
            return one._trace.compute(function, *operands)
    return function(*operands)
