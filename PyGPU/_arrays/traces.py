"""Traces for :func:`PyGPU.fuse`: the recorded operations of a function.

The host computes the numbers that depend on number arguments again at each call. Some recorded
operations depend on a number's value: integers affect NumPy's result dtypes, and ``a**2`` becomes a
square. The trace then records a condition on the number. The trace is valid only for calls that
meet all its conditions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._arrays.tracing import (
    Number,
    Traced,
    error_at_current_line,
    identity,
    untraced_array,
)
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypes

GPUArray = core.GPUArray
_BOOL = np.dtype(np.bool_)
#: Maximum number of operations in a function. A larger kernel would take minutes to compile.
MAX_STEPS = 512


class Argument(NamedTuple):
    """An operand from the call's values: an array, or a number that is converted to `dtype`."""

    slot: int  # index into the values
    dtype: np.dtype
    is_array: bool


class Literal(NamedTuple):
    """A constant operand: the bytes of a number of `dtype`."""

    data: bytes
    dtype: np.dtype


class Result(NamedTuple):
    """A result of a step."""

    step: int  # index of the step
    which: int  # index of the result among those of the step
    dtype: np.dtype


class Step(NamedTuple):
    """An operation; its `operands` are Arguments, Literals and Results."""

    name: str
    operands: tuple[Any, ...]
    compute: tuple[np.dtype[Any], ...]
    results: tuple[np.dtype[Any], ...]


class Condition(NamedTuple):
    """A condition on a call: ``function(value)`` equals `expected`."""

    slot: int  # index of the value
    function: Callable[[Any], object]
    expected: object


def _simple_power(exponent: Any, kind: str) -> str | None:
    """Return the operation that replaces a power with this exponent, or None.

    The rules are those of src/python/operations/map.cpp.
    """
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
    """Convert a zero-dimensional ndarray to a NumPy scalar."""
    return value[()] if isinstance(value, np.ndarray) else value


class Trace:
    """The recorded operations of a function.

    Parameters
    ----------
    values : sequence
        Arguments of the traced call, of any types. The trace appends the numbers that the host
        computes at each call.
    array, number : type
        Classes that represent arrays and numbers in the trace.
    """

    def __init__(
        self, values: Iterable[Any], array: Callable[..., Any], number: Callable[..., Any]
    ) -> None:
        self._array, self._number = array, number
        self._is_open = True
        self.given = tuple(values)
        self.steps: list[Step] = []
        # Functions that compute the values after the arguments, and the slots of their operands.
        self.computed: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
        self.conditions: dict[tuple[int, Callable[..., Any], str], Condition] = {}
        self._step_indices: dict[Step, int] = {}
        self._values = list(values)

    def close(self) -> None:
        """Stop recording."""
        self._is_open, self.given, self._values = False, (), []

    def result(self, symbol: Any) -> Result:
        """Return the Result that a returned array represents. A returned argument is copied."""
        source: Argument | Result = self._operand(symbol, symbol.dtype, False)
        if not isinstance(source, Argument):
            return source
        self.steps.append(Step("copy", (source,), (source.dtype,), (source.dtype,)))
        return Result(len(self.steps) - 1, 0, source.dtype)

    def argument(self, slot: int) -> Any:
        """Return the object that represents the array or number argument with index `slot`."""
        value = self._values[slot]
        if isinstance(value, GPUArray):
            return self._array(self, Argument(slot, value.dtype, True), value.dtype)
        return self._number(self, slot, value)

    def compute(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Apply a function to numbers; return its result as a Number or a tuple of Numbers."""
        self._require_open()
        for one in operands:
            if isinstance(one, Number) and one._trace is not self:
                raise error_at_current_line("the number belongs to the trace of another function")
        slots = tuple([self._slot(one) for one in operands])
        value = function(*[self._values[slot] for slot in slots])
        if isinstance(value, tuple):
            container = self._number(self, self._append(function, slots, value), value)
            parts = [operator.itemgetter(k) for k in range(len(value))]
            return tuple([self.compute(part, container) for part in parts])
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
            raise untraced_array(operand)
        return self._append(partial(identity, operand), (), operand)

    def require(self, slot: int, function: Callable[..., Any], expected: object) -> None:
        """Add the condition that ``function(value)`` equals `expected` at each call."""
        self.conditions.setdefault(
            (slot, function, repr(expected)), Condition(slot, function, expected)
        )

    def _require_open(self) -> None:
        if not self._is_open:
            raise error_at_current_line("an array or number is used after the end of its trace")

    def _operand(self, operand: Any, dtype: DType, as_number: bool) -> Any:
        """Convert an operand of a step to an Argument, Literal or Result of a dtype."""
        if isinstance(operand, Traced):
            if operand._trace is not self:
                raise error_at_current_line(
                    "the array belongs to the trace of another function: pass it as an argument"
                )
            return operand._source
        if isinstance(operand, GPUArray):
            raise untraced_array(operand)
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
        """Record an operation; return the array that represents its result, or a tuple of them."""
        self._require_open()
        if not any(isinstance(one, Traced) for one in operands):
            raise error_at_current_line(
                f"{name}: expected at least one array, got only numbers; use NumPy's or Python's "
                "function"
            )
        for one in operands:
            if isinstance(one, Number) and type(one.traced_value) is int:
                self._require_same_dtypes(one, operands)
        if name == "power" and not isinstance(operands[1], GPUArray):
            simple = self._power(operands[1], compute)
            if simple:
                name, operands, compute = simple, operands[:1], compute[:1]
        # A compiler would replace a power with a constant exponent by other operations.
        as_numbers = name in ("power", "float_power")
        operands = tuple(
            [self._operand(one, dtype, as_numbers) for one, dtype in zip(operands, compute)]
        )
        step = Step(name, operands, tuple(compute), tuple(results))
        number = self._step_indices.setdefault(step, len(self.steps))
        if number == len(self.steps):
            self.steps.append(step)
            if number == MAX_STEPS:
                raise error_at_current_line(
                    f"more than {MAX_STEPS} operations: fuse the function in parts"
                )
        made = [
            self._array(self, Result(number, k, dtype), dtype) for k, dtype in enumerate(results)
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def _require_same_dtypes(self, number: Number, operands: tuple[Any, ...]) -> None:
        """Restrict an integer to values for which NumPy's result dtypes stay the same."""
        integers = [d for d in map(_dtype_of, operands) if d is not None and d.kind in "biu"]
        if not integers:
            return
        limits = [(0, 1) if d == _BOOL else (np.iinfo(d).min, np.iinfo(d).max) for d in integers]
        common = range(max(low for low, _ in limits), min(high for _, high in limits) + 1)
        if core._takes_types_from_values or number.traced_value not in common:
            self.require(number._slot, identity, number.traced_value)
        else:
            self.require(number._slot, common.__contains__, True)

    def _power(self, exponent: Any, compute: DTypes) -> str | None:
        is_number = isinstance(exponent, Number)
        value = _plain(exponent.traced_value if is_number else exponent)
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
    """Return an operand's dtype, or None for a Python number, which adopts the arrays' dtype."""
    value = operand.traced_value if isinstance(operand, Number) else operand
    return value.dtype if isinstance(value, (GPUArray, np.generic, np.ndarray)) else None
