"""Functions of arrays as one kernel: :func:`fuse`.

A function is traced once for each combination of its arguments' kinds. What it does with arrays
becomes an operation as those of GPUArray are, by its text: functions that do the same share it.
"""

import functools
import inspect
import operator
import sys
import types
import weakref

import numpy as np

from PyGPU._arrays.functions import kind_of
from PyGPU._arrays.programs import MOST_OPERANDS, MOST_RESULTS, Program
from PyGPU._arrays.symbols import Scalar, Symbol
from PyGPU._arrays.tracing import Trace, at_the_line, located, refused
from PyGPU._runtime import core, errors

__all__ = ["fuse"]

GPUArray, _run_fused = core.GPUArray, core._run_fused
_DTYPES = frozenset(map(np.dtype, core.SUPPORTED_DTYPES))
_NUMBERS = frozenset((int, float, complex, *(dtype.type for dtype in _DTYPES)))


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
            elif kind is Symbol or kind is Scalar:
                return self._inside(args, kwargs, out, stream)
            else:
                kinds.append(_kind(one))
        if kwargs:
            kinds.append((len(args), *kwargs))
        key = tuple(kinds)
        program = self._programs.get(key)
        if program is None:
            program = self._traced(key, args, kwargs)
        elif program.is_one and out is None:  # the same as below, sooner
            return _run_fused(program.operation, program.pick(given), None, stream)
        values = program.values(given)
        if not program.holds(values):
            key = (key, *map(_value, given))  # for these numbers alone
            program = self._programs.get(key)
            if program is None or not program.holds(program.values(given)):
                program = self._traced(key, args, kwargs)
            values = program.values(given)
        return program(values, out, stream)

    def _inside(self, args, kwargs, out, stream):
        """In a function that is traced itself."""
        if out is not None or stream is not None:
            raise refused("out= and stream= are arguments of the outer function")
        return self.__wrapped__(*args, **kwargs)

    def _traced(self, key, args, kwargs):
        """The program for arguments of these kinds, which is kept."""
        trace = Trace((*args, *kwargs.values()), Symbol, Scalar)
        symbols = [
            trace.argument(slot) if _is_traced(one) else one for slot, one in enumerate(trace.given)
        ]
        named = dict(zip(kwargs, symbols[len(args) :]))
        try:
            answer = self.__wrapped__(*symbols[: len(args)], **named)
        except (TypeError, AttributeError) as error:
            # What has no attribute, Python tells from 3.10 on.
            is_ours = type(error) is TypeError or isinstance(getattr(error, "obj", None), Symbol)
            located = at_the_line(error) if is_ours else None
            if located is None:
                raise
            raise located from error
        finally:
            trace.close()
        is_several = type(answer) in (tuple, list)
        results = [self._result(trace, one) for one in (answer if is_several else (answer,))]
        if not 0 < len(results) <= MOST_RESULTS:
            raise self._wrong(f"{len(results)} results: expected 1 to {MOST_RESULTS}")
        program = Program(trace, results, type(answer) if is_several else None)
        if program.most_operands > MOST_OPERANDS:
            raise self._wrong(
                f"{program.most_operands} arrays and numbers: a kernel takes {MOST_OPERANDS}; "
                "fuse the function in parts"
            )
        self._programs.put(key, program)
        return program

    def _result(self, trace, answer):
        if isinstance(answer, Symbol):
            return trace.result(answer)
        if isinstance(answer, GPUArray):
            raise self._wrong("a result is an array that is no argument: it would never change")
        if isinstance(answer, Scalar) or type(answer) in _NUMBERS:
            raise self._wrong("a result depends on no array: compute it without the function")
        raise self._wrong(
            f"expected an array, or a tuple of up to {MOST_RESULTS}, as the result, got {answer!r}"
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


def _is_traced(argument):
    """Does something stand for it? Other values go to the function as they are."""
    return isinstance(argument, (GPUArray, np.ndarray)) or type(argument) in _NUMBERS


def fuse(function=None):
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
    if function is None:  # @fuse()
        return fuse
    if not callable(function):
        raise TypeError(f"function: expected a callable, got {function!r}")
    try:
        own = {"out", "stream"} & set(inspect.signature(function).parameters)
    except ValueError:  # of C, and reported by nobody
        own = set()
    if own and not isinstance(function, np.ufunc):
        raise TypeError(
            f"function: {function!r} has parameters {sorted(own)}, which the fused function has"
        )
    return Fused(function)
