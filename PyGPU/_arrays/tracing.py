"""Operations that are recorded instead of run, while a function is traced for :func:`PyGPU.fuse`.

A :class:`Traced` stands for an array: an argument, or what an operation gives. A :class:`Number`
stands for a number among the arguments, or what follows from such numbers alone; that is computed
on the host at each call, by the same functions. What depends on a number's value (NumPy's types of
integers, the square of ``a**2``) makes a condition, on which the trace holds.
"""

import linecache
import operator
import sys
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from PyGPU._runtime import core, errors

GPUArray = core.GPUArray
_BOOL = np.dtype(np.bool_)
#: More would be a text that takes minutes to compile.
MOST_STEPS = 512


def _is_ours(frame):
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package in ("PyGPU", "numpy")


def trace_error(text, frame):
    """The TraceError that names the line at which a frame is."""
    return located(text, frame.f_code, frame.f_lineno)


def located(text, code, line):
    """The TraceError that names a line."""
    said = linecache.getline(code.co_filename, line).strip()
    place = f'\n  File "{code.co_filename}", line {line}, in {code.co_name}'
    return errors.TraceError(text + place + (f"\n    {said}" if said else ""))


def refused(text):
    """The TraceError for what the user's function, which has called us, does now."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return trace_error(text, frame)


def at_the_line(error):
    """The TraceError for another error, which names the line of the user's; None for one that is
    not from there."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not _is_ours(trace.tb_frame):
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    text = str(error).replace("'Symbol' object", "'GPUArray' object")
    if text.startswith("this object was not made"):  # C++ looks for its memory
        text = "a function that runs at once cannot be traced, nor one of more than single elements"
    return located(text, found.tb_frame.f_code, found.tb_lineno)


class Traced:
    """An array of which only the dtype is known. Its class is a GPUArray's, too: what asks for that
    takes it, and what needs memory finds none."""

    def __init__(self, trace, place, dtype):
        self._trace, self._place, self._dtype = trace, place, dtype

    dtype = property(operator.attrgetter("_dtype"))


class Number:
    """A number of which only the kind is known: one among the arguments, or what is computed from
    such."""

    def __init__(self, trace, slot, value):
        self._trace, self._slot = trace, slot
        self.now = value  # in the call that is traced


class Argument(NamedTuple):
    """An array, or a number as a dtype, by its place among a call's values."""

    slot: int
    dtype: np.dtype
    is_array: bool


class Literal(NamedTuple):
    """A number that stands in the function, by its bytes in a dtype."""

    data: bytes
    dtype: np.dtype


class Result(NamedTuple):
    """One of the results of a step."""

    step: int
    which: int
    dtype: np.dtype


class Step(NamedTuple):
    """An operation: `operands` are Arguments, Literals and Results."""

    name: str
    operands: tuple[Any, ...]
    compute: tuple[np.dtype[Any], ...]
    results: tuple[np.dtype[Any], ...]


class Condition(NamedTuple):
    """`function(value)` of a call must be what it was for the call that was traced."""

    slot: int
    function: object
    expected: object


def itself(value):
    return value


def _simple_power(exponent, kind):
    """The operation that stands for a power with this exponent, as in src/python/array/map.cpp."""
    if kind == "b" or not (isinstance(exponent, float) or hasattr(exponent, "__index__")):
        return None
    known = ((2, "square"), (3, "cube"), (0.5, "sqrt"), (-1, "reciprocal"))
    known = known if kind in "fc" else known[:2]
    return next((name for number, name in known if exponent == number), None)


def _is_negative(number):
    return not isinstance(number, (complex, np.complexfloating)) and bool(number < 0)


def _plain(value):
    """NumPy's scalar for an array without axes."""
    return value[()] if isinstance(value, np.ndarray) else value


class Trace:
    """What a function does with its arguments.

    Parameters
    ----------
    values : sequence
        The arguments, of which some are arrays and numbers. What the host computes from numbers at
        each call comes behind.
    array, number : type
        The classes of what stands for them.
    """

    def __init__(self, values, array, number):
        self._array, self._number = array, number
        self._is_open = True
        self.given = tuple(values)
        self.steps = []
        self.computed = []  # (function, slots) of the values behind the arguments
        self.conditions = {}
        self._known = {}
        self._values = list(values)

    def close(self):
        """Nothing is recorded any more."""
        self._is_open, self.given, self._values = False, (), []

    def result(self, symbol):
        """Where a result comes from. An argument that is returned as it is becomes a copy."""
        place = self._operand(symbol, symbol.dtype, False)
        if not isinstance(place, Argument):
            return place
        self.steps.append(Step("copy", (place,), (place.dtype,), (place.dtype,)))
        return Result(len(self.steps) - 1, 0, place.dtype)

    def argument(self, slot):
        """The stand-in for an array or a number among the arguments."""
        value = self._values[slot]
        if isinstance(value, GPUArray):
            return self._array(self, Argument(slot, value.dtype, True), value.dtype)
        return self._number(self, slot, value)

    def compute(self, function, *operands):
        """What a function gives for numbers: a Number, or a tuple of them."""
        self._require_open()
        for one in operands:
            if isinstance(one, Number) and one._trace is not self:
                raise refused("a number of another function that is traced")
        slots = tuple([self._slot(one) for one in operands])
        value = function(*[self._values[slot] for slot in slots])
        if isinstance(value, tuple):
            whole = self._number(self, self._append(function, slots, value), value)
            parts = [operator.itemgetter(k) for k in range(len(value))]
            return tuple([self.compute(part, whole) for part in parts])
        if not isinstance(value, (int, float, complex, np.generic)):
            raise refused(f"expected a number, got {type(value).__name__}: compute it before")
        return self._number(self, self._append(function, slots, value), value)

    def _append(self, function, slots, value):
        self._values.append(value)
        self.computed.append((function, slots))
        slot = len(self._values) - 1
        self.require(slot, type, type(value))
        return slot

    def _slot(self, operand):
        if isinstance(operand, Number):
            return operand._slot
        if isinstance(operand, GPUArray):
            raise foreign(operand)
        return self._append(partial(itself, operand), (), operand)

    def require(self, slot, function, expected):
        """Hold only for calls whose value gives what this one's does."""
        self.conditions.setdefault(
            (slot, function, repr(expected)), Condition(slot, function, expected)
        )

    def _require_open(self):
        if not self._is_open:
            raise refused("used after the function that it belongs to was traced")

    def _operand(self, operand, dtype, as_number):
        """An operand of a step, as a dtype."""
        if isinstance(operand, Traced):
            if operand._trace is not self:
                raise refused("an array of another function that is traced: pass it as an argument")
            return operand._place
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

    def record(self, name, operands, compute, results):
        """The stand-in for what an operation gives, or a tuple of them."""
        self._require_open()
        if not any(isinstance(one, Traced) for one in operands):
            raise refused(f"{name} of numbers alone: NumPy and Python have such functions")
        for one in operands:
            if isinstance(one, Number) and type(one.now) is int:
                self._require_held(one, operands)
        if name == "power" and not isinstance(operands[1], GPUArray):
            simple = self._power(operands[1], compute)
            if simple:
                name, operands, compute = simple, operands[:1], compute[:1]
        as_numbers = name in ("power", "float_power")  # compilers know better about some constants
        operands = tuple(
            [self._operand(one, dtype, as_numbers) for one, dtype in zip(operands, compute)]
        )
        step = Step(name, operands, tuple(compute), tuple(results))
        number = self._known.setdefault(step, len(self.steps))
        if number == len(self.steps):
            self.steps.append(step)
            if number == MOST_STEPS:
                raise refused(f"more than {MOST_STEPS} operations: fuse the function in parts")
        made = [
            self._array(self, Result(number, k, dtype), dtype) for k, dtype in enumerate(results)
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def _require_held(self, number, operands):
        """NumPy's types depend on the value of an integer that meets integers."""
        met = [d for d in map(_dtype_of, operands) if d is not None and d.kind in "biu"]
        if not met:
            return
        limits = [(0, 1) if d == _BOOL else (np.iinfo(d).min, np.iinfo(d).max) for d in met]
        held = range(max(low for low, _ in limits), min(high for _, high in limits) + 1)
        if core._takes_types_from_values or number.now not in held:
            self.require(number._slot, itself, number.now)
        else:
            self.require(number._slot, held.__contains__, True)

    def _power(self, exponent, compute):
        is_number = isinstance(exponent, Number)
        value = _plain(exponent.now if is_number else exponent)
        checks = [partial(_simple_power, kind=compute[0].kind)]
        if compute[1].kind == "i":
            checks.append(_is_negative)
        simple, *negative = [check(value) for check in checks]
        if is_number:
            for check, expected in zip(checks, (simple, *negative)):
                self.require(exponent._slot, check, expected)
        if simple is None and any(negative):
            raise ValueError(
                f"power: integers to negative integer powers are not allowed, got {value}"
            )
        return simple


def _dtype_of(operand):
    """An operand's dtype; None for Python's numbers, which are weak."""
    value = operand.now if isinstance(operand, Number) else operand
    return value.dtype if isinstance(value, (GPUArray, np.generic, np.ndarray)) else None


def foreign(array):
    """The TraceError for an array that is not an argument."""
    return refused(
        f"an array of shape {array.shape} that is no argument: its elements of today would be used "
        "at all calls; pass it as an argument"
    )


def traced(operands):
    """The trace that the operands belong to, or None."""
    for one in operands:
        if isinstance(one, (Traced, Number)):
            return one._trace
    return None


def record(name, operands, compute, results, **refused_settings):
    """The stand-in for what an operation gives."""
    for setting, value in refused_settings.items():
        if value is not None:
            raise refused(f"{setting}= is an argument of the fused function, not of those inside")
    return traced(operands).record(name, operands, compute, results)


def require_values(operands):
    """Hold only for calls with these numbers."""
    for one in operands:
        if isinstance(one, Number):
            one._trace.require(one._slot, itself, one.now)


def computed(function, *operands):
    """A function of numbers: now, or, where one is a Number, at each call."""
    for one in operands:
        if isinstance(one, Number):
            return one._trace.compute(function, *operands)
    return function(*operands)
