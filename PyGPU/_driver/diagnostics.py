"""Diagnostics of a program: named ranges of profilers, the timer of a block, counts of memory."""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from PyGPU._compile.compilers import libraries
from PyGPU._driver import pools
from PyGPU._driver.device import Device
from PyGPU._driver.stream import Event
from PyGPU._runtime import CompilerMissing, capabilities, core, docstrings, encoded, errors, state

if TYPE_CHECKING:
    from PyGPU._types import Int, P, R, StreamLike

__all__ = [
    "MemoryStats",
    "annotate",
    "memory_stats",
    "timer",
]


class _Interface(NamedTuple):
    """A profiler's library of ranges."""

    compiler: str  # run-time compiler of the same vendor
    files: tuple[tuple[str, int], ...]  # names of the library and their versions, the best first
    prefix: str  # of its functions


_INTERFACES = {
    "nvtx": _Interface("nvrtc", (("libnvtx3interop", 1), ("libnvToolsExt", 1)), "nvtx"),
    "roctx": _Interface("hiprtc", (("librocprofiler-sdk-roctx", 1), ("libroctx64", 4)), "roctx"),
}


class _Functions(NamedTuple):
    push: Callable[[bytes], object]
    pop: Callable[[], object]


def _candidates(interface: _Interface) -> Iterator[str]:
    """Yield the paths and names that may be the library, the likeliest first."""
    names = [(stem, [f"{stem}.so.{version}", f"{stem}.so"]) for stem, version in interface.files]
    try:
        for stem, sonames in names:
            yield from libraries.candidates(interface.compiler, stem, sonames)
    except CompilerMissing:  # a variable names a toolkit that does not exist
        for _, sonames in names:
            yield from sonames


@functools.cache
def _functions() -> _Functions | None:
    """Return the functions that begin and end a range; None without a library of ranges."""
    interface = _INTERFACES.get(capabilities.profiler_ranges)
    if interface is None:
        return None
    for path in _candidates(interface):
        try:
            library = ctypes.PyDLL(path)  # the calls return at once, so the GIL is kept
            push = library[f"{interface.prefix}RangePushA"]
            pop = library[f"{interface.prefix}RangePop"]
        except (OSError, AttributeError):
            continue
        push.argtypes, pop.argtypes = [ctypes.c_char_p], []
        return _Functions(push, pop)
    return None


class annotate:
    """Name a part of the program for the profiler: a ``with`` block, or each call of a function.

    The range appears on the timeline of the calling thread: through NVTX in NVIDIA Nsight on
    ``cuda``, through roctx in AMD's profilers on ``hip``. The library of ranges is looked for at
    the first use: NVTX in the CUDA toolkit or the package ``nvidia-nvtx``, roctx in ROCm. Without
    the library, and on ``host``, which has no profiler, annotations have no effect.

    :param name: Name of the range.

    >>> import PyGPU
    >>> with PyGPU.annotate("allocate"):
    ...     a = PyGPU.gpuarray.zeros(1000, "float32")
    >>> @PyGPU.annotate("load")
    ... def load(path):
    ...     return len(path)
    >>> load("data")
    4
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name: expected a str, got {name!r}")
        if "\0" in name:
            raise ValueError(f"name={name!r}: expected a text without null characters")
        self._name = name

    def __enter__(self) -> annotate:
        functions = _functions()
        if functions:
            functions.push(encoded(self._name))
        return self

    def __exit__(self, *exception: object) -> None:
        functions = _functions()
        if functions:
            functions.pop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function with a range around each of its calls.

        :param function: Function of any kind, except generators and coroutines: they run in parts.
        :returns: Function with the same parameters and result.
        :raises TypeError: If `function` is not callable, or if it is a generator or a coroutine
            function.
        """
        if not callable(function):
            raise TypeError(f"function: expected a callable, got {function!r}")
        kinds = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
        if any(is_of_kind(function) for is_of_kind in kinds):
            raise TypeError(
                f"function={function!r}: expected a function that runs in one piece; put "
                "`with annotate(...)` around the parts of a generator or coroutine"
            )

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return run

    def __repr__(self) -> str:
        return f"annotate({self._name!r})"


class timer:
    """Measure the time that a stream takes for the work of a ``with`` block.

    The block only records two events: one before its work, one after it. Reading
    :attr:`milliseconds` waits for the second.

    :param stream: Stream of the work; the null stream by default, which also waits for the work on
        blocking streams.

    >>> import PyGPU
    >>> with PyGPU.timer() as timer:
    ...     a = PyGPU.gpuarray.zeros(1000, "float32")
    >>> timer.milliseconds > 0
    True
    """

    def __init__(self, stream: StreamLike = None) -> None:
        self._stream = stream
        self._start: Event | None = None
        self._end: Event | None = None

    def __enter__(self) -> timer:
        self._end = None
        self._start = Event().record(self._stream)
        return self

    def __exit__(self, *exception: object) -> None:
        self._end = Event().record(self._stream)

    def _ended(self) -> tuple[Event, Event]:
        if self._start is None or self._end is None:
            state = "was not entered" if self._start is None else "has not ended"
            raise errors.LogicError(f"timer: its `with` block {state}, so there is no time yet")
        return self._start, self._end

    def is_done(self) -> bool:
        """Report whether the work of the block is done, without waiting.

        :returns: True if :attr:`milliseconds` need not wait.
        :raises LogicError: If the block has not ended.
        """
        return self._ended()[1].query()

    @property
    def milliseconds(self) -> float:
        """Time in milliseconds. Waits until the stream has done the work of the block.

        Raises
        ------
        LogicError
            If the block has not ended, or if the stream was being captured: work in a graph has no
            time.
        """
        start, end = self._ended()
        return end.synchronize().time_since(start)

    def __repr__(self) -> str:
        if self._start is None:
            return "<timer, not started>"
        return f"<timer, {'running' if self._end is None else 'ended'}>"


class MemoryStats(NamedTuple):
    """Numbers of bytes on a device, from :func:`memory_stats`.

    Parameters
    ----------
    device : int
        Ordinal of the device.
    total : int
        Size of the device's memory.
    free : int
        Free memory of the device, after what all processes hold.
    in_use : int
        Memory of live arrays and allocations: ``pool_used - cached + plain_used - held``.
    reserved : int
        Memory that PyGPU holds, in use or kept for reuse: ``pool_reserved + plain_used``.
    pool_used : int
        Memory allocated from PyGPU's stream-ordered pool, which arrays use by default.
    pool_peak : int
        Largest `pool_used` so far.
    pool_reserved : int
        Memory that the pool holds from the device.
    pool_reserved_peak : int
        Largest `pool_reserved` so far.
    cached : int
        Part of `pool_used` whose arrays are gone: blocks kept for the next arrays of their size.
    plain_used : int
        Memory of ``cudaMalloc``: of ``driver.mem_alloc``, of the pools of ``PyGPU.tools``, of
        graphs, and of managed memory. Memory that programs allocate by the low level is not
        counted.
    plain_peak : int
        Largest `plain_used` so far.
    held : int
        Part of `plain_used` that the pools of ``PyGPU.tools`` hold as free blocks.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.diagnostics import MemoryStats
    >>> stats = PyGPU.memory_stats()
    >>> isinstance(stats, MemoryStats), stats.in_use <= stats.reserved <= stats.total
    (True, True)
    """

    device: int
    total: int
    free: int
    in_use: int
    reserved: int
    pool_used: int
    pool_peak: int
    pool_reserved: int
    pool_reserved_peak: int
    cached: int
    plain_used: int
    plain_peak: int
    held: int


def memory_stats(device: Int | Device | None = None, *, reset_peaks: bool = False) -> MemoryStats:
    """Return the memory that PyGPU holds on a device.

    The call does not wait for the device, and may be made during a capture.

    :param device: The device; the current device by default.
    :param reset_peaks: Begin the peaks anew from the present use, after they are read.
    :returns: Numbers of bytes: in use, reserved, peaks, and what pools keep for reuse.
    :raises LogicError: If there is no such device.

    >>> import PyGPU
    >>> before = PyGPU.memory_stats().in_use
    >>> a = PyGPU.gpuarray.zeros(1 << 20, "uint8")
    >>> PyGPU.memory_stats().in_use - before
    1048576

    All devices of the process, each of which is initialized by the call:

    >>> import PyGPU.driver as drv
    >>> everywhere = [PyGPU.memory_stats(n) for n in range(drv.Device.count())]
    """
    ordinal = state.current_device() if device is None else int(Device(device))
    free, total, *pool, cached, plain_used, plain_peak = errors.check(
        core._memory_stats(ordinal, bool(reset_peaks)), "memory_stats"
    )
    used, peak, reserved, reserved_peak = pool
    held = min(pools.held_bytes(ordinal), plain_used)
    return MemoryStats(
        device=ordinal,
        total=total,
        free=free,
        in_use=used - cached + plain_used - held,
        reserved=reserved + plain_used,
        pool_used=used,
        pool_peak=peak,
        pool_reserved=reserved,
        pool_reserved_peak=reserved_peak,
        cached=cached,
        plain_used=plain_used,
        plain_peak=plain_peak,
        held=held,
    )


docstrings.complete(__name__)
