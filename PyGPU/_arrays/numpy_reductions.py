"""NumPy's reductions with NumPy's dtypes, and with ``where=`` and ``initial=``.

Elements that ``where`` leaves out are replaced by the operation's neutral element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._arrays import functions, missing, ranges, reductions, statistics
from PyGPU._arrays.functions import apply
from PyGPU._kernels import accumulated, reduced_dtype
from PyGPU._runtime import beside_first, core, require_array

if TYPE_CHECKING:
    from PyGPU._types import Axis, DType, DTypeLike, Int


class _Reduction(NamedTuple):
    """A reduction of NumPy: its name in the core, and the ufunc that combines two elements."""

    function: Callable[..., Any]
    core: str
    ufunc: np.ufunc
    neutral: int | None  # None: an extreme, which has none
    skips_nan: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__


_SUM = _Reduction(np.sum, "sum", np.add, 0)
_PROD = _Reduction(np.prod, "prod", np.multiply, 1)
_NANSUM = _Reduction(np.nansum, "sum", np.add, 0, True)
_NANPROD = _Reduction(np.nanprod, "prod", np.multiply, 1, True)
_MAX = _Reduction(np.max, "max", np.maximum, None)
_MIN = _Reduction(np.min, "min", np.minimum, None)
_NANMAX = _Reduction(np.nanmax, "max", np.fmax, None, True)
_NANMIN = _Reduction(np.nanmin, "min", np.fmin, None, True)
_ANY = _Reduction(np.any, "any", np.logical_or, 0)
_ALL = _Reduction(np.all, "all", np.logical_and, 1)


def _name_in_core(reduction: _Reduction, dtype: DType) -> str:
    """Return the core's name: its sums know NaN by a prefix, its extremes by another name."""
    name = reduction.core
    if dtype.kind not in "fc" or reduction.ufunc in (np.logical_or, np.logical_and):
        return name
    if reduction.neutral is None:
        return name if reduction.skips_nan else statistics.name_of_extreme(name, dtype)
    return f"nan{name}" if reduction.skips_nan else name


def _chosen(name: str, a: core.GPUArray, where: Any, neutral: Any) -> core.GPUArray:
    """Return the array with a neutral element in place of what `where` leaves out."""
    if where is True:
        return a
    try:
        chosen = functions.where(where, a, a.dtype.type(neutral))
    except ValueError as error:
        raise ValueError(f"{name}: where: {error}") from None
    if chosen.shape != a.shape:
        raise ValueError(
            f"{name}: where: shape {where.shape} does not broadcast to that of a, {a.shape}"
        )
    return chosen


def _full_result(a: core.GPUArray, axis: Axis, keepdims: bool, value: Any) -> core.GPUArray:
    """Return the result of a reduction of no elements: `value` everywhere."""
    reduced = reductions.sum(a, axis=axis, keepdims=keepdims)
    return ranges.full(reduced.shape, value, a.dtype)


@beside_first
def _reduced(
    a: core.GPUArray,
    reduction: _Reduction,
    axis: Axis,
    dtype: DType | None,
    out: core.GPUArray | None,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> core.GPUArray:
    name = _name_in_core(reduction, require_array("a", a).dtype)
    if initial is None and where is True:
        return core._reduce(name, a, axis, dtype, out, keepdims, None, None)
    neutral = reduction.neutral
    if neutral is None:
        if initial is None:
            raise ValueError(
                f"{reduction.name}: where needs initial, because an extreme of no elements has no "
                "value"
            )
        neutral = initial
    if reduction.core in ("any", "all") and where is not True:
        a = apply("not_equal", a, 0)
    a = _chosen(reduction.name, a, where, neutral)
    if initial is None:
        return core._reduce(name, a, axis, dtype, out, keepdims, None, None)
    if reduction.neutral is None and a.size == 0:
        result = _full_result(a, axis, keepdims, initial)
    else:
        result = core._reduce(name, a, axis, dtype, None, keepdims, None, None)
    return apply(reduction.ufunc.__name__, result, result.dtype.type(initial), out=out)


def _asked(
    function: Callable[..., Any],
    a: core.GPUArray,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
) -> DType | None:
    """Return the dtype of a reduction: without `out`, NumPy widens small integers."""
    dtype = None if dtype is None else np.dtype(dtype)
    if dtype is None and out is not None:
        return None
    return reduced_dtype(function, require_array("a", a).dtype, dtype)


def _total(reduction: _Reduction) -> Callable[..., core.GPUArray]:
    """Return NumPy's sum or product."""

    def total(
        a: core.GPUArray,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> core.GPUArray:
        asked = _asked(reduction.function, a, dtype, out)
        return _reduced(a, reduction, axis, asked, out, keepdims, initial, where)

    return total


def _extreme(reduction: _Reduction) -> Callable[..., core.GPUArray]:
    """Return NumPy's largest or smallest element."""

    def extreme(
        a: core.GPUArray,
        axis: Axis = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> core.GPUArray:
        return _reduced(a, reduction, axis, None, out, keepdims, initial, where)

    return extreme


def _test(reduction: _Reduction) -> Callable[..., core.GPUArray]:
    """Return NumPy's test of all or any elements."""

    def test(
        a: core.GPUArray,
        axis: Axis = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        *,
        initial: Any = None,
        where: Any = True,
    ) -> core.GPUArray:
        return _reduced(a, reduction, axis, None, out, keepdims, initial, where)

    return test


def _is_number(a: core.GPUArray, where: Any) -> Any:
    """Return `where` without the elements that are NaN."""
    if a.dtype.kind not in "fc":
        return where
    is_number = apply("logical_not", apply("isnan", a))
    return is_number if where is True else apply("logical_and", is_number, where)


def _counted(name: str, a: core.GPUArray, where: Any, axis: Axis, keepdims: bool) -> core.GPUArray:
    """Return the number of elements that `where` chooses."""
    ones = ranges.full(a.shape, True, np.dtype(np.bool_))
    return reductions.sum(_chosen(name, ones, where, False), np.int64, axis=axis, keepdims=keepdims)


def _divided(
    total: core.GPUArray, count: core.GPUArray, dtype: DType, out: core.GPUArray | None
) -> core.GPUArray:
    real = functions.magnitude(total.dtype)
    result = apply("divide", total, count.astype(real), out=out)
    return result if out is not None or result.dtype == dtype else result.astype(dtype)


@beside_first
def mean(
    a: core.GPUArray,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> core.GPUArray:
    asked = _asked(np.mean, a, dtype, out)
    if where is True:
        return reductions.mean(a, asked, axis=axis, out=out, keepdims=keepdims)
    asked = asked or reduced_dtype(np.mean, a.dtype, None)
    chosen = _chosen("mean", a, where, 0)
    total = reductions.sum(chosen, accumulated(asked), axis=axis, keepdims=keepdims)
    return _divided(total, _counted("mean", a, where, axis, keepdims), asked, out)


@beside_first
def nanmean(
    a: core.GPUArray,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> core.GPUArray:
    chosen = _is_number(require_array("a", a), where)
    return mean(a, axis, dtype, out, keepdims, where=chosen)


def _variance_of(
    name: str,
    a: core.GPUArray,
    axis: Axis,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
    ddof: float,
    keepdims: bool,
    where: Any,
    middle: core.GPUArray | None,
) -> core.GPUArray:
    """Compute the variance, or its root, of the elements that `where` chooses.

    `middle` is their mean, if the caller knows it, with all axes.
    """
    if where is True and middle is None:
        return statistics.variance(name, a, axis, dtype, out, ddof, keepdims)
    statistics.compute_dtype(name, a, dtype)  # raises TypeError for dtypes without fractions
    asked = reduced_dtype(getattr(np, name), a.dtype, None if dtype is None else np.dtype(dtype))
    compute = np.result_type(accumulated(asked), accumulated(a.dtype))
    if middle is None:
        middle = mean(a, axis, compute, None, True, where=where)
    squares = _chosen(name, statistics.squares(a.astype(compute), middle), where, 0)
    total = reductions.sum(squares, axis=axis, keepdims=keepdims)
    count = apply("subtract", _counted(name, a, where, axis, keepdims), ddof)
    variance = _divided(total, apply("maximum", count, 0), total.dtype, None)
    return statistics.finished(name, variance, asked, out)


def _variance(name: str, skips_nan: bool) -> Callable[..., core.GPUArray]:
    """Return NumPy's variance or standard deviation."""

    @beside_first
    def variance(
        a: core.GPUArray,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: core.GPUArray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: core.GPUArray | None = None,
        correction: float | None = None,
    ) -> core.GPUArray:
        if skips_nan:
            where = _is_number(require_array("a", a), where)
        if correction is not None:
            if ddof != 0:
                raise ValueError(f"{name}: ddof={ddof} and correction={correction}: expected one")
            ddof = correction
        if mean is not None:
            require_array("mean", mean)
        return _variance_of(name, a, axis, dtype, out, ddof, keepdims, where, mean)

    return variance


def _place_of_number(name: str) -> Callable[..., core.GPUArray]:
    """Return NumPy's place of an extreme that leaves NaN out."""
    place = getattr(statistics, name)
    beyond = -np.inf if name == "argmax" else np.inf

    @beside_first
    def find(
        a: core.GPUArray,
        axis: Int | None = None,
        out: core.GPUArray | None = None,
        *,
        keepdims: bool = False,
    ) -> core.GPUArray:
        if require_array("a", a).dtype.kind == "f":
            is_nan = apply("isnan", a)
            if bool(reductions.all(is_nan, axis=axis).get().any()):
                raise ValueError(f"nan{name}: All-NaN slice encountered")
            a = functions.where(is_nan, a.dtype.type(beyond), a)
        found: core.GPUArray = place(a, axis, out, keepdims=keepdims)
        return found

    return find


_TABLE: dict[Callable[..., Any], Callable[..., core.GPUArray]] = {
    **{np.sum: _total(_SUM), np.prod: _total(_PROD)},
    **{np.nansum: _total(_NANSUM), np.nanprod: _total(_NANPROD)},
    **{np.max: _extreme(_MAX), np.min: _extreme(_MIN)},
    **{np.nanmax: _extreme(_NANMAX), np.nanmin: _extreme(_NANMIN)},
    **{np.any: _test(_ANY), np.all: _test(_ALL)},
}
#: The functions whose ufuncs have a method ``reduce``.
OF_UFUNCS: dict[np.ufunc, Callable[..., core.GPUArray]] = {
    **{np.add: _TABLE[np.sum], np.multiply: _TABLE[np.prod]},
    **{np.maximum: _TABLE[np.max], np.minimum: _TABLE[np.min]},
    **{np.fmax: _TABLE[np.nanmax], np.fmin: _TABLE[np.nanmin]},
    **{np.logical_and: _TABLE[np.all], np.logical_or: _TABLE[np.any]},
}


def reduce(
    ufunc: np.ufunc, a: core.GPUArray, out: core.GPUArray | None = None, **kwargs: Any
) -> core.GPUArray:
    """Compute ``ufunc.reduce``, along the first axis by default."""
    name = f"numpy.{ufunc.__name__}.reduce"
    if ufunc not in OF_UFUNCS:
        raise missing.not_implemented(name)
    kwargs.setdefault("axis", 0 if a.ndim else None)
    if kwargs.get("dtype", a) is None:
        del kwargs["dtype"]
    function = OF_UFUNCS[ufunc]
    try:
        return function(a, out=out, **kwargs)
    except TypeError:
        missing.refuse_unknown(name, function, kwargs)
        raise


#: NumPy's functions, and the functions here that implement them.
FUNCTIONS: dict[Callable[..., Any], Callable[..., core.GPUArray]] = {
    **_TABLE,
    **{np.amax: _TABLE[np.max], np.amin: _TABLE[np.min]},
    **{np.mean: mean, np.nanmean: nanmean},
    **{np.var: _variance("var", False), np.std: _variance("std", False)},
    **{np.nanvar: _variance("var", True), np.nanstd: _variance("std", True)},
    **{np.nanargmax: _place_of_number("argmax"), np.nanargmin: _place_of_number("argmin")},
}
