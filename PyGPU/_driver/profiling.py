"""Profiling of a program: named ranges by NVTX and roctx, and the timer of a with block."""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from PyGPU._compile.compilers import libraries
from PyGPU._driver.stream import Event
from PyGPU._runtime import CompilerMissing, capabilities, docstrings, encoded, errors

if TYPE_CHECKING:
    from PyGPU._types import P, R, StreamLike

__all__ = [
    "annotate",
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


docstrings.complete(__name__)
