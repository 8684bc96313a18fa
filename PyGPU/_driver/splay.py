"""How many blocks and threads a kernel with a grid-stride loop is launched with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._driver.device import Device
from PyGPU._runtime import core, state

if TYPE_CHECKING:
    from PyGPU._types import Block


def splay(n: int, dev: Device | None = None) -> tuple[tuple[int, int], Block]:
    """(grid, block) for `n` elements: whole warps, and no more blocks than keep a device busy.

    Parameters
    ----------
    n : int
        One block of one warp serves none, too.
    dev : Device, optional
        The current one by default.

    Returns
    -------
    ((blocks, 1), (threads, 1, 1))
    """
    return core._splay(n, state.current_device() if dev is None else dev._ordinal)


#: Of GPUArray: the launch for a kernel on its elements.
METHODS = {
    "_grid": property(lambda self: splay(self._size)[0]),
    "_block": property(lambda self: splay(self._size)[1]),
}
