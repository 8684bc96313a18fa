"""Functions of arrays as one kernel: :func:`fuse`.

A function is traced once for each combination of its arguments' kinds. What it does with arrays
becomes an operation as those of GPUArray are, by its text: functions that do the same share it.
"""

import functools
import hashlib
import inspect
import operator
import sys
import types
import weakref

import numpy as np

from PyGPU._arrays.functions import checked_out, kind_of
from PyGPU._arrays.symbols import Symbol
from PyGPU._arrays.tracing import (
    Argument,
    Number,
    Result,
    Trace,
    at_the_line,
    located,
    refused,
)
from PyGPU._kernels import fused
from PyGPU._runtime import core, errors

__all__ = ["fuse"]

GPUArray, _run_fused = core.GPUArray, core._run_fused
_MOST_OPERANDS, _MOST_RESULTS = 8, 4
_DTYPES = frozenset(map(np.dtype, core.SUPPORTED_DTYPES))
_NUMBERS = frozenset((int, float, complex, *(dtype.type for dtype in _DTYPES)))


class _Kernel:
    """An operation that gives some of a trace's results.

    Parameters
    ----------
    trace : Trace
    results : list of Result
    """

    def __init__(self, trace, results):
        arguments, inside = _reached(trace, results)
        self.arrays = {one.slot for one in arguments if one.is_array}
        self.count = len(arguments)
        self.operation = None
        slots = [one.slot for one in arguments]
        self.pick = operator.itemgetter(*(slots if len(slots) > 1 else [_only(*slots)]))
        if self.count <= _MOST_OPERANDS:
            self.operation = _operation(trace, arguments, inside, results)

    def __call__(self, values, out, stream):
        return _run_fused(self.operation, self.pick(values), out, stream)


def _only(slot):
    """What gives a tuple of one, from a tuple."""
    return slice(slot, slot + 1)


def _reached(trace, results):
    """The arguments that results depend on, the first operands' first, and the steps."""
    arguments, inside, left = {}, set(), list(reversed(results))
    while left:
        one = left.pop()
        if isinstance(one, Argument):
            arguments.setdefault(one)
        elif isinstance(one, Result) and one.step not in inside:
            inside.add(one.step)
            left += reversed(trace.steps[one.step].operands)
    return list(arguments), sorted(inside)


def _operation(trace, arguments, inside, results):
    """The number of the operation that has the text of these steps."""
    places = {one: k for k, one in enumerate(arguments)}
    texts = {one: fused.Value(f"in{k}", one.dtype) for one, k in places.items()}
    needed = {*results, *(one for k in inside for one in trace.steps[k].operands)}
    steps, layouts = [], []
    for k in inside:
        name, operands, compute, dtypes = trace.steps[k]
        mine = [Result(k, number, dtype) for number, dtype in enumerate(dtypes)]
        own = [(one if one in needed else None) for one in mine]
        joined = [places[one] for one in operands if not _is_number(one)]
        for one in filter(None, own):
            places[one] = _MOST_OPERANDS + len(layouts)
            texts[one] = fused.Value(f"v{len(texts)}", one.dtype)
        layouts.append(tuple(joined))
        values = tuple([texts.get(one, one) for one in operands])
        steps.append(fused.Step(name, values, compute, tuple([texts.get(one) for one in own])))
    body = fused.Body(tuple(steps), tuple([texts[one] for one in results]))
    compute = tuple([one.dtype for one in arguments])
    content = body, compute, [one.is_array for one in arguments]
    name = f"fused_{hashlib.sha256(repr(content).encode()).hexdigest()[:20]}"
    fused.BODIES[name] = body
    return core._fused_operation(
        name,
        compute,
        tuple([one.dtype for one in results]),
        tuple(layouts),
        tuple([places[one] for one in results]),
    )


def _is_number(operand):
    return isinstance(operand, fused.Value) or (
        isinstance(operand, Argument) and not operand.is_array
    )


class _Program:
    """What is done at a call: the host's sums of numbers, and one kernel or several."""

    def __init__(self, trace, results, form):
        self._computed, self._conditions = trace.computed, list(trace.conditions.values())
        self._form, self.dtypes = form, [one.dtype for one in results]
        self._whole = _Kernel(trace, results)
        # Results of other shapes than others', which depend on other arrays, are other launches.
        self._parts = []
        if len(results) > 1:
            of = {one: frozenset(_Kernel(trace, [one]).arrays) for one in results}
            if len(set(of.values())) > 1:
                for arrays in dict.fromkeys(of[one] for one in results):
                    at = [k for k, one in enumerate(results) if of[one] == arrays]
                    self._parts.append((_Kernel(trace, [results[k] for k in at]), at))
        self.is_plain = not (self._parts or self._computed or self._conditions)
        self.is_one = self.is_plain and form is None
        self.operation, self.pick = self._whole.operation, self._whole.pick
        kernels = [part for part, _ in self._parts] or [self._whole]
        self.most_operands = max(one.count for one in kernels)

    def values(self, given):
        """The values of a call, and those that the host computes; None where the conditions of this
        program do not hold."""
        values = list(given)
        for function, slots in self._computed:
            values.append(function(*[values[slot] for slot in slots]))
        for slot, function, expected in self._conditions:
            if function(values[slot]) != expected:
                return None
        return tuple(values)

    def __call__(self, values, out, stream):
        whole = self._whole
        if out is not None:
            out = self._checked(out)
        if self._parts and (whole.operation is None or _differ(values, whole.arrays)):
            made = [None] * len(self.dtypes)
            for kernel, at in self._parts:
                given = None if out is None else tuple([out[k] for k in at])
                some = kernel(values, given, stream)
                for k, one in zip(at, some if len(at) > 1 else (some,)):
                    made[k] = one
            return self._form(made)
        made = whole(values, out, stream)
        return made if self._form is None else self._form(made if len(self.dtypes) > 1 else (made,))

    def _checked(self, out):
        given = (out,) if self._form is None else out
        count = len(self.dtypes)
        if not isinstance(given, (tuple, list)) or len(given) != count:
            raise TypeError(f"out: expected {count} arrays or None, in a tuple, got {out!r}")
        return tuple(
            [
                None if one is None else checked_out(one, dtype, "same_kind")
                for one, dtype in zip(given, self.dtypes)
            ]
        )


def _differ(values, slots):
    return len({values[slot].shape for slot in slots}) > 1


class _Recent:
    """What was used last, by keys: at least the last `count`, at most twice as many."""

    def __init__(self, count):
        self._count, self._new, self._old = count, {}, {}

    def __len__(self):
        return len({**self._new, **self._old})

    def get(self, key):
        found = self._new.get(key)
        if found is None and key in self._old:
            found = self._old[key]
            self.put(key, found)
        return found

    def put(self, key, value):
        if len(self._new) >= self._count:
            self._new, self._old = {}, self._new
        self._new[key] = value


class Fused:
    """A function as one kernel. See :func:`fuse`."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._programs = _Recent(128)

    def __call__(self, /, *args, out=None, stream=None, **kwargs):
        kinds = []
        given = (*args, *kwargs.values()) if kwargs else args
        for one in given:
            kind = type(one)
            if kind is GPUArray:
                kinds.append(one.dtype)
            elif kind in _NUMBERS:
                kinds.append(kind)
            elif kind is Symbol or kind is Number:
                return self._inside(args, kwargs, out, stream)
            else:
                kinds.append(_kind(one))
        if kwargs:
            kinds.append((len(args), *kwargs))
        key = tuple(kinds)
        program = self._programs.get(key)
        if program is not None and program.is_plain:
            if program.is_one and out is None:  # the same, sooner
                return _run_fused(program.operation, program.pick(given), None, stream)
            return program(given, out, stream)
        values = None if program is None else program.values(given)
        if program is not None and values is None:  # the next one is for these numbers alone
            key = (key, *map(_value, given))
            program = self._programs.get(key)
            values = None if program is None else program.values(given)
        if values is None:
            program = self._traced(args, kwargs)
            self._programs.put(key, program)
            values = program.values(given)
        return program(values, out, stream)

    def _inside(self, args, kwargs, out, stream):
        """In a function that is traced itself."""
        if out is not None or stream is not None:
            raise refused("out= and stream= are arguments of the outer function")
        return self.__wrapped__(*args, **kwargs)

    def _traced(self, args, kwargs):
        trace = Trace((*args, *kwargs.values()))
        symbols = [_symbol(trace, slot, one) for slot, one in enumerate(trace.given)]
        named = dict(zip(kwargs, symbols[len(args) :]))
        try:
            answer = self.__wrapped__(*symbols[: len(args)], **named)
        except TypeError as error:
            told = at_the_line(error) if type(error) is TypeError else None
            if told is None:
                raise
            raise told from error
        finally:
            trace.close()
        is_several = type(answer) in (tuple, list)
        results = [self._result(trace, one) for one in (answer if is_several else (answer,))]
        if not 0 < len(results) <= _MOST_RESULTS:
            raise self._wrong(f"{len(results)} results: expected 1 to {_MOST_RESULTS}")
        program = _Program(trace, results, type(answer) if is_several else None)
        if program.most_operands > _MOST_OPERANDS:
            raise self._wrong(
                f"{program.most_operands} arrays and numbers: a kernel takes {_MOST_OPERANDS}; "
                "fuse the function in parts"
            )
        return program

    def _result(self, trace, answer):
        if isinstance(answer, Symbol):
            return trace.result(answer)
        if isinstance(answer, GPUArray):
            raise self._wrong("a result is an array that is no argument: it would never change")
        if isinstance(answer, Number) or type(answer) in _NUMBERS:
            raise self._wrong("a result depends on no array: compute it without the function")
        raise self._wrong(
            f"expected an array, or a tuple of up to {_MOST_RESULTS}, as the result, got {answer!r}"
        )

    def _wrong(self, text):
        """The TraceError for the whole function."""
        code = getattr(inspect.unwrap(self), "__code__", None)
        return located(text, code, code.co_firstlineno) if code else errors.TraceError(text)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"PyGPU.fuse({self.__wrapped__!r})"

    def __reduce__(self):
        name = getattr(self, "__qualname__", "")
        try:
            found = operator.attrgetter(name)(sys.modules[self.__module__])
        except (AttributeError, KeyError):
            found = None
        return name if found is self else (fuse, (self.__wrapped__,))


def _kind(argument):
    """The kind of an argument: what a trace depends on. A value where that is not traced."""
    if isinstance(argument, GPUArray):
        return argument.dtype
    if isinstance(argument, np.ndarray):
        return np.ndarray, kind_of(argument)  # TypeError unless it is without axes
    return _static(argument)


def _value(argument):
    """A number as part of a key."""
    if type(argument) is int:
        return argument
    is_number = type(argument) in _NUMBERS or isinstance(argument, np.ndarray)
    return repr(argument) if is_number else None


def _static(value):
    """A key for a value: 1, 1.0 and True are different ones."""
    if type(value) is tuple:
        return (tuple, *map(_static, value))
    if isinstance(value, (float, complex)):
        return type(value), repr(value)  # -0.0 is not 0.0
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"expected arrays, numbers and values that can be hashed, got {value!r}"
        ) from None
    try:
        return type(value), weakref.ref(value)  # or it would live as long as the trace
    except TypeError:
        return type(value), value


def _symbol(trace, slot, argument):
    """What the function is called with."""
    if isinstance(argument, GPUArray):
        return trace.array(slot, Symbol)
    if type(argument) in _NUMBERS or isinstance(argument, np.ndarray):
        return trace.number(slot)
    return argument


def fuse(function):
    """Make one kernel of a function of arrays, element by element; a decorator, too.

    The function is called once for each combination of its arguments' kinds, with what stands for
    them: its operators, and NumPy's and PyGPU's functions, are written down. Its results are those
    of the function itself, to the last bit: values, dtypes, shapes, orders of axes.

    Parameters
    ----------
    function : callable
        Of arrays and numbers, which may change from call to call; of any other values that can be
        hashed, each of which is traced for itself. What it reads elsewhere, it reads when it is
        traced. It gives an array, or a tuple or list of up to four. A kernel takes up to eight
        arrays and numbers.

    Returns
    -------
    callable
        With two arguments more: `out`, for the results, an array or a tuple of arrays and None,
        and `stream`. Results of different shapes are computed by a kernel each.

    Raises
    ------
    TraceError
        At a call, with the line: for what is no function of single elements, and what depends on
        the values of elements (``if a > 0``).
    TypeError
        For what is not callable, or has parameters `out` or `stream` itself.
    """
    if not callable(function):
        raise TypeError(f"function: expected a callable, got {function!r}")
    try:
        own = {"out", "stream"} & set(inspect.signature(function).parameters)
    except ValueError:  # of C, and told by nobody
        own = set()
    if own and not isinstance(function, np.ufunc):
        raise TypeError(
            f"function: {function!r} has parameters {sorted(own)}, which the fused function has"
        )
    return Fused(function)
