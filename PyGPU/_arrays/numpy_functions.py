"""NumPy's functions for GPUArray that belong to no other module: ``where``, ``clip``, ``round``.

They follow NumPy's rules. A parameter of NumPy's function that is not implemented here raises
TypeError.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import (
    functions,
    methods,
    missing,
    ranges,
    reductions,
    statistics,
    tracing,
)
from PyGPU._arrays.functions import apply, magnitude, run
from PyGPU._arrays.joining import transpose
from PyGPU._arrays.methods import imag, real
from PyGPU._kernels import promoted
from PyGPU._runtime import core, require_array

if TYPE_CHECKING:
    from PyGPU._types import Axis, Casting, DType, DTypeLike, Int, Operand, OrderLike, Shape


def dot(a: core.GPUArray, b: core.GPUArray, out: core.GPUArray | None = None) -> core.GPUArray:
    for name, array in (("a", a), ("b", b)):
        if require_array(name, array).ndim != 1:
            raise TypeError(f"numpy.dot: {name}: expected one axis, got shape {array.shape}")
    return reductions.dot(a, b, out=out)


def where(condition: Operand, x: Operand | None = None, y: Operand | None = None) -> core.GPUArray:
    if x is None or y is None:
        raise missing.not_implemented("numpy.where without both x and y")
    return functions.where(condition, x, y)


def sinc(x: core.GPUArray) -> core.GPUArray:
    return apply("sinc", require_array("x", x))


_NOT_GIVEN = np._NoValue


def clip(
    a: core.GPUArray,
    a_min: Any = _NOT_GIVEN,
    a_max: Any = _NOT_GIVEN,
    out: core.GPUArray | None = None,
    *,
    min: Any = _NOT_GIVEN,
    max: Any = _NOT_GIVEN,
    **ufunc_arguments: Any,
) -> core.GPUArray:
    if a_min is a_max is _NOT_GIVEN:
        a_min, a_max = (None if one is _NOT_GIVEN else one for one in (min, max))
    elif a_min is _NOT_GIVEN or a_max is _NOT_GIVEN:
        name = "a_min" if a_min is _NOT_GIVEN else "a_max"
        raise TypeError(f"clip: {name} is missing: pass a_min and a_max, with None for no bound")
    elif min is not _NOT_GIVEN or max is not _NOT_GIVEN:
        raise ValueError(
            "clip: min and max are alternatives to a_min and a_max: pass one pair only"
        )
    if not ufunc_arguments:
        return methods.clip(require_array("a", a), a_min, a_max, out=out)
    unknown = ufunc_arguments.keys() - {"dtype", "casting", "where", "order", "subok"}
    if unknown:
        raise TypeError(f"clip: {', '.join(unknown)}: not implemented for GPUArray")
    bounds: list[tuple[Any, Any]] = [(np.maximum, a_min), (np.minimum, a_max)]
    steps: list[tuple[Any, Any]] = [one for one in bounds if one[1] is not None] or [
        (np.positive, None)
    ]
    for function, bound in steps[:-1]:
        step_arguments = {k: v for k, v in ufunc_arguments.items() if k != "where"}
        a = function(a, bound, **step_arguments)
    function, bound = steps[-1]
    operands = (a,) if bound is None else (a, bound)
    result: core.GPUArray = function(*operands, out=out, **ufunc_arguments)
    return result


def round(a: core.GPUArray, decimals: Int = 0, out: core.GPUArray | None = None) -> core.GPUArray:
    """Round the elements to a number of decimals; halves are rounded to the even digit.

    Parameters
    ----------
    a : GPUArray
        Array to round.
    decimals : int
        Number of digits after the decimal point; -1 rounds to tens, -2 to hundreds.
    out : GPUArray, optional
        Array of the shape of `a` for the result; a new array by default. The result is cast to
        its dtype by NumPy's "same_kind" rule.

    Returns
    -------
    GPUArray
        The rounded elements, of the dtype of `a`; of float16 if the dtype of `a` is bool.

    Raises
    ------
    TypeError
        The dtype of `a` is bool and `decimals` is not 0, or the result cannot be cast to the dtype
        of `out`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.to_gpu(np.array([1.25, 2.5])).round(1)
    array([1.2, 2.5])
    """
    decimals, kind = operator.index(decimals), a.dtype.kind
    if kind in "iu" and decimals >= 0:
        return copy(a) if out is None else functions.into(out, a)
    if decimals == 0:
        return apply("rint", a, out=out)  # bool becomes float16, as in NumPy
    if kind == "b":
        raise TypeError(f"round: decimals={decimals}: an array of bool allows only decimals=0")
    compute = np.dtype(f"{kind}8") if kind in "iu" else a.dtype  # float64 would lose digits
    if kind in "iu" and 10**-decimals > np.iinfo(compute).max:
        return apply("multiply", a, 0, out=out)
    factor = 10**-decimals if kind in "iu" else float(f"1e{abs(decimals)}")
    name = "round_decimals" if decimals > 0 else "round_tens"
    return run(name, (a, factor), (compute, magnitude(compute)), (a.dtype,), out)


def copy(a: core.GPUArray, order: OrderLike = "K", subok: bool = False) -> core.GPUArray:
    return a.copy() if isinstance(a, tracing.Traced) else a.copy(order)


def reshape(
    a: core.GPUArray,
    shape: Shape | None = None,
    order: OrderLike = "C",
    *,
    newshape: Shape | None = None,
    copy: bool | None = None,
) -> core.GPUArray:
    given: Any = newshape if shape is None else shape
    lengths = tuple(given) if np.iterable(given) else (given,)
    return a.reshape(lengths, order=order, copy=copy)


def ravel(a: core.GPUArray, order: str = "C") -> core.GPUArray:
    return a.ravel(order)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    a1, a2 = (one if isinstance(one, core.GPUArray) else core.to_gpu(one) for one in (a1, a2))
    if a1.shape != a2.shape:
        return False
    if equal_nan and {a1.dtype.kind, a2.dtype.kind} & set("fc"):
        return allclose(a1, a2, 0, 0, equal_nan=True)
    return bool(reductions.all(apply("equal", a1, a2)).get())


def isclose(
    a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> core.GPUArray:
    (compute, _), results = promoted("equal", tuple(map(functions.kind_of, (a, b))))
    if compute.kind not in "fc":
        compute = np.dtype(np.float64)
    size = magnitude(compute)
    name = "isclose_or_nan" if equal_nan else "isclose"
    return run(name, (a, b, rtol, atol), (compute, compute, size, size), results)


def allclose(
    a: Operand, b: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    return bool(reductions.all(isclose(a, b, rtol, atol, equal_nan)).get())


def shape(a: core.GPUArray) -> tuple[int, ...]:
    return a.shape


def ndim(a: core.GPUArray) -> int:
    return a.ndim


def size(a: core.GPUArray, axis: Axis = None) -> int:
    return statistics.count(a, axis)


def iscomplexobj(x: core.GPUArray) -> bool:
    return x.dtype.kind == "c"


def _dtype_of_array(value: Any) -> Any:
    return value.dtype if isinstance(value, core.GPUArray) else value


def result_type(*arrays_and_dtypes: Any) -> DType:
    return np.result_type(*map(_dtype_of_array, arrays_and_dtypes))


def can_cast(from_: Any, to: DTypeLike, casting: Casting = "safe") -> bool:
    return np.can_cast(_dtype_of_array(from_), to, casting)


def _require_own_device(a: core.GPUArray, device: Int | None) -> None:
    if device is not None and operator.index(device) != a.device:
        raise ValueError(
            f"device={device!r}: expected None or {a.device}, the array's device; zeros, ones, "
            "empty and full of PyGPU.gpuarray create arrays on other devices"
        )


def zeros_like(
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    order: OrderLike = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Int | None = None,
) -> core.GPUArray:
    _require_own_device(a, device)
    return core.zeros_like(a, dtype, order, shape)


def empty_like(
    prototype: core.GPUArray,
    dtype: DTypeLike | None = None,
    order: OrderLike = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Int | None = None,
) -> core.GPUArray:
    _require_own_device(prototype, device)
    return core.empty_like(prototype, dtype, order, shape)


def ones_like(
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    order: OrderLike = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Int | None = None,
) -> core.GPUArray:
    _require_own_device(a, device)
    return ranges.full_like(a, 1, dtype, order, shape)


def full_like(
    a: core.GPUArray,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: OrderLike = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Int | None = None,
) -> core.GPUArray:
    _require_own_device(a, device)
    return ranges.full_like(a, fill_value, dtype, order, shape)


#: Map each NumPy function to its implementation.
FUNCTIONS = {
    getattr(np, function.__name__): function
    for function in (
        *(dot, where, sinc, clip, round, real, imag, isclose, allclose, array_equal),
        *(copy, reshape, ravel, transpose),
        *(zeros_like, empty_like, ones_like, full_like),
        *(shape, ndim, size, iscomplexobj, result_type, can_cast),
    )
}
FUNCTIONS[np.around] = round

#: Methods of the class GPUArray.
METHODS = {"round": round}
