"""Recording of operations, instead of running them, while :func:`PyGPU.fuse` traces a function.

A :class:`Traced` represents an array: an argument or the result of an operation. A :class:`Number`
represents a number among the arguments, or a number computed from such numbers alone; the host
computes it at each call with the same functions. Where the recorded operations depend on a number's
value (NumPy's types of integers, the square for ``a**2``), the trace records a condition.
The trace is valid only for calls that meet its conditions.
"""

from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._runtime import core, errors

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from PyGPU._types import DType, DTypes

GPUArray = core.GPUArray
_BOOL = np.dtype(np.bool_)
#: Most operations of a function: the text of more would take minutes to compile.
MOST_STEPS = 512


def _is_ours(frame: FrameType) -> bool:
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in ("PyGPU", "numpy")


def trace_error(text: str, frame: FrameType) -> errors.TraceError:
    """Make the TraceError that names the current line of a frame."""
    return located(text, frame.f_code, frame.f_lineno)


def located(text: str, code: CodeType, line: int) -> errors.TraceError:
    """Make the TraceError that names a line."""
    source_line = linecache.getline(code.co_filename, line).strip()
    location = f'\n  File "{code.co_filename}", line {line}, in {code.co_name}'
    return errors.TraceError(text + location + (f"\n    {source_line}" if source_line else ""))


def error_at_current_line(text: str) -> errors.TraceError:
    """Make the TraceError that names the current line of the traced function, our caller."""
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
    if text.startswith("this object was not made"):  # C++ found no memory in a traced array
        text = "a function that runs at once, or does not work element by element, cannot be traced"
    return located(text, found.tb_frame.f_code, found.tb_lineno)


class Traced:
    """An array of which only the dtype is known.

    Its subclass :class:`Symbol` is also a GPUArray, so that functions of GPUArrays accept it; a
    function that needs the array's memory fails.
    """

    def __init__(self, trace: Trace, source: Argument | Result, dtype: DType) -> None:
        self._trace, self._source, self._dtype = trace, source, dtype

    dtype = property(operator.attrgetter("_dtype"))


class Number:
    """A number of which only the type is known: an argument, or computed from arguments."""

    def __init__(self, trace: Trace, slot: int, value: Any) -> None:
        self._trace, self._slot = trace, slot
        self.now = value  # the value in the call that is traced


class Argument(NamedTuple):
    """An array, or a number converted to a dtype, by its index among a call's values."""

    slot: int
    dtype: np.dtype
    is_array: bool


class Literal(NamedTuple):
    """A constant of the function, as the bytes of a dtype."""

    data: bytes
    dtype: np.dtype


class Result(NamedTuple):
    """A result of a step."""

    step: int
    which: int
    dtype: np.dtype


class Step(NamedTuple):
    """An operation; its `operands` are Arguments, Literals and Results."""

    name: str
    operands: tuple[Any, ...]
    compute: tuple[np.dtype[Any], ...]
    results: tuple[np.dtype[Any], ...]


class Condition(NamedTuple):
    """The trace is valid only for calls in which `function(value)` equals `expected`."""

    slot: int
    function: Callable[[Any], object]
    expected: object


def identity(value: Any) -> Any:
    return value


def _simple_power(exponent: Any, kind: str) -> str | None:
    """Return the operation that replaces a power, or None, as operations/map.cpp does."""
    if kind == "b" or not (isinstance(exponent, float) or hasattr(exponent, "__index__")):
        return None
    known: tuple[tuple[float, str], ...] = (
        (2, "square"),
        (3, "cube"),
        (0.5, "sqrt"),
        (-1, "reciprocal"),
    )
    known = known if kind in "fc" else known[:2]
    return next((name for number, name in known if exponent == number), None)


def _is_negative(number: Any) -> bool:
    return not isinstance(number, (complex, np.complexfloating)) and bool(number < 0)


def _plain(value: Any) -> Any:
    """Convert an array without axes to a NumPy scalar."""
    return value[()] if isinstance(value, np.ndarray) else value


class Trace:
    """The recorded operations of a function.

    Parameters
    ----------
    values : sequence
        The arguments, some of them arrays and numbers. Values that the host computes from numbers
        at each call are appended.
    array, number : type
        Classes of the objects that represent arrays and numbers.
    """

    def __init__(
        self, values: Iterable[Any], array: Callable[..., Any], number: Callable[..., Any]
    ) -> None:
        self._array, self._number = array, number
        self._is_open = True
        self.given = tuple(values)
        self.steps: list[Step] = []
        # (function, slots) of the values after the arguments.
        self.computed: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
        self.conditions: dict[tuple[int, Callable[..., Any], str], Condition] = {}
        self._known: dict[Step, int] = {}
        self._values = list(values)

    def close(self) -> None:
        """Stop recording."""
        self._is_open, self.given, self._values = False, (), []

    def result(self, symbol: Any) -> Result:
        """Return the source of a result. An argument that is returned unchanged becomes a copy."""
        source: Argument | Result = self._operand(symbol, symbol.dtype, False)
        if not isinstance(source, Argument):
            return source
        self.steps.append(Step("copy", (source,), (source.dtype,), (source.dtype,)))
        return Result(len(self.steps) - 1, 0, source.dtype)

    def argument(self, slot: int) -> Any:
        """Return the object that represents an array or a number among the arguments."""
        value = self._values[slot]
        if isinstance(value, GPUArray):
            return self._array(self, Argument(slot, value.dtype, True), value.dtype)
        return self._number(self, slot, value)

    def compute(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Apply a function to numbers; return a Number, or a tuple of Numbers."""
        self._require_open()
        for one in operands:
            if isinstance(one, Number) and one._trace is not self:
                raise error_at_current_line("the number belongs to another function that is traced")
        slots = tuple([self._slot(one) for one in operands])
        value = function(*[self._values[slot] for slot in slots])
        if isinstance(value, tuple):
            whole = self._number(self, self._append(function, slots, value), value)
            parts = [operator.itemgetter(k) for k in range(len(value))]
            return tuple([self.compute(part, whole) for part in parts])
        if not isinstance(value, (int, float, complex, np.generic)):
            raise error_at_current_line(
                f"expected a number, got {type(value).__name__}: compute it before the call"
            )
        return self._number(self, self._append(function, slots, value), value)

    def _append(self, function: Callable[..., Any], slots: tuple[int, ...], value: Any) -> int:
        self._values.append(value)
        self.computed.append((function, slots))
        slot = len(self._values) - 1
        self.require(slot, type, type(value))
        return slot

    def _slot(self, operand: Any) -> int:
        if isinstance(operand, Number):
            return operand._slot
        if isinstance(operand, GPUArray):
            raise foreign(operand)
        return self._append(partial(identity, operand), (), operand)

    def require(self, slot: int, function: Callable[..., Any], expected: object) -> None:
        """Add a condition: at each call, ``function(value)`` must equal `expected`."""
        self.conditions.setdefault(
            (slot, function, repr(expected)), Condition(slot, function, expected)
        )

    def _require_open(self) -> None:
        if not self._is_open:
            raise error_at_current_line(
                "an array or number is used after the end of the trace that it belongs to"
            )

    def _operand(self, operand: Any, dtype: DType, as_number: bool) -> Any:
        """Convert an operand of a step to an Argument, Literal or Result of a dtype."""
        if isinstance(operand, Traced):
            if operand._trace is not self:
                raise error_at_current_line(
                    "an array of another function that is traced: pass it as an argument"
                )
            return operand._source
        if isinstance(operand, GPUArray):
            raise foreign(operand)
        if isinstance(operand, Number):
            if dtype == _BOOL:
                operand = self.compute(bool, operand)
            return Argument(operand._slot, dtype, False)
        value = bool(operand) if dtype == _BOOL else _plain(operand)
        data = core._number_as(value, dtype)
        if as_number or not np.isfinite(np.frombuffer(data, dtype)[0]):
            return Argument(self._slot(value), dtype, False)
        return Literal(data, dtype)

    def record(self, name: str, operands: tuple[Any, ...], compute: DTypes, results: DTypes) -> Any:
        """Record an operation; return the object, or a tuple of objects, that it results in."""
        self._require_open()
        if not any(isinstance(one, Traced) for one in operands):
            raise error_at_current_line(
                f"{name} of numbers alone: use the function of NumPy or Python instead"
            )
        for one in operands:
            if isinstance(one, Number) and type(one.now) is int:
                self._require_held(one, operands)
        if name == "power" and not isinstance(operands[1], GPUArray):
            simple = self._power(operands[1], compute)
            if simple:
                name, operands, compute = simple, operands[:1], compute[:1]
        # Compilers would replace a power with a constant exponent by other operations.
        as_numbers = name in ("power", "float_power")
        operands = tuple(
            [self._operand(one, dtype, as_numbers) for one, dtype in zip(operands, compute)]
        )
        step = Step(name, operands, tuple(compute), tuple(results))
        number = self._known.setdefault(step, len(self.steps))
        if number == len(self.steps):
            self.steps.append(step)
            if number == MOST_STEPS:
                raise error_at_current_line(
                    f"more than {MOST_STEPS} operations: fuse the function in parts"
                )
        made = [
            self._array(self, Result(number, k, dtype), dtype) for k, dtype in enumerate(results)
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def _require_held(self, number: Number, operands: tuple[Any, ...]) -> None:
        """Add the condition on an integer's value that keeps NumPy's result types the same."""
        met = [d for d in map(_dtype_of, operands) if d is not None and d.kind in "biu"]
        if not met:
            return
        limits = [(0, 1) if d == _BOOL else (np.iinfo(d).min, np.iinfo(d).max) for d in met]
        held = range(max(low for low, _ in limits), min(high for _, high in limits) + 1)
        if core._takes_types_from_values or number.now not in held:
            self.require(number._slot, identity, number.now)
        else:
            self.require(number._slot, held.__contains__, True)

    def _power(self, exponent: Any, compute: DTypes) -> str | None:
        is_number = isinstance(exponent, Number)
        value = _plain(exponent.now if is_number else exponent)
        checks: list[Callable[[Any], Any]] = [partial(_simple_power, kind=compute[0].kind)]
        if compute[1].kind == "i":
            checks.append(_is_negative)
        simple: str | None
        simple, *negative = [check(value) for check in checks]
        if is_number:
            for check, expected in zip(checks, (simple, *negative)):
                self.require(exponent._slot, check, expected)
        if simple is None and any(negative):
            raise ValueError(
                f"power: integers to negative integer powers are not allowed, got {value}"
            )
        return simple


def _dtype_of(operand: Any) -> DType | None:
    """Return an operand's dtype; None for Python's numbers, which are weak."""
    value = operand.now if isinstance(operand, Number) else operand
    return value.dtype if isinstance(value, (GPUArray, np.generic, np.ndarray)) else None


def foreign(array: GPUArray) -> errors.TraceError:
    """Make the TraceError for an array that is not an argument."""
    return error_at_current_line(
        f"an array of shape {array.shape} is no argument of the function: all calls would use the "
        "elements that it has now; pass it as an argument"
    )


def traced(operands: Iterable[object]) -> Trace | None:
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
    """Record an operation in the trace of its operands, one of which is traced."""
    for setting, value in refused_settings.items():
        if value is not None:
            raise error_at_current_line(
                f"{setting}= is an argument of the fused function, not of those inside"
            )
    trace: Any = traced(operands)
    made: GPUArray = trace.record(name, operands, compute, results)
    return made


def require_values(operands: Iterable[object]) -> None:
    """Add the condition that these numbers have the same values at each call."""
    for one in operands:
        if isinstance(one, Number):
            one._trace.require(one._slot, identity, one.now)


def computed(function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function to numbers: now, or at each call if one of them is a Number."""
    for one in operands:
        if isinstance(one, Number):
            return one._trace.compute(function, *operands)
    return function(*operands)
