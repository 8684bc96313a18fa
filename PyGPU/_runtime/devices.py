"""Devices and streams: the order of work, functions on an array's device, caches of devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import P, R, StreamLike


@functools.cache
def are_several() -> bool:
    """Report whether there is more than one device."""
    return errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount") > 1


def on_device_of_first(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to run on the device of its first argument.

    If the argument is a list or tuple, its first item determines the device. The current device is
    restored when the function returns.
    """
    name = function.__code__.co_varnames[0]

    @functools.wraps(function)
    def run_on_device(*args: P.args, **kwargs: P.kwargs) -> R:
        if not are_several():
            return function(*args, **kwargs)
        first = args[0] if args else kwargs.get(name)
        array = next(iter(first), None) if isinstance(first, (list, tuple)) else first
        # The device of an array without elements is None.
        device = array.device if isinstance(array, core.GPUArray) else None
        if device is None:
            return function(*args, **kwargs)
        with core.device(device):
            return function(*args, **kwargs)

    return run_on_device


#: The functions that context_dependent_memoize has wrapped.
context_dependent_memoized_functions: list[Any] = []


def context_dependent_memoize(func: Callable[P, R]) -> Callable[P, R]:
    """Cache a function's results for each device, until the device is reset.

    Parameters
    ----------
    func : callable
        Function with hashable arguments.

    Returns
    -------
    callable
        The memoized function.

    Examples
    --------
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

    Examples
    --------
    >>> from PyGPU.tools import clear_context_caches
    >>> clear_context_caches()
    """
    for function in context_dependent_memoized_functions:
        function._results.clear()


def in_order(stream: StreamLike, arrays: Iterable[core.GPUArray], work: Callable[[], R]) -> R:
    """Call `work`, which enqueues on a stream work that uses the memory of arrays.

    The stream waits for the allocation of the memory, and the memory is not reused before the work
    is done. The null stream (None) needs neither, unless a capture redirects it.
    """
    is_null = stream is None and not core._is_capturing()
    return work() if is_null else core._in_order(stream, tuple(arrays), work)


def record_event(stream: StreamLike) -> core.cudaEvent_t:
    """Return an event after the work that is on the stream now."""
    event = core.cudaEvent_t(core.cudaEventDisableTiming)
    errors.check(event.last_status(), "cudaEventCreate")
    errors.check(core.cudaEventRecord(event, stream), "cudaEventRecord")
    return event


def order_after(later: StreamLike, earlier: StreamLike) -> None:
    """Make later work on the stream `later` wait for the work that is on `earlier` now."""
    errors.check(core.cudaStreamWaitEvent(later, record_event(earlier)), "cudaStreamWaitEvent")
