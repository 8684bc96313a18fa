"""Scans on a GPU: the sizes of their tiles, and the text of include/PyGPU/kernels/scan_tiles.h."""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._kernels.text.scan import Scan

# Tile shapes by element size in bytes: threads per block, words of 16 bytes per thread, blocks per
# multiprocessor, and nanoseconds before a block's first look at the tiles before.
# An odd number of words keeps the threads of a warp in different banks of shared memory. Larger
# tiles need fewer steps of look-back. A look that is too early delays the tiles that it waits for;
# the delay is about the time that the tiles of other blocks take.
TUNING = {
    1: (256, 7, 2, 1500),
    2: (192, 15, 2, 1500),
    4: (192, 15, 4, 3000),
    8: (128, 23, 4, 3000),
    16: (256, 7, 3, 1500),
}
_OTHERS = (256, 5, 1, 1500)
_SHARED_BYTES = 47 << 10  # limit of a tile, below the 48 KB that every device has


class Tile(NamedTuple):
    """The shape of a tile."""

    warp: int  # lanes of a warp
    threads: int
    items: int  # elements per thread
    itemsize: int
    blocks: int = 1  # blocks per multiprocessor
    delay: int = 0  # nanoseconds before a block's first look, if there are many tiles
    pause: int = 100  # nanoseconds between two looks

    @property
    def size(self) -> int:
        return self.threads * self.items

    @property
    def words(self) -> int:
        """Number of 8-byte words in which a tile publishes its total."""
        return -(-self.itemsize // 4)

    def delays(self, multiprocessors: int) -> tuple[int, int, int]:
        """Return (few, many, delay), which set the delay before a block's first look.

        Blocks of launches of more than `few` tiles wait for a part of `delay`. With more than
        `many` tiles they wait for all of it: the more tiles run, the longer a look takes.
        """
        return self.warp, 2 * self.blocks * multiprocessors, self.delay


def tile_for(itemsize: int, warp: int, shared_bytes: int = 64 << 10) -> Tile | None:
    """Return the Tile for elements of `itemsize` bytes, or None if they are too large.

    `shared_bytes` is the shared memory of a multiprocessor. It bounds how many blocks fit there:
    AMD's compiler warns about a kernel that asks for more.
    """
    threads, words, blocks, delay = TUNING.get(itemsize, _OTHERS)
    items = max(1, 16 * words // itemsize)

    def nbytes() -> int:  # the elements, and the totals of the warps
        return (threads * items + threads // warp + 1) * itemsize

    while nbytes() > _SHARED_BYTES and threads > warp:
        threads //= 2
    if nbytes() > _SHARED_BYTES:
        return None
    blocks = max(1, min(blocks, shared_bytes // nbytes()))
    return Tile(warp, threads, items, itemsize, blocks, delay)


_KERNEL = """
typedef P_Scan<P_stored, P_value, P_EXCLUSIVE, P_start, P_join, P_load, P_store> P_scan;
extern "C" __global__ void __launch_bounds__({tile.threads}, {tile.blocks})
{name}_tiles(long long P_n, const char *P_in, long long P_in_step, char *P_out,
             long long P_out_step, unsigned long long *P_state, unsigned P_delay) {{
  P_ScanTiles<P_scan, P_Tile<{shape}>>::P_run(P_n, P_in, P_in_step, P_out, P_out_step, P_state,
                                              P_delay);
}}
"""


def text(scan: Scan, tile: Tile) -> str:
    """Return the text of the one-pass scan, the kernel ``<name>_tiles``."""
    pack = 16 // tile.itemsize if 16 % tile.itemsize == 0 else 1
    shape = f"{tile.warp}, {tile.threads}, {tile.items}, {tile.words}, {pack}, {tile.pause}"
    kernel = _KERNEL.format(name=scan.name, tile=tile, shape=shape)
    return f"#include <PyGPU/kernels/scan_tiles.h>\n{scan.head()}{kernel}"
