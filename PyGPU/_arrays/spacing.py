"""Arrays of evenly spaced numbers and of progressions: ``linspace``, ``logspace``, ``geomspace``.

Elements are computed in float64 or complex128, and rounded once to the dtype of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays.functions import run
from PyGPU._arrays.rearranging import expand_dims, moveaxis
from PyGPU._runtime import core, extent

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, DType, DTypeLike, Int

__all__ = ["geomspace", "linspace", "logspace"]

_REAL, _COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)


def _end(function: str, name: str, given: Any) -> Any:
    """Convert an end of an interval: arrays to a GPUArray, numbers to a NumPy or Python number.

    Zero-dimensional arrays count as numbers. Raise TypeError for elements that are not numbers.
    """
    if type(given) in (int, float, complex, bool):
        return complex(given) if type(given) is complex else float(given)
    end: Any = given if isinstance(given, core.GPUArray) else np.asarray(given)
    has_unit_or_mask = type(end) is not type(given) and hasattr(given, "__array_ufunc__")
    if end.dtype.kind not in "biufc" or has_unit_or_mask:
        raise TypeError(f"{function}: {name}: expected numbers, got {given!r}")
    if not isinstance(given, core.GPUArray):
        return core.to_gpu(end) if end.ndim else end[()]
    return end if end.ndim else end.get()[()]


def _common(ends: tuple[Any, ...]) -> DType:
    """Return the floating-point or complex dtype that the ends promote to."""
    numbers = (end.dtype if isinstance(end, core.GPUArray) else end for end in ends)
    return np.result_type(*numbers, 1.0)


def _result(function: str, ends: tuple[Any, ...], dtype: DTypeLike | None) -> tuple[DType, DType]:
    """Return the dtypes of the computation and of the result."""
    common = _common(ends)
    result = common if dtype is None else np.dtype(dtype)
    if result.kind not in "biufc":
        raise TypeError(f"{function}: dtype={result}: expected a numeric dtype")
    if common.kind == "c" and result.kind != "c":
        raise TypeError(f"{function}: dtype={result}: expected a complex dtype for complex numbers")
    return _COMPLEX if common.kind == "c" else _REAL, result


def _between_numbers(
    make: Callable[[DType], core.GPUArray],
    ends: tuple[Any, Any],
    parts: int,
    endpoint: bool,
    compute: DType,
    result: DType,
) -> tuple[core.GPUArray, Any]:
    """Return the elements between two numbers, which are `parts` steps apart, and the step."""
    start, stop = (compute.type(end).item() for end in ends)
    with np.errstate(all="ignore"):
        step = compute.type((stop - start) / parts if parts else np.nan)
    is_integer = result.kind in "iu"
    if step == 0 and start != stop:  # the step underflowed: divide the index first, as NumPy does
        made = make(compute if is_integer else result)
        core._map("range_part", (start, stop - start, parts, stop), (compute,) * 4, (made,))
        if is_integer:
            made = run("floor", (made,), (compute,), (result,), make(result))
        return made, step
    made = make(result)
    numbers = start, step.item() if parts else 0, parts if endpoint and parts else -1, stop
    core._map("range_floor" if is_integer else "range_to", numbers, (compute,) * 4, (made,))
    return made, step


def _between_arrays(
    make: Callable[..., core.GPUArray],
    ends: tuple[Any, Any],
    parts: int,
    endpoint: bool,
    compute: DType,
    result: DType,
) -> tuple[core.GPUArray, Any]:
    """Return the elements and the step if an end is an array; the new axis is the first axis.

    The parameters are those of `_between_numbers`.
    """
    start, stop = ends
    span = run("subtract", (stop, start), (compute,) * 2, (compute,))
    is_integer = result.kind in "iu"
    made = make(compute if is_integer else result, span.shape)
    num = len(made)
    index = core.GPUArray(num, _REAL, made.allocator, device=made.device)
    core._map("range", (0, 1), (_REAL,) * 2, (index,))
    index = index.reshape(num, *(1,) * span.ndim)
    run("spaced", (index, span, start, parts or 1), (compute,) * 4, (made.dtype,), made)
    if endpoint and num > 1:
        run("copy", (stop,), (compute,), (made.dtype,), made[-1])
    if is_integer:
        made = run("floor", (made,), (compute,), (result,), make(result, span.shape))
    step = run("divide", (span, parts or 1), (compute,) * 2, (compute,))
    return made, step


def linspace(
    start: Any,
    stop: Any,
    num: Int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: Int = 0,
    *,
    allocator: AllocatorLike | None = None,
    device: Int | None = None,
) -> Any:
    """Make an array of `num` evenly spaced numbers from `start` to `stop`.

    Parameters
    ----------
    start, stop : number, array_like or GPUArray
        First number and end of the interval. Arrays broadcast, and the result has a new axis for
        the numbers between their elements.
    num : int
        Number of elements.
    endpoint : bool
        Include `stop` as the last number.
    retstep : bool
        Also return the difference between consecutive numbers.
    dtype : numpy.dtype, optional
        Dtype of the elements; by default the floating-point or complex dtype that `start` and
        `stop` promote to. Integer elements are rounded down.
    axis : int
        Position of the new axis in the result.
    allocator : callable, optional
        Allocator of the array; stream-ordered memory by default.
    device : int or Device, optional
        Device of the array; the current device by default.

    Returns
    -------
    GPUArray
        The numbers. With `retstep`, a tuple of the numbers and the step. The step is a number, or
        a GPUArray if `start` or `stop` is an array.

    Raises
    ------
    TypeError
        `dtype` is not numeric, `dtype` is real but the elements are complex, or an argument is not
        numeric.
    OverflowError
        `num` is negative.

    See Also
    --------
    arange : Choose the step instead of the number of elements.
    logspace : Powers whose exponents are evenly spaced.
    geomspace : Choose the ends of a geometric progression.

    Examples
    --------
    >>> from PyGPU import gpuarray
    >>> gpuarray.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> gpuarray.linspace(0, 10, 5, dtype=int)
    array([ 0,  2,  5,  7, 10])
    """
    count = extent("num", num)
    ends = _end("linspace", "start", start), _end("linspace", "stop", stop)
    compute, result = _result("linspace", ends, dtype)
    parts = max(count - 1, 0) if endpoint else count

    def make(dtype: DType, shape: tuple[int, ...] = ()) -> core.GPUArray:
        return core.GPUArray((count, *shape), dtype, allocator, device=device)

    has_array = any(isinstance(end, core.GPUArray) for end in ends)
    between = _between_arrays if has_array else _between_numbers
    made, step = between(make, ends, parts, bool(endpoint), compute, result)
    made = moveaxis(made, 0, axis) if axis else made
    if not retstep:
        return made
    return made, step.astype(_common(ends)) if parts else np.nan


def logspace(
    start: Any,
    stop: Any,
    num: Int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: Int = 0,
    *,
    allocator: AllocatorLike | None = None,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array of powers of `base` with evenly spaced exponents from `start` to `stop`.

    Parameters
    ----------
    start, stop : number, array_like or GPUArray
        First exponent and end of the interval of exponents. Arrays broadcast as in `linspace`.
    num : int
        Number of elements.
    endpoint : bool
        Include ``base ** stop`` as the last element.
    base : number, array_like or GPUArray
        Base of the powers; arrays broadcast with `start` and `stop`.
    dtype : numpy.dtype, optional
        Dtype of the elements; by default the floating-point or complex dtype that `start`, `stop`
        and `base` promote to. Integer elements are rounded towards zero.
    axis : int
        Position of the new axis in the result.
    allocator : callable, optional
        Allocator of the array; stream-ordered memory by default.
    device : int or Device, optional
        Device of the array; the current device by default.

    Returns
    -------
    GPUArray
        The powers.

    Raises
    ------
    TypeError
        `dtype` is not numeric, `dtype` is real but the elements are complex, or an argument is not
        numeric.
    OverflowError
        `num` is negative.

    See Also
    --------
    geomspace : Choose the ends of the progression instead of exponents.

    Examples
    --------
    >>> from PyGPU import gpuarray
    >>> gpuarray.logspace(0, 3, 4)
    array([   1.,   10.,  100., 1000.])
    """
    ends = tuple(
        _end("logspace", name, end)
        for name, end in (("start", start), ("stop", stop), ("base", base))
    )
    compute, result = _result("logspace", ends, dtype)
    first, last, power = ends
    options: dict[str, Any] = {"axis": axis, "allocator": allocator, "device": device}
    if isinstance(power, core.GPUArray):
        # The ends and the base need the same number of axes before the new axis is inserted.
        first, last = (_with_axes(end, power.ndim) for end in (first, last))
        exponents = linspace(first, last, num, endpoint, dtype=compute, **options)
        power = expand_dims(_with_axes(power, exponents.ndim - 1), axis)
    else:
        exponents = linspace(first, last, num, endpoint, dtype=compute, **options)
        power = compute.type(power).item()
    shape = np.broadcast_shapes(exponents.shape, getattr(power, "shape", ()))
    out = core.GPUArray(shape, result, allocator, device=device)
    return run("power", (power, exponents), (compute,) * 2, (result,), out)


def _with_axes(end: Any, ndim: int) -> Any:
    """Return an array with at least `ndim` axes; new axes come first and have length one."""
    if not isinstance(end, core.GPUArray):
        end = core.to_gpu(np.asarray(end))
    return end.reshape(*(1,) * (ndim - end.ndim), *end.shape) if end.ndim < ndim else end


def geomspace(
    start: Any,
    stop: Any,
    num: Int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: Int = 0,
    *,
    allocator: AllocatorLike | None = None,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array of numbers in geometric progression from `start` to `stop`.

    Parameters
    ----------
    start, stop : number, array_like or GPUArray
        First number and end of the progression, both nonzero. Arrays broadcast as in `linspace`.
    num : int
        Number of elements.
    endpoint : bool
        Include `stop` as the last number.
    dtype : numpy.dtype, optional
        Dtype of the elements; by default float64, or complex128 if `start` or `stop` is complex.
        Integer elements are rounded towards zero.
    axis : int
        Position of the new axis in the result.
    allocator : callable, optional
        Allocator of the array; stream-ordered memory by default.
    device : int or Device, optional
        Device of the array; the current device by default.

    Returns
    -------
    GPUArray
        The numbers.

    Raises
    ------
    TypeError
        `dtype` is not numeric, `dtype` is real but the elements are complex, or an argument is not
        numeric.
    ValueError
        `start` or `stop` is 0.
    OverflowError
        `num` is negative.

    See Also
    --------
    logspace : Choose exponents instead of the ends.

    Examples
    --------
    >>> from PyGPU import gpuarray
    >>> gpuarray.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    ends = _end("geomspace", "start", start), _end("geomspace", "stop", stop)
    compute, result = _result("geomspace", ends, dtype)
    result = np.result_type(result, np.float64) if dtype is None else result  # as in NumPy
    first: Any
    last: Any
    first, last = (
        end.astype(compute) if isinstance(end, core.GPUArray) else compute.type(end) for end in ends
    )
    for name, end, given in (("start", first, start), ("stop", last, stop)):
        if bool(np.any(np.equal(end, 0))):
            raise ValueError(f"geomspace: {name}={given!r}: expected nonzero numbers")
    # Divide by the sign of the first number, so that the progression starts with a positive number.
    sign = np.sign(first) if compute.kind == "f" else first / np.absolute(first)
    with np.errstate(invalid="ignore"):
        exponents = np.log10(first / sign), np.log10(last / sign)
    made = logspace(*exponents, num, endpoint, dtype=compute, allocator=allocator, device=device)
    if isinstance(sign, core.GPUArray) or sign != 1:
        made *= sign
    if len(made):
        made[0] = first
    if len(made) > 1 and endpoint:
        made[-1] = last
    made = made if result == compute else made.astype(result)
    return moveaxis(made, 0, axis) if axis else made


#: Map each NumPy function to its implementation.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linspace: linspace,
    np.logspace: logspace,
    np.geomspace: geomspace,
}
