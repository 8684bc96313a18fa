"""How many blocks and threads a kernel with a grid-stride loop is launched with."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PyGPU._driver import enums
from PyGPU._driver.device import Device
from PyGPU._runtime import state

if TYPE_CHECKING:
    from PyGPU._types import Block

_MAX_THREADS = 128  # of a block
_BLOCKS_PER_MULTIPROCESSOR = 32


@cache
def limits(ordinal: int) -> tuple[int, int]:
    """(threads of a warp, blocks that keep it busy) of a device."""
    device, attribute = Device(ordinal), enums.device_attribute
    blocks = _BLOCKS_PER_MULTIPROCESSOR * device.get_attribute(attribute.MULTIPROCESSOR_COUNT)
    return device.get_attribute(attribute.WARP_SIZE), blocks


def launch_shape(n: int, ordinal: int) -> tuple[tuple[int, int], Block]:
    """:func:`splay` for the device of that number."""
    warp, most = limits(ordinal)
    warps = -(-n // warp) if n > 0 else 1
    threads = min(-(-warps // most) * warp, _MAX_THREADS)
    return (min(-(-warps * warp // threads), most), 1), (threads, 1, 1)


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
    return launch_shape(n, state.current_device() if dev is None else dev._ordinal)


#: Of GPUArray: the launch for a kernel on its elements.
METHODS = {
    "_grid": property(lambda self: splay(self._size)[0]),
    "_block": property(lambda self: splay(self._size)[1]),
}
