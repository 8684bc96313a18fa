"""Work that is recorded once and launched many times, as one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import StreamLike

__all__ = ["Graph"]


class Graph(core._Graph):
    """What :meth:`Stream.capture` has recorded. It keeps the memory and the code that it uses."""

    def launch(self, stream: StreamLike = None) -> None:
        """Enqueue all of the work.

        Parameters
        ----------
        stream : Stream, optional
            Any of the device: not only the one that was captured.

        Raises
        ------
        LogicError
            Before anything was captured, and where memory that the work uses was freed.
        """
        self._launch(stream)


@contextlib.contextmanager
def captured(stream: core.cudaStream_t, graph: Graph | None) -> Iterator[Graph]:
    """See :meth:`PyGPU.driver.Stream.capture`."""
    if graph is None:
        graph = Graph()
    elif not isinstance(graph, Graph):
        raise TypeError(f"graph: expected a Graph, got {graph!r}")
    graph._begin(stream)
    try:
        yield graph
    except BaseException:
        graph._abandon()
        raise
    graph._end()
