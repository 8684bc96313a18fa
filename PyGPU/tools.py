"""The names of ``pycuda.tools``: default context, memoization, occupancy, C types, memory pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import update_wrapper
from typing import TYPE_CHECKING

from PyGPU._driver.context import Context
from PyGPU._driver.device import Device, chosen_device, init, make_default_context
from PyGPU._driver.occupancy import DeviceData, OccupancyRecord
from PyGPU._driver.pools import (
    DebugMemoryPool,
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
    bitlog2,
)
from PyGPU._kernels.types import (
    Argument,
    ScalarArg,
    VectorArg,
    base_dtype_to_ctype,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from PyGPU._runtime import docstrings, warn
from PyGPU._runtime.devices import (
    clear_context_caches,
    context_dependent_memoize,
    context_dependent_memoized_functions,
)

if TYPE_CHECKING:
    from PyGPU._types import P, R

__all__ = [
    "Argument",
    "DebugMemoryPool",
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
    "ScalarArg",
    "VectorArg",
    "base_dtype_to_ctype",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]


def get_default_device(default: int = 0) -> Device:
    """Return the default device. Deprecated: use make_default_context.

    :param default: Ordinal to use if neither the environment nor a file sets one.
    :returns: The default device.

    >>> import warnings
    >>> from PyGPU.tools import get_default_device
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DeprecationWarning)
    ...     int(get_default_device())
    0
    """
    warn("get_default_device is deprecated: use make_default_context", DeprecationWarning)
    chosen = chosen_device()
    return Device(default if chosen is None else chosen)


def init_cuda_context_fixture() -> Iterator[Context]:
    """Yield a default context, and pop it after the test. Body of a pytest fixture.

    Yields
    ------
    Context
        The context, which is current in this thread.

    Examples
    --------
    >>> from PyGPU.tools import init_cuda_context_fixture
    >>> fixture = init_cuda_context_fixture()
    >>> context = next(fixture)
    >>> fixture.close()
    """
    init()
    context = make_default_context()
    try:
        yield context
    finally:
        context.pop()
        clear_context_caches()


def mark_cuda_test(inner: Callable[P, R]) -> Callable[P, R]:
    """Decorate a test function: each call runs in a default context made for the call.

    :param inner: Test function.
    :returns: The decorated function.

    >>> from PyGPU.tools import mark_cuda_test
    >>> @mark_cuda_test
    ... def check():
    ...     return int(drv.Context.get_device())
    >>> check()
    0
    """

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        fixture = init_cuda_context_fixture()
        next(fixture)
        try:
            return inner(*args, **kwargs)
        finally:
            for _ in fixture:
                pass

    return update_wrapper(run, inner)


docstrings.complete(__name__)
