"""Graphs: work that a stream captures once and that is launched many times as a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import core, docstrings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from PyGPU._types import StreamLike

__all__ = ["Graph"]


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
