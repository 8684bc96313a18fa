"""NumPy's cumulative sums and products: ``cumsum``, ``cumprod``, ``nancumsum``, ``nancumprod``.

One-dimensional arrays use a scan. For other arrays, the kernels of
PyGPU/_kernels/text/axis_scan.py accumulate all lines along the axis: many lines in one pass, a few
long lines in chunks and two passes.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._arrays.functions import apply, into, where
from PyGPU._arrays.joining import in_c_order, plain
from PyGPU._kernels import accumulated, axis_scan, reduced_dtype
from PyGPU._runtime import capabilities, core, on_device_of_first, require_array, state

if TYPE_CHECKING:
    from PyGPU._driver import Program
    from PyGPU._types import Block, DType, DTypeLike, Grid, Int, Launch

_IDENTITY = {"+": "0", "*": "1"}


@functools.lru_cache(maxsize=256)
def _scan(dtype: DType, operation: str) -> Any:
    from PyGPU._kernels import scan_kernel

    return scan_kernel.InclusiveScanKernel(dtype, f"a {operation} b")


@functools.lru_cache(maxsize=256)
def _lines(x: DType, to: DType, operation: str, skips_nan: bool) -> Program:
    """Return the program of the kernels that accumulate along an axis."""
    from PyGPU._driver import Program

    text = axis_scan.source(x, to, operation, _IDENTITY[operation], skips_nan)
    return Program(text, rows="PPqqIPP", columns="PPqqqqIPP", carries="PqI")


class _Plan(NamedTuple):
    """Plan of an accumulation along an axis; long lines may be split into chunks."""

    to: DType
    launch: Launch
    grid: Grid  # for lines that are not split
    block: Block
    each: tuple[int, ...]  # sizes that are passed to the kernel
    lines: int
    chunks: int  # number of chunks per line
    in_chunks: Grid  # for lines that are split into chunks
    carries: Launch


@functools.lru_cache(maxsize=1024)
def _plan(
    name: str, own: DType, dtype: DType | None, shape: tuple[int, ...], axis: int, device_key: int
) -> _Plan:
    """Return the plan for nonempty arrays of a shape.

    The plan's kernels belong to the current device, whose key is `device_key`.
    """
    to = reduced_dtype(getattr(np, name), own, dtype)
    operation, skips_nan = _OPERATIONS[name]
    rows, columns, carries = _lines(own, to, operation, skips_nan and own.kind in "fc")()
    length, inner = shape[axis], math.prod(shape[axis + 1 :])
    lines = math.prod(shape) // length
    by_rows = inner == 1 and length > 16 and not capabilities.runs_threads_serially
    # Chunks of some thousand elements are worth another launch. Eight blocks on each multiprocessor
    # keep a device busy.
    tile = axis_scan.THREADS * axis_scan.ITEMS if by_rows else 256
    threads = 1 if capabilities.runs_threads_serially else axis_scan.THREADS
    chunks, chunk = length // (4 * tile), length
    if chunks > 1:
        busy = 8 * state.device_attribute(core.cudaDevAttrMultiProcessorCount)
        chunks = min(-(-busy * (1 if by_rows else threads) // lines), chunks)
        chunk = -(-length // (chunks * tile)) * tile if by_rows else -(-length // chunks)
    chunks = -(-length // chunk)
    each = (length, chunk, chunks) if by_rows else (lines, length, inner, chunk, chunks)
    grids = [(n, 1) if by_rows else (-(-n // threads), 1) for n in (lines, lines * chunks)]
    launch, block = rows if by_rows else columns, (threads, 1, 1)
    return _Plan(to, launch, grids[0], block, each, lines, chunks, grids[1], carries)


#: Size up to which a one-dimensional array is one line; a line needs fewer steps than a scan.
_MAX_LINE = 4096
_OPERATIONS = {
    **{"cumsum": ("+", False), "nancumsum": ("+", True)},
    **{"cumprod": ("*", False), "nancumprod": ("*", True)},
}


def _along(name: str, a: core.GPUArray, axis: int, dtype: DType | None) -> core.GPUArray:
    """Return a new array in C order, accumulated along an axis."""
    x = in_c_order(a)
    if not x.size:
        return core.GPUArray(x.shape, reduced_dtype(getattr(np, name), x.dtype, dtype))
    plan = _plan(name, x.dtype, dtype, x.shape, axis, core._current_device_key())
    to, launch, grid, block, each, lines, chunks, in_chunks, carries = plan
    out = core.GPUArray(x.shape, to, a.allocator)
    if chunks == 1:
        launch(grid, block, None, x, out, *each, 0, 0)
        return out
    totals = core.GPUArray((lines * (chunks - 1),), accumulated(to))
    launch(in_chunks, block, None, x, 0, *each, totals, 0)
    carries((-(-lines // block[0]), 1), block, None, totals, lines, chunks)
    launch(in_chunks, block, None, x, out, *each, 0, totals)
    return out


def _in_one_scan(name: str, a: core.GPUArray, dtype: DType | None) -> core.GPUArray:
    """Return a new one-dimensional array, accumulated over all elements in C order."""
    operation, skips_nan = _OPERATIONS[name]
    to = reduced_dtype(getattr(np, name), a.dtype, dtype)
    made = in_c_order(a).ravel()
    if skips_nan and a.dtype.kind in "fc":
        made = where(apply("isnan", made), a.dtype.type(_IDENTITY[operation]), made)
    made = made if made.dtype == to else made.astype(to)
    return _scan(to, operation)(made, output_ary="new") if made.size else made


def _accumulated(
    name: str,
    a: core.GPUArray,
    axis: Int | None,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
) -> core.GPUArray:
    a = plain("a", a)
    asked = None if dtype is None else np.dtype(dtype)
    ndim = a.ndim
    if axis is not None:
        # NumPy accepts axis 0 of a zero-dimensional array.
        axis = core._axis_index(axis, ndim or 1)
    if (axis is not None and ndim > 1) or (ndim == 1 and a.size <= _MAX_LINE):
        made = _along(name, a, axis or 0, asked)
    else:
        made = _in_one_scan(name, a, asked)
    if out is None:
        return made
    if require_array("out", out).shape != made.shape:
        raise ValueError(f"{name}: out: expected shape {made.shape}, got {out.shape}")
    return into(out, made)


@on_device_of_first
def cumsum(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("cumsum", a, axis, dtype, out)


@on_device_of_first
def cumprod(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("cumprod", a, axis, dtype, out)


@on_device_of_first
def nancumsum(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("nancumsum", a, axis, dtype, out)


@on_device_of_first
def nancumprod(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("nancumprod", a, axis, dtype, out)


#: Map each NumPy function to its implementation.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (cumsum, cumprod, nancumsum, nancumprod)
}
