"""NumPy's running sums and products: ``cumsum``, ``cumprod``, and without NaN ``nancumsum``.

An array of one axis is a scan. Along an axis of others, the kernels of
PyGPU/_kernels/text/axis_scan.py accumulate all lines in one pass, or in two where there are few.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._arrays.functions import apply, into, where
from PyGPU._arrays.joining import in_c_order, plain
from PyGPU._driver import Program
from PyGPU._kernels import accumulated, axis_scan, reduced_dtype
from PyGPU._runtime import beside_first, capabilities, core, hooks, require_array, state

if TYPE_CHECKING:
    from PyGPU._types import Block, DType, DTypeLike, Grid, Int

_NEUTRAL = {"+": "0", "*": "1"}


@functools.lru_cache(maxsize=256)
def _scan(dtype: DType, operation: str) -> Any:
    scan_kernel = hooks.loaded("PyGPU._kernels.scan_kernel")  # not needed for other axes
    return scan_kernel.InclusiveScanKernel(dtype, f"a {operation} b")


@functools.lru_cache(maxsize=256)
def _lines(x: DType, to: DType, operation: str, skips_nan: bool) -> Program:
    """Return the program of the kernels that accumulate along an axis."""
    text = axis_scan.source(x, to, operation, _NEUTRAL[operation], skips_nan)
    return Program(text, rows="PPqqIPP", columns="PPqqqqIPP", carries="PqI")


class _Plan(NamedTuple):
    """How the lines along an axis are accumulated: each at once, or in chunks."""

    lines: int
    chunks: int  # of each line
    by_rows: bool  # a block for each line or chunk of adjacent elements; else a thread
    grid: Grid  # of lines that are accumulated at once
    block: Block
    each: tuple[int, ...]  # sizes that the kernel takes


@functools.lru_cache(maxsize=1024)
def _plan(shape: tuple[int, ...], axis: int, device_key: int) -> _Plan:
    length, inner = shape[axis], math.prod(shape[axis + 1 :])
    lines = math.prod(shape) // length
    by_rows = inner == 1 and length > 16 and not capabilities.runs_threads_serially
    # A chunk is worth its launch from some thousand elements on, and a device is busy with eight
    # blocks on each multiprocessor.
    tile = axis_scan.THREADS * axis_scan.ITEMS if by_rows else 256
    threads = 1 if capabilities.runs_threads_serially else axis_scan.THREADS
    chunks, chunk = length // (4 * tile), length
    if chunks > 1:
        busy = 8 * state.device_attribute(core.cudaDevAttrMultiProcessorCount)
        chunks = min(-(-busy * (1 if by_rows else threads) // lines), chunks)
        chunk = -(-length // (chunks * tile)) * tile if by_rows else -(-length // chunks)
    chunks = -(-length // chunk)
    each = (length, chunk, chunks) if by_rows else (lines, length, inner, chunk, chunks)
    grid = (lines, 1) if by_rows else (-(-lines // threads), 1)
    return _Plan(lines, chunks, by_rows, grid, (threads, 1, 1), each)


#: Arrays of one axis and no more elements are one line, which needs fewer steps than a scan.
_FEW = 4096


def _along(
    a: core.GPUArray, axis: int, to: DType, operation: str, skips_nan: bool
) -> core.GPUArray:
    """Return a new array of `to`, in C order, accumulated along an axis."""
    x = in_c_order(a)
    out = core.GPUArray(x.shape, to)
    if not x.size:
        return out
    rows, columns, carries = _lines(x.dtype, to, operation, skips_nan)()
    lines, chunks, by_rows, grid, block, each = _plan(x.shape, axis, core._current_device_key())
    launch = rows if by_rows else columns
    if chunks == 1:
        launch(grid, block, None, x, out, *each, 0, 0)
        return out
    in_chunks = (lines * chunks if by_rows else -(-lines * chunks // block[0]), 1)
    totals = core.GPUArray((lines * (chunks - 1),), accumulated(to))
    launch(in_chunks, block, None, x, 0, *each, totals, 0)
    carries((-(-lines // block[0]), 1), block, None, totals, lines, chunks)
    launch(in_chunks, block, None, x, out, *each, 0, totals)
    return out


def _accumulated(
    name: str,
    a: core.GPUArray,
    axis: Int | None,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
    operation: str,
    skips_nan: bool = False,
) -> core.GPUArray:
    a = plain("a", a)
    own = a.dtype
    to = reduced_dtype(getattr(np, name), own, None if dtype is None else np.dtype(dtype))
    skips_nan = skips_nan and own.kind in "fc"
    if a.ndim == 1 and a.size <= _FEW:
        core._axis_index(axis or 0, 1)
        made = _along(a, 0, to, operation, skips_nan)
    elif axis is not None and a.ndim > 1:
        made = _along(a, core._axis_index(axis, a.ndim), to, operation, skips_nan)
    else:
        if axis is not None:
            core._axis_index(axis, a.ndim or 1)  # NumPy accepts axis 0 of arrays without axes
        made = in_c_order(a).ravel()
        if skips_nan:
            made = where(apply("isnan", made), own.type(_NEUTRAL[operation]), made)
        made = made if made.dtype == to else made.astype(to)
        if made.size:
            made = _scan(to, operation)(made, output_ary="new")
    if out is None:
        return made
    if require_array("out", out).shape != made.shape:
        raise ValueError(f"{name}: out: expected shape {made.shape}, got {out.shape}")
    return into(out, made)


@beside_first
def cumsum(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("cumsum", a, axis, dtype, out, "+")


@beside_first
def cumprod(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("cumprod", a, axis, dtype, out, "*")


@beside_first
def nancumsum(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("nancumsum", a, axis, dtype, out, "+", skips_nan=True)


@beside_first
def nancumprod(
    a: core.GPUArray,
    axis: Int | None = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    return _accumulated("nancumprod", a, axis, dtype, out, "*", skips_nan=True)


#: NumPy's functions, and the functions here that implement them.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (cumsum, cumprod, nancumsum, nancumprod)
}
