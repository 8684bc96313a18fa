"""The order of work on several streams, where arrays are used by their addresses.

Calls that are given the arrays themselves see to it on their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PyGPU._runtime import errors
from PyGPU._runtime.targets import core

if TYPE_CHECKING:
    from PyGPU._types import R, StreamLike


def in_order(stream: StreamLike, arrays: Iterable[core.GPUArray], work: Callable[[], R]) -> R:
    """Call `work`, which enqueues on a stream what uses the memory of arrays.

    The stream waits for what the memory was taken from, and the memory is not given away before the
    work is done. None is the null stream, which needs neither, unless it stands for a captured one.
    """
    is_null = stream is None and not core._is_capturing()
    return work() if is_null else core._in_order(stream, tuple(arrays), work)


def recorded(stream: StreamLike) -> core.cudaEvent_t:
    """An event at the point that the stream's work has reached."""
    event = core.cudaEvent_t(core.cudaEventDisableTiming)
    errors.check(event.last_status(), "cudaEventCreate")
    errors.check(core.cudaEventRecord(event, stream), "cudaEventRecord")
    return event


def order_after(later: StreamLike, earlier: StreamLike) -> None:
    """Work put on the stream `later` from now on waits for what is on `earlier` now."""
    errors.check(core.cudaStreamWaitEvent(later, recorded(earlier)), "cudaStreamWaitEvent")
