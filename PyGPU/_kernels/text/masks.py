"""Text of the kernels that select items by a mask, or assign to selected items, in one block."""

from __future__ import annotations

import math

from PyGPU._kernels.text.gather import HEAD, WORDS

_KERNELS = """#include <PyGPU/kernels/{header}>
typedef {item} P_item;
extern "C" __global__ void __launch_bounds__({threads})
select_items(const unsigned char *mask, const P_item *from, P_item *to, long long n,
             volatile long long *report) {{
  PyGPU::kernels::{block}::select(mask, from, to, n, report);
}}
extern "C" __global__ void __launch_bounds__({threads})
assign_items(const unsigned char *mask, const P_item *from, P_item *to, long long n,
             long long expected, volatile long long *report) {{
  PyGPU::kernels::{block}::assign(mask, from, to, n, expected, report);
}}
"""


def source(itemsize: int, warp: int, threads: int) -> str:
    """Return the text of the kernels ``select_items`` and ``assign_items``.

    ``select_items`` packs the items at the mask's true elements. ``assign_items`` does the reverse,
    and writes only if the number of true elements is as expected. Both report that number before
    all items are written. `threads` is 1 or a multiple of `warp`.
    """
    header, block = "masks_by_one.h", "MaskThread"
    if threads > 1:
        threads = math.ceil(threads / warp) * warp
        header, block = "masks.h", f"MaskBlock<{warp}, {threads}>"
    item = WORDS.get(itemsize, "P_word16")
    return HEAD + _KERNELS.format(header=header, block=block, item=item, threads=threads)
