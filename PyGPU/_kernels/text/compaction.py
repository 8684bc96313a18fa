"""Source texts of compaction kernels, which pack the true elements of a mask.

``count_true`` counts the true elements of each chunk of the mask. Its last block, or a scan,
converts the counts to offsets: a chunk's offset is the position of its first true element in the
packed array. The other kernels copy to or from the packed array. A warp processes a chunk on a GPU,
a thread on the host machine. The code is in include/PyGPU/kernels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PyGPU._kernels.text.gather import HEAD, WORDS
from PyGPU._kernels.types import dtype_to_ctype

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike

CHUNK = 4096  # elements of a chunk
THREADS = 256  # threads per block on a GPU


def _kernel(name: str, template: str, *parameters: str, threads: int = 0) -> str:
    """Return the text of a kernel that passes its parameters to a function template of a header."""
    listed = ["long long n", "const unsigned char *mask", *parameters]
    given = ", ".join(one.rpartition(" ")[2].lstrip("*") for one in listed)
    bounds = f" __launch_bounds__({threads})" if threads else ""
    return f"""
extern "C" __global__ void{bounds} {name}({", ".join(listed)}) {{
  PyGPU::kernels::{template}({given});
}}"""


def _by_warps(warp: int, chunk: int) -> str:
    return f"""#include <PyGPU/kernels/compaction.h>
typedef PyGPU::kernels::Chunks<{warp}, {THREADS}, {chunk}> Chunks;"""


def indices_by_warps(warp: int, dtype: DTypeLike) -> str:
    """Return the text of ``count_true`` and ``write_true`` for one chunk per warp.

    ``write_true`` writes flat indices of a dtype. A warp has `warp` lanes.
    """
    written = ("const long long *offsets", f"{dtype_to_ctype(dtype)} *out")
    return (
        _by_warps(warp, CHUNK)
        + _kernel("count_true", "count_true<Chunks>", "long long *counts", threads=THREADS)
        + _kernel("write_true", "write_true<Chunks>", *written, threads=THREADS)
    )


def indices_by_threads(dtype: DTypeLike) -> str:
    """Return the text of ``count_true`` and ``write_true`` for one chunk per thread."""
    out = f"{dtype_to_ctype(dtype)} *out"
    return (
        "#include <PyGPU/kernels/compaction_by_threads.h>"
        + _kernel("count_true", f"count_true<{CHUNK}>", "long long *counts")
        + _kernel("write_true", f"write_true<{CHUNK}>", "const long long *offsets", out)
    )


def items_by_warps(warp: int, itemsize: int, chunk: int) -> str:
    """Return the text of the kernels that pack and unpack items, for one chunk per warp.

    ``count_true`` converts the counts to offsets and reports the total count. ``select_true``
    packs items of `itemsize` bytes, and ``assign_true`` unpacks them. `chunk`, the number of
    elements of a chunk, is a multiple of 16 * `warp`.
    """
    item, offsets = WORDS.get(itemsize, "P_word16"), "const long long *offsets"
    counted = ("long long *counts", "unsigned *done", "volatile long long *report")
    selected = (offsets, f"const {item} *items", f"{item} *packed")
    assigned = (offsets, f"{item} *items", f"const {item} *packed")
    return (
        HEAD
        + _by_warps(warp, chunk)
        + _kernel("count_true", "compute_offsets<Chunks>", *counted, threads=THREADS)
        + _kernel("select_true", "select_true<Chunks>", *selected, threads=THREADS)
        + _kernel("assign_true", "assign_true<Chunks>", *assigned, threads=THREADS)
    )


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


def one_block(itemsize: int, warp: int, threads: int) -> str:
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
