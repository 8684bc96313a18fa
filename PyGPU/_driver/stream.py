"""Streams, events, graphs, and the start and stop of the profiler, with PyCUDA's methods."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from PyGPU._driver import enums
from PyGPU._runtime import core, docstrings, errors, extent

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from PyGPU._types import Int, StreamLike


__all__ = [
    "Event",
    "Graph",
    "Stream",
    "initialize_profiler",
    "start_profiler",
    "stop_profiler",
]


class Stream(core.cudaStream_t):
    """A queue of work on the current device.

    :param flags: 0: ordered with the null stream; 1: independent of it (non-blocking).

    >>> stream = drv.Stream()
    >>> stream.synchronize()
    >>> stream.is_done()
    True

    Call a function when the copy is done:

    >>> import numpy as np
    >>> done, memory = [], drv.mem_alloc(8)
    >>> drv.memcpy_htod_async(memory, np.zeros(2, np.float32), stream)
    >>> stream.add_callback(done.append, "copied")
    >>> stream.synchronize()
    >>> done
    ['copied']
    """

    def __init__(self, flags: Int = 0) -> None:
        super().__init__(extent("flags", flags))
        errors.check(self.last_status(), "cudaStreamCreate")

    def synchronize(self) -> None:
        """Wait until all work on the stream is done."""
        errors.check(core.cudaStreamSynchronize(self), "cudaStreamSynchronize")

    def is_done(self) -> bool:
        """Report whether all work on the stream is done.

        :returns: True if no work is pending.
        """
        return _is_done(core.cudaStreamQuery(self), "cudaStreamQuery")

    def capture(self, graph: Graph | None = None) -> AbstractContextManager[Graph]:
        """Capture work into a graph instead of executing it.

        In the body of ``with stream.capture() as graph:``, the work that this thread enqueues on
        the stream and on the null stream becomes a graph: operations on arrays, launches,
        asynchronous copies. The work runs at :meth:`Graph.launch` only, so the body cannot wait for
        it. Arrays made in the body live as long as the graph. Compile the kernels beforehand, by
        running the body once without a capture.

        :param graph: Existing graph that receives the captured work. The same work with other
            parameters updates the graph in place.
        :returns context manager: Yields the graph.
        :raises LogicError: If the body waits (``get``, ``synchronize``), if the stream is the null
            stream, or if the thread is capturing already.
        """
        return captured(self, graph)

    def add_callback(self, function: Callable[..., object], *args: Any) -> None:
        """Call a function when the work that is on the stream now is done.

        Later work on the stream waits until the function has returned. On GPUs, the function runs
        in a thread of the runtime; on ``host``, in the calling thread. An exception of the function
        is reported through :func:`sys.unraisablehook`, and the stream continues.

        The function cannot use PyGPU: the runtimes allow no calls there, so LogicError is raised.
        It must not wait for a device by another library either. It may signal another thread, for
        example by :class:`threading.Event` or :class:`queue.Queue`.

        During a capture, each launch of the graph calls the function. Functions that have not
        begun when the interpreter ends are not called.

        :param callable function: The function; its result is ignored.
        :param object *args: Arguments of the function.
        :raises TypeError: If `function` is not callable.
        """
        called = partial(function, *args) if args and callable(function) else function
        errors.check(core.cudaLaunchHostFunc(self, called), "cudaLaunchHostFunc")

    def wait_for_event(self, evt: core.cudaEvent_t) -> None:
        """Make later work on this stream wait for an event.

        :param evt: Event to wait for. It may be recorded on any stream.
        """
        errors.check(core.cudaStreamWaitEvent(self, evt), "cudaStreamWaitEvent")


def _is_done(status: core.cudaError_t, call: str) -> bool:
    if status == core.cudaErrorNotReady:
        core.cudaGetLastError()
        return False
    errors.check(status, call)
    return True


class Event(core.cudaEvent_t):
    """A point in a stream's work.

    :param flags: Combination of ``event_flags``.

    >>> start, end = drv.Event(), drv.Event()
    >>> start.record() is start
    True
    >>> milliseconds = end.record().synchronize().time_since(start)
    >>> milliseconds >= 0
    True
    """

    def __init__(self, flags: Int = 0) -> None:
        super().__init__(extent("flags", flags))
        errors.check(self.last_status(), "cudaEventCreate")

    def record(self, stream: StreamLike = None) -> Event:
        """Record the event after the work that is on a stream now.

        :param stream: Stream to record on; the null stream by default.
        :returns: This event.
        """
        errors.check(core.cudaEventRecord(self, stream), "cudaEventRecord")
        return self

    def synchronize(self) -> Event:
        """Wait until the stream has reached the event.

        :returns: This event.
        """
        errors.check(core.cudaEventSynchronize(self), "cudaEventSynchronize")
        return self

    def query(self) -> bool:
        """Report whether the stream has reached the event.

        :returns: True if the work before the event is done.
        """
        return _is_done(core.cudaEventQuery(self), "cudaEventQuery")

    def time_since(self, event: core.cudaEvent_t) -> float:
        """Return the time from another event to this one.

        :param event: The earlier event. Both events must have been reached.
        :returns: Time in milliseconds.
        :raises LogicError: If an event was never recorded or has timing disabled, or if the events
            belong to different devices.
        """
        return errors.check(core.cudaEventElapsedTime(event, self), "cudaEventElapsedTime")

    def time_till(self, event: core.cudaEvent_t) -> float:
        """Return the time from this event to another one.

        :param event: The later event. Both events must have been reached.
        :returns: Time in milliseconds.
        :raises LogicError: If an event was never recorded or has timing disabled, or if the events
            belong to different devices.
        """
        return errors.check(core.cudaEventElapsedTime(self, event), "cudaEventElapsedTime")

    def ipc_handle(self) -> bytearray:
        """Return a handle by which another process can open the event.

        :returns: Handle of 64 bytes, for :meth:`from_ipc_handle`.
        """
        return bytearray(errors.check(core.cudaIpcGetEventHandle(self), "cudaIpcGetEventHandle"))

    @staticmethod
    def from_ipc_handle(handle: bytes | bytearray) -> Event:
        """Open an event of another process.

        :param bytes-like handle: Handle of 64 bytes, from :meth:`ipc_handle`.
        :returns: The other process's event.
        :raises LogicError: If the handle has another length or is unknown.
        """
        if len(handle) != 64:
            raise errors.LogicError(
                f"cudaIpcOpenEventHandle failed: handle: expected 64 bytes, got {len(handle)}"
            )
        event = Event.__new__(Event)
        core.cudaEvent_t.__init__(event, bytes(handle))
        errors.check(event.last_status(), "cudaIpcOpenEventHandle")
        return event


def initialize_profiler(
    config_file: str, output_file: str, output_mode: Int = enums.profiler_output_mode.CSV
) -> None:
    """Do nothing. Runtimes no longer write profiles: use the vendor's profiler.

    :param config_file: Ignored.
    :param output_file: Ignored.
    :param profiler_output_mode output_mode: Ignored.

    >>> drv.initialize_profiler("config.txt", "profile.csv")
    """


def start_profiler() -> None:
    """Start the vendor's profiler, if one is attached.

    >>> drv.start_profiler()
    """
    errors.check(core.cudaProfilerStart(), "cudaProfilerStart")


def stop_profiler() -> None:
    """Stop the vendor's profiler, if one is attached.

    >>> drv.stop_profiler()
    """
    errors.check(core.cudaProfilerStop(), "cudaProfilerStop")


class Graph(core._Graph):
    """Work captured by :meth:`Stream.capture`, with the memory and the code that it uses.

    >>> import PyGPU.gpuarray as gpuarray
    >>> stream, a = drv.Stream(), gpuarray.zeros(2, "int32")
    >>> with stream.capture() as graph:
    ...     drv.memset_d32_async(a.ptr, 7, 2, stream)
    >>> a.get()
    array([0, 0], dtype=int32)
    >>> graph.launch()
    >>> a.get()
    array([7, 7], dtype=int32)
    """

    def launch(self, stream: StreamLike = None) -> None:
        """Enqueue all captured work.

        :param stream: Any stream of the device, not only the captured one. The null stream by
            default.
        :raises LogicError: If nothing was captured before, or if memory that the work uses was
            freed.
        """
        self._launch(stream)


def captured(stream: core.cudaStream_t, graph: Graph | None) -> AbstractContextManager[Graph]:
    """Capture the body of a ``with`` statement; see :meth:`PyGPU.driver.Stream.capture`."""
    if graph is None:
        graph = Graph()
    elif not isinstance(graph, Graph):
        raise TypeError(f"graph: expected a Graph, got {graph!r}")
    return core._CaptureScope(stream, graph)


docstrings.complete(__name__)
