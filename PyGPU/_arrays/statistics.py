"""NumPy's functions of statistics, of several steps on the device: ``var``, ``argmax``, ``ptp``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import fusion, ranges, reductions
from PyGPU._arrays.functions import apply, into, magnitude
from PyGPU._runtime import beside_first, core, require_array

if TYPE_CHECKING:
    from PyGPU._types import Axis, DType, DTypeLike, Int


def extreme(
    name: str, a: core.GPUArray, axis: Axis, out: core.GPUArray | None, keepdims: bool
) -> core.GPUArray:
    """Compute NumPy's max or min, whose result is NaN if any element is NaN."""
    name = f"{name}imum" if require_array("a", a).dtype.kind == "f" else name
    return core._reduce(name, a, axis, None, out, keepdims, None, None)


def _count(a: core.GPUArray, axis: Axis) -> int:
    """Return the number of elements along one or several axes; None means all."""
    axes = range(a.ndim) if axis is None else axis if np.iterable(axis) else (axis,)
    return math.prod(a.shape[core._axis_index(one, a.ndim)] for one in axes)


@fusion.fuse
def _squares(x: Any, mean: Any) -> Any:
    return np.square(x - mean)


@fusion.fuse
def _complex_squares(x: Any, mean: Any) -> Any:
    difference = x - mean
    return np.square(difference.real) + np.square(difference.imag)


def _variance(
    a: core.GPUArray, axis: Axis, dtype: DTypeLike | None, ddof: float, keepdims: bool
) -> tuple[core.GPUArray, DType]:
    """Compute the mean square of the distance from the mean, in two passes.

    The second pass subtracts the mean from each element, so that no digits cancel, as in T. F.
    Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance", The
    American Statistician 37 (1983). float16 is computed in float32.
    """
    kind = require_array("a", a).dtype.kind
    if kind not in "biufc":
        raise TypeError(f"var: a: expected numbers, got an array of {a.dtype}")
    compute = np.dtype(dtype or (np.float64 if kind in "biu" else a.dtype))
    if compute.kind not in "fc":
        raise TypeError(f"var: dtype={compute}: expected a floating-point dtype")
    result = compute
    if compute == np.float16:
        compute = np.dtype(np.float32)
    count = _count(a, axis)
    mean = reductions.mean(a, compute, axis=axis, keepdims=True)
    squares = (_complex_squares if compute.kind == "c" or kind == "c" else _squares)(a, mean)
    total = reductions.sum(squares, magnitude(compute), axis=axis, keepdims=keepdims)
    # As in NumPy, 0 / 0 is NaN, and a number / 0 infinite.
    variance = apply("divide", total, max(0, count - ddof), out=total)
    return variance, magnitude(result)


def _placed(array: core.GPUArray, dtype: DType, out: core.GPUArray | None) -> core.GPUArray:
    """Return the array in a dtype, or `out` with its elements."""
    if out is not None:
        return into(out, array)
    return array if array.dtype == dtype else array.astype(dtype)


@beside_first
def var(
    a: core.GPUArray,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> core.GPUArray:
    variance, dtype = _variance(a, axis, dtype, ddof, keepdims)
    return _placed(variance, dtype, out)


@beside_first
def std(
    a: core.GPUArray,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> core.GPUArray:
    variance, dtype = _variance(a, axis, dtype, ddof, keepdims)
    return _placed(apply("sqrt", variance, out=variance), dtype, out)


@beside_first
def ptp(
    a: core.GPUArray, axis: Axis = None, out: core.GPUArray | None = None, keepdims: bool = False
) -> core.GPUArray:
    least, most = (extreme(name, a, axis, None, keepdims) for name in ("min", "max"))
    return apply("subtract", most, least, out=out)


@beside_first
def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> core.GPUArray:
    require_array("a", a)
    is_counted: core.GPUArray = np.not_equal(a, 0)
    return reductions.sum(is_counted, np.int64, axis=axis, keepdims=keepdims)


@fusion.fuse
def _index_where(x: Any, extreme: Any, index: Any, none: Any) -> Any:
    is_extreme = np.logical_or(np.equal(x, extreme), np.not_equal(x, x))
    return np.where(is_extreme, index, none)


def _first_place(
    name: str, a: core.GPUArray, axis: Int | None, out: core.GPUArray | None, keepdims: bool
) -> core.GPUArray:
    """Compute the place of the first extreme; a NaN, if there is one, is the extreme."""
    dtype = require_array("a", a).dtype
    if dtype.kind not in "biuf":
        raise TypeError(f"arg{name}: a: expected real numbers, got an array of {dtype}")
    if axis is None:
        shape = (1,) * a.ndim if keepdims else ()
        found = _first_place(name, a.ravel(), 0, None, False).reshape(shape)
        return _placed(found, found.dtype, out)
    axis = core._axis_index(axis, a.ndim)
    length = a.shape[axis]
    if length == 0:
        raise ValueError(f"arg{name}: attempt to get arg{name} of an empty sequence")
    found = extreme(name, a, axis, None, True)
    index = ranges.arange(length, dtype=np.int64)
    index = index.reshape([length if k == axis else 1 for k in range(a.ndim)])
    places = _index_where(a, found, index, np.int64(length))
    return core._reduce("min", places, axis, None, out, keepdims, None, None)


@beside_first
def argmax(
    a: core.GPUArray,
    axis: Int | None = None,
    out: core.GPUArray | None = None,
    *,
    keepdims: bool = False,
) -> core.GPUArray:
    return _first_place("max", a, axis, out, keepdims)


@beside_first
def argmin(
    a: core.GPUArray,
    axis: Int | None = None,
    out: core.GPUArray | None = None,
    *,
    keepdims: bool = False,
) -> core.GPUArray:
    return _first_place("min", a, axis, out, keepdims)


@fusion.fuse
def _replaced(x: Any, nan: Any, most: Any, least: Any) -> Any:
    bounded = np.where(np.isinf(x), np.where(np.signbit(x), least, most), x)
    return np.where(np.isnan(x), nan, bounded)


@beside_first
def nan_to_num(
    x: core.GPUArray,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> core.GPUArray:
    kind = require_array("x", x).dtype.kind
    if kind not in "fc":
        return x.copy() if copy else x
    real = magnitude(x.dtype)
    limits = np.finfo(real)
    most, least = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    made = x.copy()
    numbers = made.ravel("K").view(real)  # real and imaginary parts are numbers of their own
    _replaced(numbers, *(real.type(one) for one in (nan, most, least)), out=numbers)
    if copy:
        return made
    x[...] = made
    return x


#: NumPy's functions, and the functions here that implement them.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (var, std, ptp, count_nonzero, argmax, argmin, nan_to_num)
}
