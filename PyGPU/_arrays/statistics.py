"""NumPy's statistics of several operations, and its functions that count and search."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import fusion, rearranging, reductions
from PyGPU._arrays.functions import apply, into, kind_of, magnitude
from PyGPU._arrays.joining import in_c_order, plain
from PyGPU._kernels import counting, reduced_dtype
from PyGPU._runtime import capabilities, core, on_device_of_first, require_array, state

if TYPE_CHECKING:
    from PyGPU._driver import Program
    from PyGPU._types import Axis, DType, DTypeLike, Int


def name_of_extreme(name: str, dtype: DType) -> str:
    """Return the core's name for NumPy's max or min, which return NaN if any element is NaN."""
    return f"{name}imum" if dtype.kind == "f" else name


def extreme(
    name: str, a: core.GPUArray, axis: Axis = None, keepdims: bool = False
) -> core.GPUArray:
    """Compute NumPy's max or min."""
    name = name_of_extreme(name, require_array("a", a).dtype)
    return core._reduce(name, a, axis, None, None, keepdims, None, None)


def count(a: core.GPUArray, axis: Axis) -> int:
    """Return the number of elements along one axis, several axes, or all axes (None)."""
    axes = range(a.ndim) if axis is None else axis if np.iterable(axis) else (axis,)
    return math.prod(a.shape[core._axis_index(one, a.ndim)] for one in axes)


@fusion.fuse
def squares(x: Any, mean: Any) -> Any:
    return np.square(x.real - mean.real) + np.square(x.imag - mean.imag)


def compute_dtype(name: str, a: core.GPUArray, dtype: DTypeLike | None) -> DType:
    """Return the dtype in which a variance is computed.

    Raise TypeError if it is neither floating-point nor complex.
    """
    kind = require_array("a", a).dtype.kind
    if kind not in "biufc":
        raise TypeError(f"{name}: a: expected numbers, got an array of {a.dtype}")
    compute = np.dtype(dtype or (np.float64 if kind in "biu" else a.dtype))
    if compute.kind not in "fc":
        raise TypeError(f"{name}: dtype={compute}: expected a floating-point or complex dtype")
    return compute


def variance(
    name: str,
    a: core.GPUArray,
    axis: Axis,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
    ddof: float,
    keepdims: bool,
) -> core.GPUArray:
    """Compute a variance or a standard deviation.

    Real dtypes with an integral `ddof` need one pass over the elements. Complex dtypes and
    fractional `ddof` need two passes.
    """
    compute = compute_dtype(name, a, dtype)
    kind = a.dtype.kind
    if kind != "c" and compute.kind == "f" and ddof == int(ddof):
        return core._variance(name, a, axis, compute, out, keepdims, None, None, int(ddof))
    real = magnitude(compute)
    elements = count(a, axis)
    a = a.astype(np.result_type(a.dtype, compute, np.complex64))
    mean = reductions.mean(a, axis=axis, keepdims=True)
    total = reductions.sum(squares(a, mean), real, axis=axis, keepdims=keepdims)
    # Division by 0 returns NaN or an infinity, as in NumPy.
    result = apply("divide", total, max(0, elements - ddof), out=total)
    if dtype is not None and compute.kind == "c":  # NumPy's variance is complex only on request
        real = reduced_dtype(getattr(np, name), a.dtype, compute)
    return finished(name, result, real, out)


def finished(
    name: str, variance: core.GPUArray, dtype: DType, out: core.GPUArray | None
) -> core.GPUArray:
    """Store the variance, or its square root for "std", in `out` or as a new array of `dtype`."""
    result = apply("sqrt", variance, out=variance) if name == "std" else variance
    return _store(result, dtype, out)


def _store(array: core.GPUArray, dtype: DType, out: core.GPUArray | None) -> core.GPUArray:
    """Copy the array into `out` and return `out`, or return the array converted to `dtype`."""
    if out is not None:
        return into(out, array)
    return array if array.dtype == dtype else array.astype(dtype)


@on_device_of_first
def ptp(
    a: core.GPUArray, axis: Axis = None, out: core.GPUArray | None = None, keepdims: bool = False
) -> core.GPUArray:
    least, most = (extreme(name, a, axis, keepdims) for name in ("min", "max"))
    return apply("subtract", most, least, out=out)


@on_device_of_first
def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> core.GPUArray:
    is_counted = apply("not_equal", require_array("a", a), 0)
    return reductions.sum(is_counted, np.int64, axis=axis, keepdims=keepdims)


def _index_of_extreme(
    name: str, a: core.GPUArray, axis: Int | None, out: core.GPUArray | None, keepdims: bool
) -> core.GPUArray:
    """Return the indices of the first maxima or minima; a NaN counts as the extreme."""
    dtype = require_array("a", a).dtype
    if dtype.kind not in "biuf":
        raise TypeError(f"{name}: a: expected real numbers, got an array of {dtype}")
    if axis is not None:
        # NumPy accepts axis 0 of a zero-dimensional array.
        axis = core._axis_index(axis, a.ndim or 1)
        return core._reduce(name, a, axis, None, out, keepdims, None, None)
    found = core._reduce(name, a.ravel(), 0, None, None, False, None, None)
    return _store(found.reshape((1,) * a.ndim if keepdims else ()), found.dtype, out)


@on_device_of_first
def argmax(
    a: core.GPUArray,
    axis: Int | None = None,
    out: core.GPUArray | None = None,
    *,
    keepdims: bool = False,
) -> core.GPUArray:
    return _index_of_extreme("argmax", a, axis, out, keepdims)


@on_device_of_first
def argmin(
    a: core.GPUArray,
    axis: Int | None = None,
    out: core.GPUArray | None = None,
    *,
    keepdims: bool = False,
) -> core.GPUArray:
    return _index_of_extreme("argmin", a, axis, out, keepdims)


@fusion.fuse
def _replaced(x: Any, nan: Any, most: Any, least: Any) -> Any:
    bounded = np.where(np.isinf(x), np.where(np.signbit(x), least, most), x)
    return np.where(np.isnan(x), nan, bounded)


@functools.lru_cache(maxsize=256)
def _limits(dtype: DType) -> tuple[DType, Any, Any]:
    """Return the dtype of the parts of a `dtype`, and its largest and smallest number."""
    real = magnitude(dtype)
    return real, np.finfo(real).max, np.finfo(real).min


def _replacement(name: str, value: Any, default: Any, real: DType) -> Any:
    """Return a number or an array of the dtype `real`."""
    if not isinstance(value, core.GPUArray):
        value = default if value is None else value
        kind_of(value)  # raises TypeError for a unit or a mask
        return real.type(value)
    if not np.can_cast(value.dtype, real, "same_kind"):
        raise TypeError(f"nan_to_num: {name}: expected real numbers, got an array of {value.dtype}")
    return value.astype(real, copy=False)


@on_device_of_first
def nan_to_num(
    x: core.GPUArray,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> core.GPUArray:
    kind = require_array("x", x).dtype.kind
    if kind not in "fc":
        return x.copy() if copy else x
    real, most, least = _limits(x.dtype)
    numbers = [
        _replacement("nan", nan, 0, real),
        _replacement("posinf", posinf, most, real),
        _replacement("neginf", neginf, least, real),
    ]
    result = core.empty_like(x) if copy else x

    def parts(array: Any) -> Any:  # real and imaginary parts are replaced separately
        return array[..., None] if isinstance(array, core.GPUArray) else array

    if kind == "f":
        _replaced(x, *numbers, out=result)
    else:
        target = parts(result).view(real)
        _replaced(parts(x).view(real), *map(parts, numbers), out=target)
    return result


@fusion.fuse
def _areas(width: Any, left: Any, right: Any) -> Any:
    return width * (left + right) / 2.0


@on_device_of_first
def trapezoid(
    y: core.GPUArray, x: core.GPUArray | None = None, dx: float = 1.0, axis: Int = -1
) -> core.GPUArray:
    axis = core._axis_index(axis, require_array("y", y).ndim)
    width: Any = dx
    if x is not None:
        along = axis if require_array("x", x).ndim > 1 else 0
        width = rearranging.diff(x, axis=along)
        if x.ndim == 1:
            width = width.reshape(*(-1 if k == axis else 1 for k in range(y.ndim)))
    left, right = (y[(slice(None),) * axis + (part,)] for part in (slice(None, -1), slice(1, None)))
    return reductions.sum(_areas(width, left, right), axis=axis)


#: Map each NumPy function to its implementation.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    getattr(np, function.__name__): function
    for function in (ptp, count_nonzero, argmax, argmin, nan_to_num)
}
FUNCTIONS[getattr(np, "trapezoid" if hasattr(np, "trapezoid") else "trapz")] = trapezoid  # NumPy 1


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
        first, last = (extreme(name, a).get()[()] for name in ("min", "max"))
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
FUNCTIONS |= {
    getattr(np, function.__name__): function for function in (searchsorted, bincount, histogram)
}
