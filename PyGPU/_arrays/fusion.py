"""Compiling a function of arrays into one kernel: :func:`fuse`.

A function is traced once for each combination of its arguments' types. Its work on arrays becomes
an operation like GPUArray's own, identified by its text: functions that do the same share it.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
import weakref
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays.functions import kind_of
from PyGPU._arrays.programs import MAX_OPERANDS, MAX_RESULTS, Program
from PyGPU._arrays.symbols import Scalar, Symbol
from PyGPU._arrays.traces import Result, Trace
from PyGPU._arrays.tracing import error_at_current_line, error_at_line, error_at_users_line
from PyGPU._runtime import core, docstrings, errors

if TYPE_CHECKING:
    from PyGPU._types import StreamLike

__all__ = ["fuse"]

GPUArray, _run_fused = core.GPUArray, core._run_fused
_DTYPES = frozenset(map(np.dtype, core.SUPPORTED_DTYPES))
_NUMBERS = frozenset((int, float, complex, *(dtype.type for dtype in _DTYPES)))


class _RecentlyUsed:
    """A cache of recently used values by key: at least the last `count`, at most twice as many."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._new: dict[Hashable, Program] = {}
        self._old: dict[Hashable, Program] = {}

    def __len__(self) -> int:
        return len({**self._new, **self._old})

    def get(self, key: Hashable) -> Program | None:
        found = self._new.get(key)
        if found is None and key in self._old:
            found = self._old[key]
            self.put(key, found)
        return found

    def put(self, key: Hashable, value: Program) -> None:
        if len(self._new) >= self._count:
            self._new, self._old = {}, self._new
        self._new[key] = value


class Fused:
    """A function that runs as one kernel. See :func:`fuse`."""

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._programs = _RecentlyUsed(128)

    def __call__(
        self, /, *args: Any, out: Any = None, stream: StreamLike = None, **kwargs: Any
    ) -> Any:
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
        elif program.is_one and out is None:  # a shortcut for the lines below
            return _run_fused(program.operation, program.pick(given), None, stream)
        values = program.values(given)
        if not program.holds(values):
            key = (key, *map(_value, given))  # for these numbers alone
            program = self._programs.get(key)
            if program is None or not program.holds(program.values(given)):
                program = self._traced(key, args, kwargs)
            values = program.values(given)
        return program(values, out, stream)

    def _inside(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, stream: StreamLike
    ) -> Any:
        """Call the function as a part of another function that is being traced."""
        if out is not None or stream is not None:
            raise error_at_current_line("out= and stream= are arguments of the outer function")
        return self.__wrapped__(*args, **kwargs)

    def _traced(self, key: Hashable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
        """Trace the function for arguments of these types, and cache the program."""
        trace = Trace((*args, *kwargs.values()), Symbol, Scalar)
        symbols = [
            trace.argument(slot) if _is_traced(one) else one for slot, one in enumerate(trace.given)
        ]
        named = dict(zip(kwargs, symbols[len(args) :]))
        try:
            answer = self.__wrapped__(*symbols[: len(args)], **named)
        except (TypeError, AttributeError) as error:
            # Errors name the object without the attribute from Python 3.10 on.
            is_ours = type(error) is TypeError or isinstance(getattr(error, "obj", None), Symbol)
            trace_error = error_at_users_line(error) if is_ours else None
            if trace_error is None:
                raise
            raise trace_error from error
        finally:
            trace.close()
        is_several = type(answer) in (tuple, list)
        results = [self._result(trace, one) for one in (answer if is_several else (answer,))]
        if not 0 < len(results) <= MAX_RESULTS:
            raise self._wrong(f"{len(results)} results: expected 1 to {MAX_RESULTS}")
        program = Program(trace, results, type(answer) if is_several else None)
        if program.max_operands > MAX_OPERANDS:
            raise self._wrong(
                f"{program.max_operands} arrays and numbers: a kernel takes {MAX_OPERANDS}; "
                "fuse the function in parts"
            )
        self._programs.put(key, program)
        return program

    def _result(self, trace: Trace, answer: object) -> Result:
        if isinstance(answer, Symbol):
            return trace.result(answer)
        if isinstance(answer, GPUArray):
            raise self._wrong(
                "a result is an array that is not an argument, so it would never change"
            )
        if isinstance(answer, Scalar) or type(answer) in _NUMBERS:
            raise self._wrong("a result depends on no array: compute it outside of the function")
        raise self._wrong(
            f"expected an array, or a tuple of up to {MAX_RESULTS}, as the result, got {answer!r}"
        )

    def _wrong(self, text: str) -> errors.TraceError:
        """Make the TraceError for the whole function."""
        code = getattr(inspect.unwrap(self), "__code__", None)
        return error_at_line(text, code, code.co_firstlineno) if code else errors.TraceError(text)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"PyGPU.fuse({self.__wrapped__!r})"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        try:
            found = operator.attrgetter(name)(sys.modules[self.__module__])
        except (AttributeError, KeyError):
            found = None
        return name if found is self else (fuse, (self.__wrapped__,))


def _kind(argument: object) -> Hashable:
    """Return the key of an argument: its type, or the value of an argument that is not traced."""
    if isinstance(argument, GPUArray):
        return argument.dtype
    if isinstance(argument, np.ndarray):
        return np.ndarray, kind_of(argument)  # raises TypeError if it has axes
    return _value_key(argument)


def _value(argument: object) -> int | str | None:
    """Return a number as part of a key."""
    if type(argument) is int:
        return argument
    is_number = type(argument) in _NUMBERS or isinstance(argument, np.ndarray)
    return repr(argument) if is_number else None


def _value_key(value: object) -> Hashable:
    """Return the key of a value; 1, 1.0 and True have different keys."""
    if type(value) is tuple:
        return (tuple, *map(_value_key, value))
    if isinstance(value, (float, complex)):
        return type(value), repr(value)  # tells -0.0 from 0.0
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"expected arrays, numbers and values that can be hashed, got {value!r}"
        ) from None
    try:
        return type(value), weakref.ref(value)  # the cache must not keep the value alive
    except TypeError:
        return type(value), value


def _is_traced(argument: object) -> bool:
    """Test whether the argument is traced. Other arguments are passed to the function unchanged."""
    return isinstance(argument, (GPUArray, np.ndarray)) or type(argument) in _NUMBERS


def fuse(function: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Compile an element-wise function of arrays into one kernel.

    The function is called once for each combination of its arguments' types, with objects that
    record its operators and calls of NumPy's and PyGPU's functions. The fused function returns the
    same values to the last bit, and the same dtypes, shapes and orders of axes.

    :param callable function: Function of at most eight arrays and numbers that returns an array, or
        a tuple or list of up to four. Numbers may change from call to call. Other arguments must be
        hashable; each value of theirs is traced separately. Global variables are read once, when
        the function is traced.
    :returns callable: The fused function. It has two more parameters: `out`, an array for the
        result (or a tuple of arrays and None), and `stream`. Results of different shapes need a
        kernel each.
    :raises TraceError: At a call, with the line: an operation is not element-wise, or depends on
        the value of an element (``if a > 0``).
    :raises TypeError: `function` is not callable, or has itself a parameter `out` or `stream`.

    >>> from PyGPU import gpuarray
    >>> @gpuarray.fuse
    ... def scaled_root(a, factor):
    ...     return np.sqrt(a) * factor + 1
    >>> scaled_root(gpuarray.to_gpu(np.array([1.0, 4.0, 9.0])), 10)
    array([11., 21., 31.])
    """
    if function is None:  # @fuse()
        return fuse
    if not callable(function):
        raise TypeError(f"function: expected a callable, got {function!r}")
    try:
        own = {"out", "stream"} & set(inspect.signature(function).parameters)
    except ValueError:  # a function of C without a signature
        own = set()
    if own and not isinstance(function, np.ufunc):
        raise TypeError(
            f"function: {function!r} has parameters {sorted(own)}, which the fused function adds"
        )
    return Fused(function)


docstrings.complete(__name__)
