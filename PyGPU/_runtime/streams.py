"""Order of work on several streams, for code that uses arrays by their addresses.

Functions that receive GPUArrays order their own work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import R, StreamLike


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
