"""NumPy's functions that count and search: ``searchsorted``, ``bincount``, ``histogram``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import reductions, statistics
from PyGPU._arrays.functions import apply, kind_of
from PyGPU._arrays.joining import in_c_order, plain
from PyGPU._kernels import counting
from PyGPU._runtime import capabilities, core, on_device_of_first, require_array, state

if TYPE_CHECKING:
    from PyGPU._driver import Program
    from PyGPU._types import DType, Int

_INT64 = np.dtype(np.int64)


@functools.lru_cache(maxsize=256)
def _search(a: DType, v: DType, common: DType, is_right: bool) -> Program:
    from PyGPU._driver import Program

    return Program(counting.search_source(a, v, common, is_right), search="PqPqP")


@functools.lru_cache(maxsize=256)
def _counts(x: DType, has_weights: bool) -> Program:
    from PyGPU._driver import Program

    text = counting.count_source(x, has_weights)
    return Program(text, count="PPqqP", bin="PPqqPPd")


def _launch_shape(size: int) -> tuple[Any, Any]:
    """Return the grid and the block for a loop over `size` elements."""
    max_blocks = 8 * state.device_attribute(core.cudaDevAttrMultiProcessorCount)
    threads = 1 if capabilities.runs_threads_serially else counting.THREADS
    return (max(1, min(max_blocks, -(-size // (4 * threads)))), 1), (threads, 1, 1)


@on_device_of_first
def searchsorted(a: core.GPUArray, v: Any, side: str = "left", sorter: Any = None) -> core.GPUArray:
    a = plain("a", a)
    if a.ndim != 1:
        raise ValueError(f"searchsorted: a: expected one axis, got shape {a.shape}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side={side!r}: expected 'left' or 'right'")
    if sorter is not None:
        a = a.take(require_array("sorter", sorter))
    if not isinstance(v, core.GPUArray):
        if np.ndim(v):
            raise TypeError(
                "searchsorted: v: expected a GPUArray or a number; copy the array to the device "
                "with to_gpu()"
            )
        kind_of(v)  # raises TypeError for a unit or a mask
        number = np.asarray(v)
        v = core.zeros((), number.dtype if number.dtype.kind != "O" else np.float64)
        v.fill(number.item())
    v = plain("v", v)
    common = np.result_type(a.dtype, v.dtype)
    if common.kind not in "biuf":
        raise TypeError(f"searchsorted: expected real numbers, got {a.dtype} and {v.dtype}")
    out = core.GPUArray(v.shape, _INT64)
    if v.size:
        (search,) = _search(a.dtype, v.dtype, common, side == "right")()
        sorted_, values = in_c_order(a), in_c_order(v)
        search(*_launch_shape(v.size), None, sorted_, a.size, values, v.size, out)
    return out


def _weights(name: str, weights: Any, shape: tuple[int, ...]) -> core.GPUArray | int:
    """Return the weights as float64, or 0, a null pointer, if `weights` is None."""
    if weights is None:
        return 0
    weights = plain("weights", weights)
    if weights.shape != shape:
        raise ValueError(f"{name}: weights: expected shape {shape}, got {weights.shape}")
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{name}: weights: expected real numbers, got an array of {weights.dtype}")
    return in_c_order(weights if weights.dtype == np.float64 else weights.astype(np.float64))


@on_device_of_first
def bincount(x: core.GPUArray, /, weights: Any = None, minlength: Int = 0) -> core.GPUArray:
    x = plain("x", x)
    if x.ndim != 1:
        raise ValueError(f"bincount: x: expected one axis, got shape {x.shape}")
    if x.dtype.kind not in "biu":
        raise TypeError(f"bincount: x: expected integers, got an array of {x.dtype}")
    bins = int(minlength)
    if bins < 0:
        raise ValueError(f"bincount: minlength={minlength}: expected a nonnegative integer")
    if x.size:
        low, high = (int(one) for one in (reductions.min(x).get(), reductions.max(x).get()))
        if low < 0:
            raise ValueError(f"bincount: x: expected nonnegative integers, got {low}")
        bins = max(bins, high + 1)
    amounts = _weights("bincount", weights, x.shape)
    # NumPy returns integers if there are no elements, even with weights.
    out = core.zeros((bins,), np.float64 if weights is not None and x.size else _INT64)
    if x.size:
        count, _ = _counts(x.dtype, weights is not None)()
        count(*_launch_shape(x.size), None, in_c_order(x), amounts, x.size, bins, out)
    return out


def _edges(a: core.GPUArray, bins: Any, limits: Any) -> tuple[Any, float]:
    """Return the bin edges on the host, and the number of bins per unit.

    The number is 0 if `bins` contains the edges.
    """
    if np.ndim(bins) == 1:
        edges = np.asarray(bins.get() if isinstance(bins, core.GPUArray) else bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("histogram: bins: expected edges in increasing order")
        return edges, 0.0
    if isinstance(bins, str) or np.ndim(bins):
        raise TypeError(
            f"histogram: bins={bins!r}: expected a number of bins or an array of bin edges"
        )
    count = int(bins)
    if count < 1 or count != bins:
        raise ValueError(f"histogram: bins={bins!r}: expected a positive integer")
    if limits is not None:
        first, last = limits
        if first > last:
            raise ValueError(f"histogram: range={limits}: expected first <= last")
    elif a.size == 0:
        first, last = 0, 1
    else:
        first, last = (statistics.extreme(name, a).get()[()] for name in ("min", "max"))
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"histogram: range: expected finite numbers, got ({first}, {last})")
    if first == last:
        first, last = first - 0.5, last + 0.5
    dtype = np.result_type(first, last, a.dtype)
    if dtype.kind != "f":
        dtype = np.result_type(dtype, float)
    edges = np.linspace(first, last, count + 1, endpoint=True, dtype=dtype)
    return edges, count / (float(last) - float(first))


@on_device_of_first
def histogram(
    a: core.GPUArray, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[core.GPUArray, core.GPUArray]:
    a = plain("a", a)
    if a.dtype.kind not in "biuf":
        raise TypeError(f"histogram: a: expected real numbers, got an array of {a.dtype}")
    edges, scale = _edges(a, bins, range)
    number = len(edges) - 1
    amounts = _weights("histogram", weights, a.shape)
    out = core.zeros((number,), _INT64 if weights is None else np.float64)
    if a.size and number > 0:
        _, put = _counts(a.dtype, weights is not None)()
        wide = core.to_gpu(edges.astype(np.float64))
        x = in_c_order(a)
        put(*_launch_shape(a.size), None, x, amounts, a.size, number, out, wide, scale)
    if density:
        widths = core.to_gpu(np.diff(edges).astype(np.float64))
        out = apply("divide", apply("divide", out, widths), reductions.sum(out, np.float64))
    return out, core.to_gpu(edges)


#: Map each NumPy function to its implementation.
FUNCTIONS = {
    getattr(np, function.__name__): function for function in (searchsorted, bincount, histogram)
}
