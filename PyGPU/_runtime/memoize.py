"""Results of functions, kept for each device."""

from functools import update_wrapper

from PyGPU._runtime.targets import core

#: The functions that context_dependent_memoize has wrapped.
context_dependent_memoized_functions = []


def context_dependent_memoize(func):
    """Keep a function's results for each device, until it is reset. The arguments must be
    hashable."""
    results = {}

    def wrapper(*args, **kwargs):
        key = (core._here(), args, frozenset(kwargs.items()))
        try:
            return results[key]
        except KeyError:
            value = results[key] = func(*args, **kwargs)
            return value

    wrapper._results = results
    context_dependent_memoized_functions.append(wrapper)
    return update_wrapper(wrapper, func)


def clear_context_caches():
    """Forget what context_dependent_memoize has kept."""
    for function in context_dependent_memoized_functions:
        function._results.clear()
