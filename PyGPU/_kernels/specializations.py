"""The kernels behind GPUArray's operators and functions, which C++ requests by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PyGPU._compile.compilers import build
from PyGPU._kernels.text import compaction, elementwise, gather
from PyGPU._runtime import core, state

if TYPE_CHECKING:
    from PyGPU._types import DType, DTypes

# Products and sums are rounded separately, as in NumPy: a fused function gives the same results as
# its operators.
ROUNDED = ("-fmad=false",)


def load(source: str, name: str, options: Sequence[str] = ()) -> core._Module:
    """Compile a text for the current device, and return the module to C++."""
    request = build.Request(
        source=source, options=tuple(options), extern_c=False, name=name, tuned=True, own=True
    )
    return core._Module(build.build(request).image, [])


def elementwise_module(name: str, *key: Any) -> core._Module:
    """Return the module with the kernel ``elementwise``. See :func:`text.elementwise.source`."""
    options = ("-O3",) if elementwise.has_runs(*key) else ()  # vectorizes runs
    return load(elementwise.source(name, *key), f"{name}.cu", (*options, *ROUNDED))


def gather_module(*key: Any) -> core._Module:
    """Return the module with the kernel ``gather``. See :func:`text.gather.source`."""
    return load(gather.source(*key), "gather.cu", ("-O3",))


def check_module(*key: Any) -> core._Module:
    """Return the module with the kernel ``check``. See :func:`text.gather.check_source`."""
    return load(gather.check_source(*key), "check.cu")


def join_module(*key: Any) -> core._Module:
    """Return the module with the kernel ``join``. See :func:`text.gather.join_source`."""
    return load(gather.join_source(*key), "join.cu")


def mask_module(itemsize: int, threads: int) -> core._Module:
    """Return the module with the kernels ``select_items`` and ``assign_items``."""
    warp = state.device_attribute(core.cudaDevAttrWarpSize)
    return load(compaction.one_block(itemsize, warp, threads), "mask.cu")


def compaction_module(itemsize: int, is_short: bool) -> tuple[core._Module, int, int, int]:
    """Return the kernels of :func:`text.compaction.items_by_warps` and their sizes.

    The sizes are the threads per block, the elements per chunk, and the chunks per block.
    Short chunks keep a device busy that has few elements.
    """
    warp, threads = state.device_attribute(core.cudaDevAttrWarpSize), compaction.THREADS
    chunk = 16 * warp if is_short else compaction.CHUNK
    module = load(compaction.items_by_warps(warp, itemsize, chunk), "compaction.cu")
    return module, threads, chunk, threads // warp


def reduction_module(
    operation: str, inputs: DTypes, tables: DTypes, compute: DType, *plan: Any
) -> tuple[core._Module, int]:
    """Return the module with the kernels of a reduction, and the accumulator's size in bytes.

    See :class:`text.folding.ReductionKey`.
    """
    from PyGPU._kernels.text import compound, folding, reduction

    form = folding.ReductionKey(operation, inputs, tables, compute, *plan)
    text = reduction.source(form)
    options = () if form.outputs else ("-O3",)  # vectorizes runs
    is_compound = compound.is_compound(form)
    size = compound.nbytes(form) if is_compound else folding.accumulator(form).itemsize
    return load(text, f"{operation}.cu", options), size
