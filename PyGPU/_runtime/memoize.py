"""Memoized functions, whose results are cached for each device."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import docstrings
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R

#: The functions that context_dependent_memoize has wrapped.
context_dependent_memoized_functions: list[Any] = []


def context_dependent_memoize(func: Callable[P, R]) -> Callable[P, R]:
    """Cache a function's results for each device, until the device is reset.

    :param func: Function with hashable arguments.
    :returns: The memoized function.

    >>> from PyGPU.tools import context_dependent_memoize
    >>> @context_dependent_memoize
    ... def square(n):
    ...     print("computing")
    ...     return n * n
    >>> square(3), square(3)
    computing
    (9, 9)
    """
    results: dict[Any, R] = {}

    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (core._current_device_key(), args, frozenset(kwargs.items()))
        try:
            return results[key]
        except KeyError:
            value = results[key] = func(*args, **kwargs)
            return value

    wrapper._results = results  # type: ignore[attr-defined]
    context_dependent_memoized_functions.append(wrapper)
    return update_wrapper(wrapper, func)


def clear_context_caches() -> None:
    """Clear the caches of all functions that context_dependent_memoize wraps.

    >>> from PyGPU.tools import clear_context_caches
    >>> clear_context_caches()
    """
    for function in context_dependent_memoized_functions:
        function._results.clear()


docstrings.complete(__name__)
