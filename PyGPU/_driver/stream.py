"""Streams and events with PyCUDA's methods; profiler switches."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from PyGPU._driver import enums
from PyGPU._driver.graph import Graph, captured
from PyGPU._runtime import core, errors, extent

if TYPE_CHECKING:
    from PyGPU._types import Int, StreamLike

__all__ = [
    "Event",
    "Stream",
    "initialize_profiler",
    "start_profiler",
    "stop_profiler",
]


class Stream(core.cudaStream_t):
    """A queue of work on the current device.

    Parameters
    ----------
    flags : int
        0: ordered with the null stream; 1: apart from it.
    """

    def __init__(self, flags: Int = 0) -> None:
        super().__init__(extent("flags", flags))
        errors.check(self.last_status(), "cudaStreamCreate")

    def synchronize(self) -> None:
        """Wait until the stream has done its work."""
        errors.check(core.cudaStreamSynchronize(self), "cudaStreamSynchronize")

    def is_done(self) -> bool:
        """Has the stream done its work?"""
        return _is_done(core.cudaStreamQuery(self), "cudaStreamQuery")

    def capture(self, graph: Graph | None = None) -> AbstractContextManager[Graph]:
        """Record work instead of doing it.

        In the body of ``with stream.capture() as graph:``, what this thread enqueues on the stream,
        and on the null stream, becomes a graph: operations on arrays, launches, asynchronous
        copies. None of it is done before :meth:`Graph.launch`, and nothing can be waited for.
        Arrays that are made there keep their memory as long as the graph. Compile kernels before,
        by doing the same once outside.

        Parameters
        ----------
        graph : Graph, optional
            Takes over what is recorded; with the same work and other parameters, in place.

        Raises
        ------
        LogicError
            In a body that waits (``get``, ``synchronize``); for the null stream, or a thread that
            captures already.
        """
        return captured(self, graph)

    def wait_for_event(self, evt: core.cudaEvent_t) -> None:
        """Later work on this stream waits for the event."""
        errors.check(core.cudaStreamWaitEvent(self, evt), "cudaStreamWaitEvent")


def _is_done(status: core.cudaError_t, call: str) -> bool:
    if status == core.cudaErrorNotReady:
        core.cudaGetLastError()
        return False
    errors.check(status, call)
    return True


class Event(core.cudaEvent_t):
    """A point in a stream's work.

    Parameters
    ----------
    flags : int
        Of ``event_flags``.
    """

    def __init__(self, flags: Int = 0) -> None:
        super().__init__(extent("flags", flags))
        errors.check(self.last_status(), "cudaEventCreate")

    def record(self, stream: StreamLike = None) -> Event:
        """Mark the point that the stream's work has reached. Returns the event."""
        errors.check(core.cudaEventRecord(self, stream), "cudaEventRecord")
        return self

    def synchronize(self) -> Event:
        """Wait until the point is reached. Returns the event."""
        errors.check(core.cudaEventSynchronize(self), "cudaEventSynchronize")
        return self

    def query(self) -> bool:
        """Is the point reached?"""
        return _is_done(core.cudaEventQuery(self), "cudaEventQuery")

    def time_since(self, event: core.cudaEvent_t) -> float:
        """Milliseconds from `event` to this one (float)."""
        return errors.check(core.cudaEventElapsedTime(event, self), "cudaEventElapsedTime")

    def time_till(self, event: core.cudaEvent_t) -> float:
        """Milliseconds from this one to `event` (float)."""
        return errors.check(core.cudaEventElapsedTime(self, event), "cudaEventElapsedTime")

    def ipc_handle(self) -> bytearray:
        """A handle (bytearray of 64) by which another process opens the event."""
        return bytearray(errors.check(core.cudaIpcGetEventHandle(self), "cudaIpcGetEventHandle"))

    @staticmethod
    def from_ipc_handle(handle: bytes | bytearray) -> Event:
        """Another process's event."""
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
    """Nothing: runtimes no longer write profiles by themselves; use the vendor's profiler."""


def start_profiler() -> None:
    """Tell the vendor's profiler to begin, if one is attached."""
    errors.check(core.cudaProfilerStart(), "cudaProfilerStart")


def stop_profiler() -> None:
    """Tell the vendor's profiler to stop."""
    errors.check(core.cudaProfilerStop(), "cudaProfilerStop")
