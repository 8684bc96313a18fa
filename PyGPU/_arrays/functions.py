"""Elementwise functions of GPUArrays: NumPy's functions by name, and those of PyGPU.gpuarray.

Operands are numbers, and arrays whose shapes broadcast. Python's numbers are weak, as in NumPy;
NumPy's scalars and zero-dimensional ndarrays count as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import tracing
from PyGPU._kernels import COMPARISONS, NAMES, promoted
from PyGPU._runtime import core, require_array

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, Casting, DType, DTypes, Kind, Operand, Out, StreamLike

__all__ = ["if_positive", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "where"]

GPUArray = core.GPUArray
_apply, _empty_for, _map = core._apply, core._empty_for, core._map
_OPERATIONS = {name: core._operation(name) for name in NAMES}
_BOOL = np.dtype(np.bool_)
_DTYPES = frozenset(map(np.dtype, core.SUPPORTED_DTYPES))


def kind_of(operand: object) -> Kind:
    """Describe an operand for `promoted`: its dtype, or a Python number's type and value.

    Values matter for integers only: NumPy rejects integers that do not fit the dtype.
    """
    if isinstance(operand, GPUArray):
        return operand.dtype
    if type(operand) in (int, bool):
        return type(operand), operand
    if type(operand) in (float, complex):
        return type(operand), 1
    if isinstance(operand, np.ndarray) and operand.ndim > 0:
        raise TypeError(
            "an operation between a GPUArray and a numpy.ndarray: send the ndarray to the device "
            "with to_gpu(), or fetch the GPUArray with .get()"
        )
    # Subclasses of ndarray may add a unit or a mask.
    has_more = isinstance(operand, np.ndarray) and type(operand) is not np.ndarray
    if isinstance(operand, (np.generic, np.ndarray)) and not has_more and operand.dtype in _DTYPES:
        return operand.dtype
    if isinstance(operand, tracing.Number):
        return kind_of(operand.traced_value)
    if isinstance(operand, (int, float, complex)) and not isinstance(operand, np.generic):
        return np.asarray(operand).dtype
    raise TypeError(f"expected arrays and numbers, got {operand!r}")


def magnitude(dtype: DType) -> DType:
    """Return the dtype of the absolute value of a `dtype`."""
    return np.absolute(np.empty(0, dtype)).dtype


def _fitting(operand: Any, dtype: DType) -> Any:
    """Convert a number to bool if `dtype` is bool; return other operands unchanged."""
    return operand if dtype != _BOOL or isinstance(operand, GPUArray) else bool(operand)


def checked_out(out: object, dtype: DType, casting: Casting) -> GPUArray:
    """Return `out` if it is a GPUArray that results of `dtype` can be cast to; else TypeError."""
    if not isinstance(out, GPUArray):
        raise TypeError(
            f"out: expected a GPUArray, got {type(out).__name__}; .get() fetches the result"
        )
    fits = np.can_cast(dtype, out.dtype, casting) and (dtype.kind != "c" or out.dtype.kind == "c")
    if not fits:
        raise TypeError(f"out: results of {dtype} do not fit into {out.dtype} ({casting=})")
    return out


def run(
    name: str,
    operands: tuple[Any, ...],
    compute: DTypes,
    results: DTypes,
    out: Out = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    casting: Casting = "same_kind",
) -> GPUArray:
    """Run an operation of PyGPU._kernels.operations; return its result, or a tuple of several.

    `compute` has the dtype that each operand is converted to, `results` the dtype of each result.
    The shape of an `out` is the operands' common shape, or one that this shape broadcasts to.
    `casting` limits the casts into `out`. New arrays have by default the first array's allocator.
    """
    if tracing.traced(operands):
        return tracing.record(
            name, operands, compute, results, out=out, stream=stream, allocator=allocator
        )
    arrays = [one for one in operands if isinstance(one, GPUArray)]
    if len(arrays) < len(operands):
        if not arrays and out is None:
            raise TypeError(f"{name}: expected at least one GPUArray, got {operands!r}")
        operands = tuple(map(_fitting, operands, compute))
    if out is None:
        made = tuple([_empty_for(operands, dtype, allocator) for dtype in results])
    else:
        made = tuple(
            [
                _empty_for(operands, dtype, allocator)
                if one is None
                else checked_out(one, dtype, casting)
                for one, dtype in zip(out if isinstance(out, tuple) else (out,), results)
            ]
        )
    _map(name, operands, compute, made, stream)
    return made[0] if len(made) == 1 else made  # type: ignore[return-value]  # rarely a tuple


def into(out: GPUArray, array: GPUArray) -> GPUArray:
    """Copy an array into `out`, cast by NumPy's "same_kind" rule, and return `out`."""
    return run("copy", (array,), (array.dtype,), (array.dtype,), out)


def typed(
    name: str, operands: tuple[Any, ...], dtype: DType | None = None, casting: Casting = "same_kind"
) -> tuple[tuple[Any, ...], DTypes, DTypes]:
    """Return the operands, compute dtypes and result dtypes of a NumPy function for :func:`run`."""
    try:
        return operands, *promoted(name, tuple(map(kind_of, operands)), dtype, casting)
    except OverflowError:
        if name not in COMPARISONS:
            raise
        # An integer beyond the range of the other operand's dtype compares like an infinity.
        tracing.require_values(operands)
        operands = tuple([tracing.computed(_as_infinity, one) for one in operands])
        return operands, *promoted(name, tuple(map(kind_of, operands)), dtype, casting)


def _as_infinity(operand: Any) -> Any:
    return np.copysign(np.inf, operand) if type(operand) is int else operand


def apply(
    name: str,
    *operands: Any,
    out: Out = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    dtype: DType | None = None,
    casting: Casting = "same_kind",
) -> GPUArray:
    """Apply a NumPy function to arrays and numbers, with NumPy's result dtypes. See :func:`run`."""
    if dtype is None:
        try:
            done: GPUArray = _apply(_OPERATIONS[name], operands, stream, allocator, out)
            if done is not NotImplemented:  # NotImplemented: `out` must be checked here
                return done
        except TypeError:
            if not tracing.traced(operands):
                raise
    operands, compute, results = typed(name, operands, dtype, casting)
    return run(name, operands, compute, results, out, stream, allocator, casting)


def where(
    criterion: Operand,
    then_: Operand,
    else_: Operand,
    out: GPUArray | None = None,
    stream: StreamLike = None,
) -> GPUArray:
    """Choose elements of `then_` where `criterion` is not zero, and of `else_` elsewhere.

    Parameters
    ----------
    criterion, then_, else_ : GPUArray or number
        Condition and alternatives, of any dtypes; the shapes broadcast.
    out : GPUArray, optional
        Array for the result; a new array by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        The chosen elements, in the dtype that NumPy promotes `then_` and `else_` to.

    See Also
    --------
    if_positive : Choose where the criterion is greater than zero.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([-1.0, 0.0, 2.0]))
    >>> gpuarray.where(a, a, 9.0)
    array([-1.,  9.,  2.])
    """
    return apply("where", criterion, then_, else_, out=out, stream=stream)


def if_positive(
    criterion: Operand,
    then_: Operand,
    else_: Operand,
    out: GPUArray | None = None,
    stream: StreamLike = None,
) -> GPUArray:
    """Choose elements of `then_` where `criterion` is greater than zero, else of `else_`.

    Parameters
    ----------
    criterion, then_, else_ : GPUArray or number
        Condition and alternatives, of any dtypes; the shapes broadcast.
    out : GPUArray, optional
        Array for the result; a new array by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        The chosen elements, in the dtype that NumPy promotes `then_` and `else_` to.

    See Also
    --------
    where : Choose where the criterion is not zero.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([-1.0, 0.0, 2.0]))
    >>> gpuarray.if_positive(a, a, 9.0)
    array([9., 9., 2.])
    """
    return apply("if_positive", criterion, then_, else_, out=out, stream=stream)


def _weak(value: Any) -> Any:
    """Convert NumPy's scalars to Python's, which are weak: the result keeps the array's dtype."""
    if isinstance(value, tracing.Number):
        return tracing.computed(_weak, value)
    return value.item() if isinstance(value, np.generic) else value


def maximum(
    a: Operand, b: Operand, out: GPUArray | None = None, stream: StreamLike = None
) -> GPUArray:
    """Return the larger of two elements, ignoring NaN unless both are NaN.

    Parameters
    ----------
    a, b : GPUArray or number
        Operands; the shapes broadcast. A Python or NumPy number of the array's kind does not
        change the array's dtype.
    out : GPUArray, optional
        Array for the result; a new array by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        The larger elements, in the dtype that NumPy promotes `a` and `b` to.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.maximum(gpuarray.to_gpu(np.array([1.0, np.nan])), 0.5)
    array([1. , 0.5])
    """
    return apply("fmax", _weak(a), _weak(b), out=out, stream=stream)


def minimum(
    a: Operand, b: Operand, out: GPUArray | None = None, stream: StreamLike = None
) -> GPUArray:
    """Return the smaller of two elements, ignoring NaN unless both are NaN.

    Parameters
    ----------
    a, b : GPUArray or number
        Operands, as in :func:`maximum`.
    out : GPUArray, optional
        Array for the result; a new array by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        The smaller elements, in the dtype that NumPy promotes `a` and `b` to.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.minimum(gpuarray.to_gpu(np.array([1.0, np.nan])), 0.5)
    array([0.5, 0.5])
    """
    return apply("fmin", _weak(a), _weak(b), out=out, stream=stream)


def _truth(number: object) -> bool:
    kind_of(number)  # raises TypeError if it is not a number
    return bool(number)


def _logical(
    name: str, operands: tuple[Any, ...], out: GPUArray | None, allocator: AllocatorLike | None
) -> GPUArray:
    if out is not None and require_array("out", out).dtype != _BOOL:
        raise TypeError(f"out: expected bool, got {out.dtype}")
    kept = GPUArray, tracing.Number
    values = [one if isinstance(one, kept) else _truth(one) for one in operands]
    if not any(isinstance(one, kept) for one in values):
        values[0] = core.to_gpu(np.array(values[0]))
    return apply(name, *values, out=out, allocator=allocator)


def logical_and(
    x1: Operand,
    x2: Operand,
    /,
    out: GPUArray | None = None,
    *,
    allocator: AllocatorLike | None = None,
) -> GPUArray:
    """Compute the truth value of ``x1 and x2`` for each pair of elements.

    Parameters
    ----------
    x1, x2 : GPUArray or number
        Operands; zero is false, everything else, NaN included, is true.
    out : GPUArray, optional
        Array of bool for the result; a new array by default.
    allocator : callable, optional
        Allocator of a new array; by default that of the first array operand.

    Returns
    -------
    GPUArray
        The truth values, of dtype bool.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.logical_and(gpuarray.to_gpu(np.array([0, 1, 2])), 3)
    array([False,  True,  True])
    """
    return _logical("logical_and", (x1, x2), out, allocator)


def logical_or(
    x1: Operand,
    x2: Operand,
    /,
    out: GPUArray | None = None,
    *,
    allocator: AllocatorLike | None = None,
) -> GPUArray:
    """Compute the truth value of ``x1 or x2`` for each pair of elements.

    Parameters
    ----------
    x1, x2 : GPUArray or number
        Operands; zero is false, everything else, NaN included, is true.
    out : GPUArray, optional
        Array of bool for the result; a new array by default.
    allocator : callable, optional
        Allocator of a new array; by default that of the first array operand.

    Returns
    -------
    GPUArray
        The truth values, of dtype bool.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.logical_or(gpuarray.to_gpu(np.array([0, 1, 2])), 0)
    array([False,  True,  True])
    """
    return _logical("logical_or", (x1, x2), out, allocator)


def logical_not(
    x: Operand, /, out: GPUArray | None = None, *, allocator: AllocatorLike | None = None
) -> GPUArray:
    """Compute the truth value of ``not x`` for each element.

    Parameters
    ----------
    x : GPUArray or number
        Operand; zero is false, everything else, NaN included, is true.
    out : GPUArray, optional
        Array of bool for the result; a new array by default.
    allocator : callable, optional
        Allocator of a new array; the allocator of `x` by default.

    Returns
    -------
    GPUArray
        The truth values, of dtype bool.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.logical_not(gpuarray.to_gpu(np.array([0, 1, 2])))
    array([ True, False, False])
    """
    return _logical("logical_not", (x,), out, allocator)


#: The NumPy ufuncs that are implemented, and the names of their operations.
UFUNCS = {
    getattr(np, name): name for name in NAMES if isinstance(getattr(np, name, None), np.ufunc)
}
UFUNCS.update({np.degrees: "rad2deg", np.radians: "deg2rad"})

#: GPUArray's methods for the ufuncs of comparison operators whose operands are swapped.
REFLECTED = {
    **{np.equal: "__eq__", np.not_equal: "__ne__", np.less: "__gt__", np.less_equal: "__ge__"},
    **{np.greater: "__lt__", np.greater_equal: "__le__"},
}
