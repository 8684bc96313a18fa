"""NumPy's functions on GPUArray: ``__array_ufunc__`` and ``__array_function__``.

The work stays on the device, and the results have NumPy's dtypes. A function that is not
implemented raises TypeError; no array is silently copied to the host.

`__array_ufunc__` also receives operators whose left operand is a scalar or array of NumPy. The
results of ``numpy.float32(2) * a`` and of ``numpy.multiply`` agree: the dtype of NumPy's scalar
takes part in promotion in both. Comparisons differ under PYGPU_COMPARISONS=pycuda: operators return
the operands' dtype, and ufuncs return bool. NumPy calls the ufunc of a comparison operator with the
scalar on the left as a zero-dimensional array, which it creates in no other case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import (
    accumulations,
    missing,
    numpy_creation,
    numpy_functions,
    numpy_reductions,
    numpy_selection,
    rearranging,
    spacing,
    statistics,
    tracing,
)
from PyGPU._arrays.functions import REFLECTED, UFUNCS, apply, checked_out, kind_of
from PyGPU._arrays.functions import where as choose
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import Casting

GPUArray = core.GPUArray

#: Map each NumPy function to its implementation.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **numpy_functions.FUNCTIONS,
    **numpy_reductions.FUNCTIONS,
    **accumulations.FUNCTIONS,
    **numpy_selection.FUNCTIONS,
    **rearranging.FUNCTIONS,
    **spacing.FUNCTIONS,
    **statistics.FUNCTIONS,
}

_Array: Any = GPUArray
# Operators of GPUArray that compute the same as a ufunc, with less overhead.
_OPERATORS: dict[np.ufunc, Callable[..., Any]] = {
    **{np.add: _Array.__add__, np.subtract: _Array.__sub__, np.multiply: _Array.__mul__},
    **{np.divide: _Array.__truediv__, np.power: _Array.__pow__},
    **{np.negative: _Array.__neg__, np.absolute: _Array.__abs__},
}
_WEAK = (int, float)  # types that need no further check to be a number
_OPERANDS = GPUArray, int, float, np.generic


def _is_foreign(value: object) -> bool:
    """Test whether another library's class defines ``__array_ufunc__`` for the value."""
    own = getattr(type(value), "__array_ufunc__", np.ndarray.__array_ufunc__)
    known = GPUArray, np.generic, tracing.Number
    return not isinstance(value, known) and own is not np.ndarray.__array_ufunc__


def _where(where: Any, made: Any, out: Any, casting: Casting) -> Any:
    """Store the elements where `where` is true in `out` or in new arrays, and return the arrays.

    Other elements of new arrays are unspecified. A mask with more axes than the operands broadcasts
    the results, as in NumPy.
    """
    results = made if isinstance(made, tuple) else (made,)
    targets = out or (None,) * len(results)
    chosen = []
    for result, target in zip(results, targets):
        if target is None:
            chosen.append(choose(where, result, result))
        else:
            checked_out(target, result.dtype, casting)
            same = result if result.dtype == target.dtype else result.astype(target.dtype)
            chosen.append(choose(where, same, target, out=target))
    return tuple(chosen) if isinstance(made, tuple) else chosen[0]


def array_ufunc(self: GPUArray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Implement GPUArray.__array_ufunc__.

    Raises
    ------
    TypeError
        A ufunc, method or argument is not implemented, or an operand is an ndarray with axes.
    """
    if method == "__call__" and not kwargs:
        first = inputs[0]
        if isinstance(first, GPUArray):
            if ufunc in _OPERATORS:
                result = _OPERATORS[ufunc](*inputs)
                if result is not NotImplemented:
                    return result
            elif ufunc in UFUNCS:
                last = inputs[-1]
                if isinstance(last, GPUArray) or type(last) in _WEAK:
                    return apply(UFUNCS[ufunc], *inputs)
        elif type(first) is np.ndarray and first.ndim == 0 and ufunc in REFLECTED:
            return getattr(inputs[1], REFLECTED[ufunc])(first[()])
    given = kwargs.pop("out", ())
    is_plain = method == "__call__" and len(given) == 1 and not kwargs and ufunc in UFUNCS
    if is_plain and all(isinstance(one, _OPERANDS) for one in (*inputs, *given)):
        return apply(UFUNCS[ufunc], *inputs, out=given[0])
    if any(map(_is_foreign, (*inputs, *given))):
        return NotImplemented
    if method not in ("__call__", "reduce"):
        raise missing.not_implemented(f"{missing.name_of(ufunc)}.{method}")
    for operand in inputs:
        kind_of(operand)  # raises TypeError for arrays on the host
    if method == "reduce":
        return numpy_reductions.reduce(ufunc, *inputs, *given, **kwargs)
    if ufunc not in UFUNCS:
        raise missing.not_implemented(missing.name_of(ufunc))
    if (order := kwargs.pop("order", "K")) != "K":
        raise TypeError(f"{missing.name_of(ufunc)}: order={order!r}: expected 'K'")
    kwargs.pop("subok", None)
    where = kwargs.pop("where", True)
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    if kwargs:
        raise TypeError(
            f"{missing.name_of(ufunc)}: {', '.join(kwargs)}: not implemented for GPUArray"
        )
    dtype = None if dtype is None else np.dtype(dtype)
    out = (given if len(given) > 1 else given[0]) if given else None
    if where is not True:
        if ufunc is np.power and isinstance(inputs[1], GPUArray):  # others may be negative
            inputs = inputs[0], choose(where, inputs[1], inputs[1].dtype.type(0))
        made = apply(UFUNCS[ufunc], *inputs, dtype=dtype, casting=casting)
        return _where(where, made, given, casting)
    return apply(UFUNCS[ufunc], *inputs, out=out, dtype=dtype, casting=casting)


def array_function(
    self: GPUArray,
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Implement GPUArray.__array_function__; raise TypeError for unimplemented functions."""
    for one in types:
        if one is not GPUArray and not issubclass(one, (GPUArray, np.ndarray)):
            return NotImplemented
    implementation = FUNCTIONS.get(func)
    if implementation is None:
        name = f"{func.__module__}.{func.__name__}"
        return numpy_creation.create(self, func, name, args, kwargs)
    try:
        return implementation(*args, **kwargs)
    except TypeError:
        missing.refuse_unknown(f"{func.__module__}.{func.__name__}", implementation, kwargs)
        raise


#: Methods of the class GPUArray.
METHODS = {"__array_ufunc__": array_ufunc, "__array_function__": array_function}
