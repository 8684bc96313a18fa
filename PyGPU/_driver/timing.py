"""The timer of a ``with`` block, by two events on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver.stream import Event
from PyGPU._runtime import docstrings, errors

if TYPE_CHECKING:
    from PyGPU._types import StreamLike

__all__ = ["timer"]


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
