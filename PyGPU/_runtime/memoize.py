"""Results of functions, kept for each device."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R

#: The functions that context_dependent_memoize has wrapped.
context_dependent_memoized_functions: list[Any] = []


def context_dependent_memoize(func: Callable[P, R]) -> Callable[P, R]:
    """Keep a function's results for each device, until it is reset. The arguments must be
    hashable."""
    results: dict[Any, R] = {}

    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (core._here(), args, frozenset(kwargs.items()))
        try:
            return results[key]
        except KeyError:
            value = results[key] = func(*args, **kwargs)
            return value

    wrapper._results = results  # type: ignore[attr-defined]
    context_dependent_memoized_functions.append(wrapper)
    return update_wrapper(wrapper, func)


def clear_context_caches() -> None:
    """Forget what context_dependent_memoize has kept."""
    for function in context_dependent_memoized_functions:
        function._results.clear()
