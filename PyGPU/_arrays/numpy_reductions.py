"""NumPy's reductions with NumPy's dtypes, and with ``where=`` and ``initial=``.

The operation's identity replaces the elements where ``where`` is false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from PyGPU._arrays import functions, missing, ranges, reductions, statistics
from PyGPU._arrays.functions import apply
from PyGPU._kernels import accumulated, reduced_dtype
from PyGPU._runtime import core, on_device_of_first, require_array

if TYPE_CHECKING:
    from PyGPU._types import Axis, DType, DTypeLike, Int


class _Reduction(NamedTuple):
    """A NumPy reduction: its name in the core, and the ufunc that combines two elements."""

    function: Callable[..., Any]
    core: str
    ufunc: np.ufunc
    identity: int | None  # None for max and min, which have no identity
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
    """Return the reduction's name in the core, which depends on how NaN is treated."""
    name = reduction.core
    if dtype.kind not in "fc" or reduction.ufunc in (np.logical_or, np.logical_and):
        return name
    if reduction.identity is None:
        return name if reduction.skips_nan else statistics.name_of_extreme(name, dtype)
    return f"nan{name}" if reduction.skips_nan else name


def _replace_excluded(name: str, a: core.GPUArray, where: Any, identity: Any) -> core.GPUArray:
    """Return an array in which `identity` replaces the elements where `where` is false."""
    if where is True:
        return a
    try:
        selected = functions.where(where, a, a.dtype.type(identity))
    except ValueError as error:
        raise ValueError(f"{name}: where: {error}") from None
    if selected.shape != a.shape:
        raise ValueError(
            f"{name}: where: shape {where.shape} does not broadcast to the shape of a, {a.shape}"
        )
    return selected


@on_device_of_first
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
    identity = initial if reduction.identity is None else reduction.identity
    if identity is None:
        raise ValueError(
            f"{reduction.name}: where= requires initial=, the result if no element is selected"
        )
    if reduction.core in ("any", "all") and where is not True:
        a = apply("not_equal", a, 0)
    a = _replace_excluded(reduction.name, a, where, identity)
    if initial is None:
        return core._reduce(name, a, axis, dtype, out, keepdims, None, None)
    if reduction.identity is None and a.size == 0:
        shape = core._reduce("sum", a, axis, None, None, keepdims, None, None).shape
        result = ranges.full(shape, initial, a.dtype)
    else:
        result = core._reduce(name, a, axis, dtype, None, keepdims, None, None)
    functions.kind_of(initial)  # raises TypeError for a unit or a mask
    number = core._element(result.dtype, initial, "initial")[()]
    return apply(reduction.ufunc.__name__, result, number, out=out)


#: Reductions by the names of GPUArray's methods, whose maximum and minimum ignore NaN.
_METHODS = {
    **{"sum": _SUM, "prod": _PROD, "any": _ANY, "all": _ALL},
    **{"max": _NANMAX._replace(function=np.max), "min": _NANMIN._replace(function=np.min)},
}


def selected(name: str, a: core.GPUArray, initial: Any, where: Any, *given: Any) -> core.GPUArray:
    """Compute a method of GPUArray with ``initial=`` or ``where=``."""
    axis, dtype, out, keepdims, stream, allocator = given
    if stream is not None or allocator is not None:
        raise TypeError(f"{name}: initial= and where= exclude stream= and allocator=")
    if name == "mean" and initial is None:
        return mean(a, axis, dtype, out, keepdims, where=where)
    if name == "mean":
        raise TypeError(f"mean: initial={initial!r}: mean has no initial number")
    return _reduced(a, _METHODS[name], axis, dtype, out, keepdims, initial, where)


def _result_dtype(
    function: Callable[..., Any],
    a: core.GPUArray,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
) -> DType | None:
    """Return the dtype of a reduction's result, or None if `out` determines it.

    Without `out`, NumPy widens small integers.
    """
    dtype = None if dtype is None else np.dtype(dtype)
    if dtype is None and out is not None:
        return None
    return reduced_dtype(function, require_array("a", a).dtype, dtype)


def _total(reduction: _Reduction) -> Callable[..., core.GPUArray]:
    """Return a function with the signature of numpy.sum that computes `reduction`."""

    def total(
        a: core.GPUArray,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> core.GPUArray:
        result_dtype = _result_dtype(reduction.function, a, dtype, out)
        return _reduced(a, reduction, axis, result_dtype, out, keepdims, initial, where)

    return total


def _without_dtype(reduction: _Reduction) -> Callable[..., core.GPUArray]:
    """Return a function with the signature of numpy.max that computes `reduction`."""

    def reduced(
        a: core.GPUArray,
        axis: Axis = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> core.GPUArray:
        return _reduced(a, reduction, axis, None, out, keepdims, initial, where)

    return reduced


def _exclude_nan(a: core.GPUArray, where: Any) -> Any:
    """Return `where`, with False where an element is NaN."""
    if a.dtype.kind not in "fc":
        return where
    is_not_nan = apply("logical_not", apply("isnan", a))
    return is_not_nan if where is True else apply("logical_and", is_not_nan, where)


def _count_selected(
    name: str, a: core.GPUArray, where: Any, axis: Axis, keepdims: bool
) -> core.GPUArray:
    """Count the elements where `where` is true."""
    ones = ranges.full(a.shape, True, np.dtype(np.bool_))
    return reductions.sum(
        _replace_excluded(name, ones, where, False), np.int64, axis=axis, keepdims=keepdims
    )


def _divide(
    total: core.GPUArray, count: core.GPUArray, dtype: DType, out: core.GPUArray | None
) -> core.GPUArray:
    """Divide sums by counts, and return the quotients in `dtype` or in `out`."""
    real = functions.magnitude(total.dtype)
    result = apply("divide", total, count.astype(real), out=out)
    return result if out is not None or result.dtype == dtype else result.astype(dtype)


@on_device_of_first
def mean(
    a: core.GPUArray,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> core.GPUArray:
    result_dtype = _result_dtype(np.mean, a, dtype, out)
    if where is True:
        return reductions.mean(a, result_dtype, axis=axis, out=out, keepdims=keepdims)
    result_dtype = result_dtype or reduced_dtype(np.mean, a.dtype, None)
    selected = _replace_excluded("mean", a, where, 0)
    total = reductions.sum(selected, accumulated(result_dtype), axis=axis, keepdims=keepdims)
    return _divide(total, _count_selected("mean", a, where, axis, keepdims), result_dtype, out)


@on_device_of_first
def nanmean(
    a: core.GPUArray,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> core.GPUArray:
    selected = _exclude_nan(require_array("a", a), where)
    return mean(a, axis, dtype, out, keepdims, where=selected)


def _variance_where(
    name: str,
    a: core.GPUArray,
    axis: Axis,
    dtype: DTypeLike | None,
    out: core.GPUArray | None,
    ddof: float,
    keepdims: bool,
    where: Any,
    given_mean: core.GPUArray | None,
    skips_nan: bool,
) -> core.GPUArray:
    """Compute the variance or standard deviation of the elements where `where` is true.

    `given_mean` is the mean of these elements, with all axes kept; None if it must be computed.
    """
    if where is True and given_mean is None:
        return statistics.variance(name, a, axis, dtype, out, ddof, keepdims)
    statistics.compute_dtype(name, a, dtype)  # raises TypeError for integer dtypes
    result_dtype = reduced_dtype(
        getattr(np, name), a.dtype, None if dtype is None else np.dtype(dtype)
    )
    compute = np.result_type(accumulated(result_dtype), accumulated(a.dtype))
    if given_mean is None:
        given_mean = mean(a, axis, compute, None, True, where=where)
    squares = _replace_excluded(name, statistics.squares(a.astype(compute), given_mean), where, 0)
    total = reductions.sum(squares, axis=axis, keepdims=keepdims)
    count = apply("subtract", _count_selected(name, a, where, axis, keepdims), ddof)
    least = np.nan if skips_nan and a.dtype.kind in "fc" else 0
    count = functions.where(apply("greater", count, 0), count, least)
    variance = _divide(total, count, total.dtype, None)
    return statistics.finished(name, variance, result_dtype, out)


def _variance(name: str, skips_nan: bool) -> Callable[..., core.GPUArray]:
    """Return a function with the signature of numpy.var that computes a variance or its root.

    `name` is "var" or "std". With `skips_nan`, NaN is ignored.
    """

    @on_device_of_first
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
            where = _exclude_nan(require_array("a", a), where)
        if correction is not None:
            if ddof != 0:
                raise ValueError(
                    f"{name}: ddof={ddof} and correction={correction}: pass only one of them"
                )
            ddof = correction
        if mean is not None:
            require_array("mean", mean)
        return _variance_where(name, a, axis, dtype, out, ddof, keepdims, where, mean, skips_nan)

    return variance


def _nanarg(name: str) -> Callable[..., core.GPUArray]:
    """Return a function with the signature of numpy.argmax that ignores NaN."""
    index_of_extreme = getattr(statistics, name)
    replacement = -np.inf if name == "argmax" else np.inf

    @on_device_of_first
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
            a = functions.where(is_nan, a.dtype.type(replacement), a)
        found: core.GPUArray = index_of_extreme(a, axis, out, keepdims=keepdims)
        return found

    return find


_TABLE: dict[Callable[..., Any], Callable[..., core.GPUArray]] = {
    **{np.sum: _total(_SUM), np.prod: _total(_PROD)},
    **{np.nansum: _total(_NANSUM), np.nanprod: _total(_NANPROD)},
    **{np.max: _without_dtype(_MAX), np.min: _without_dtype(_MIN)},
    **{np.nanmax: _without_dtype(_NANMAX), np.nanmin: _without_dtype(_NANMIN)},
    **{np.any: _without_dtype(_ANY), np.all: _without_dtype(_ALL)},
}
#: Map each ufunc to the implementation of its method ``reduce``.
UFUNC_REDUCTIONS: dict[np.ufunc, Callable[..., core.GPUArray]] = {
    **{np.add: _TABLE[np.sum], np.multiply: _TABLE[np.prod]},
    **{np.maximum: _TABLE[np.max], np.minimum: _TABLE[np.min]},
    **{np.fmax: _TABLE[np.nanmax], np.fmin: _TABLE[np.nanmin]},
    **{np.logical_and: _TABLE[np.all], np.logical_or: _TABLE[np.any]},
}


def reduce(
    ufunc: np.ufunc, a: core.GPUArray, out: core.GPUArray | None = None, **kwargs: Any
) -> core.GPUArray:
    """Compute ``ufunc.reduce``, along the first axis by default."""
    name = f"{missing.name_of(ufunc)}.reduce"
    if ufunc not in UFUNC_REDUCTIONS:
        raise missing.not_implemented(name)
    kwargs.setdefault("axis", 0 if a.ndim else None)
    if kwargs.get("dtype", a) is None:
        del kwargs["dtype"]
    function = UFUNC_REDUCTIONS[ufunc]
    try:
        return function(a, out=out, **kwargs)
    except TypeError:
        missing.refuse_unknown(name, function, kwargs)
        raise


#: Map each NumPy function to its implementation.
FUNCTIONS: dict[Callable[..., Any], Callable[..., core.GPUArray]] = {
    **_TABLE,
    **{np.amax: _TABLE[np.max], np.amin: _TABLE[np.min]},
    **{np.mean: mean, np.nanmean: nanmean},
    **{np.var: _variance("var", False), np.std: _variance("std", False)},
    **{np.nanvar: _variance("var", True), np.nanstd: _variance("std", True)},
    **{np.nanargmax: _nanarg("argmax"), np.nanargmin: _nanarg("argmin")},
}
