"""Launch shape (grid and block) of a kernel with a grid-stride loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._runtime import core, docstrings, state

if TYPE_CHECKING:
    from PyGPU._types import Block, Device


def splay(n: int, dev: Device | None = None) -> tuple[tuple[int, int], Block]:
    """Return a grid and a block for `n` elements.

    A block has whole warps. The grid has at most as many blocks as occupy the device.

    :param n: Number of elements; 0 gives one block of one warp.
    :param dev: The current device by default.
    :returns tuple: ``((blocks, 1), (threads, 1, 1))``.

    >>> from PyGPU import gpuarray
    >>> gpuarray.splay(1)
    ((1, 1), (32, 1, 1))
    """
    return core._launch_shape(n, state.current_device() if dev is None else dev._ordinal)


#: Properties added to GPUArray: the launch shape of a kernel over its elements.
METHODS = {
    "_grid": property(lambda self: splay(self._size)[0]),
    "_block": property(lambda self: splay(self._size)[1]),
}


docstrings.complete(__name__)
