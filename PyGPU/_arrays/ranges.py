"""Functions that create arrays of a range of numbers, or of one value: ``arange``, ``full``."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._runtime import core, docstrings, extent, warn

if TYPE_CHECKING:
    from PyGPU._types import (
        AllocatorLike,
        DType,
        DTypeLike,
        Int,
        Order,
        OrderLike,
        Shape,
        StreamLike,
    )

__all__ = ["arange", "full", "full_like", "ones", "ones_like"]

_REAL, _COMPLEX = np.dtype(np.float64), np.dtype(np.complex128)
_map = core._map


@functools.cache
def _integer_loop(dtype: DType) -> tuple[int, int, DType]:
    """Return (lowest, highest, loop dtype) of an integer dtype.

    The loop dtype is unsigned, so that both signed and unsigned integers wrap.
    """
    info = np.iinfo(dtype)
    return int(info.min), int(info.max), np.dtype(np.uint64 if dtype.itemsize == 8 else np.uint32)


def _integers(
    size: int,
    start: int,
    step: int,
    dtype: DType,
    allocator: AllocatorLike | None,
    stream: StreamLike,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array of ``start + i * step``; OverflowError if the dtype cannot hold an element."""
    out = core.GPUArray(size, dtype, allocator, device=device)
    if size == 0:
        return out
    low, high, loop_dtype = _integer_loop(dtype)
    last = start + (size - 1) * step
    if not (low <= start <= high and low <= last <= high):
        raise OverflowError(
            f"arange: {last if low <= start <= high else start} does not fit into {dtype}"
        )
    wrap = (1 << 8 * loop_dtype.itemsize) - 1
    _map("range", (start & wrap, step & wrap), (loop_dtype, loop_dtype), (out,), stream)
    return out


def _floats(
    size: int,
    start: complex,
    step: complex,
    dtype: DType,
    allocator: AllocatorLike | None,
    stream: StreamLike = None,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array of ``start + i * step``, computed in double precision."""
    out = core.GPUArray(size, dtype, allocator, device=device)
    compute = _COMPLEX if isinstance(start, complex) else _REAL
    _map("range", (start, step), (compute,) * 2, (out,), stream)
    return out


def _length(start: Any, stop: Any, step: Any) -> int:
    """Return the number of elements of a range of floating-point or complex numbers.

    A complex range ends where the range of its real or imaginary parts ends, as in NumPy.
    """
    try:
        count = (stop - start) / step
        parts = (count.real, count.imag) if isinstance(count, complex) else (count,)
        size: int = max(min(map(math.ceil, parts)), 0)
        return size
    except (OverflowError, ValueError):  # infinity and NaN have no integer
        given = start, stop, step
        raise ValueError(f"arange: expected finite numbers, got {given}") from None


def _arange_arguments(
    args: Sequence[Any], start: Any, stop: Any, step: Any, dtype: Any
) -> tuple[Any, Any, Any, Any]:
    """Return start, stop, step and dtype from the arguments of `arange`; None if not given."""
    if len(args) == 1 and stop is None and not isinstance(args[0], np.dtype):
        return start, args[0], step, dtype
    args = list(args)
    if len(args) == 4 or (args and isinstance(args[-1], np.dtype)):
        if dtype is not None:
            raise TypeError("arange: dtype was given twice")
        dtype = args.pop()
    names = [("stop",), ("stop",), ("start", "stop"), ("start", "stop", "step")]
    if len(args) > 3:
        raise TypeError(f"arange: expected start, stop, step and dtype, got {len(args)} numbers")
    given = {"start": start, "stop": stop, "step": step}
    for name, value in zip(names[len(args)], args):
        if given[name] is not None:
            raise TypeError(f"arange: {name} was given twice")
        given[name] = value
    if given["stop"] is None:
        raise TypeError("arange: stop is missing")
    return given["start"], given["stop"], given["step"], dtype


def arange(
    *args: Any,
    start: complex | None = None,
    stop: complex | None = None,
    step: complex | None = None,
    dtype: DTypeLike | None = None,
    allocator: AllocatorLike | None = None,
    stream: StreamLike = None,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array of evenly spaced numbers: ``arange([start,] stop[, step][, dtype])``.

    :param numbers and numpy.dtype *args: `start`, `stop`, `step` and `dtype` by position, as in
        PyCUDA.
    :param number start: First number; 0 by default.
    :param number stop: End of the range, which is not included. A complex range ends where the
        range of its real or imaginary parts ends, as in NumPy.
    :param number step: Difference between consecutive numbers; 1 by default.
    :param dtype: Dtype of the numbers; by default guessed from the arguments, with a UserWarning.
        Integers are exact to 64 bits; others are computed in double precision and rounded once.
    :param callable allocator: Allocator of the array; stream-ordered memory by default.
    :param stream: Stream to launch on; the null stream by default.
    :param int or Device device: Device of the array; the current device by default.
    :returns: The numbers, a one-dimensional array.
    :raises TypeError: `dtype` is not numeric, `dtype` is real but the numbers are complex, or an
        argument is not a number.
    :raises ValueError: `step` is 0, or a number is not finite.
    :raises OverflowError: `dtype` cannot hold an integer of the range.

    See Also
    --------
    linspace : Choose the number of elements instead of the step.

    >>> from PyGPU import gpuarray
    >>> gpuarray.arange(0, 10, 3, dtype=np.int32)
    array([0, 3, 6, 9], dtype=int32)
    """
    first, end, by, dtype = _arange_arguments(args, start, stop, step, dtype)
    first, by = 0 if first is None else first, 1 if by is None else by
    given = first, end, by
    are_integers = type(first) is type(end) is type(by) is int
    convert: Any = int
    if not are_integers:
        for number in given:
            if not isinstance(number, numbers.Complex):
                raise TypeError(f"arange: expected numbers, got {number!r}")
        converters = ((numbers.Integral, int), (numbers.Real, float), (numbers.Complex, complex))
        convert = next(to for kind, to in converters if all(isinstance(one, kind) for one in given))
        first, end, by = map(convert, given)
        are_integers = convert is int
    if dtype is None:
        dtype = np.array(given).dtype
        if dtype != np.float32:
            warn(f"arange: the dtype was guessed to be {dtype}; pass dtype= to choose one")
    dtype = np.dtype(dtype)
    if dtype.kind not in ("c" if convert is complex else "iufc"):
        kinds = "complex numbers" if convert is complex else "numbers"
        raise TypeError(f"dtype={dtype}: expected a dtype of {kinds}")
    if by == 0:
        raise ValueError("step=0: expected a nonzero number")
    if are_integers:
        size = max(-((first - end) // by), 0)
    else:
        size = _length(first, end, by)
        if dtype.kind in "iu":
            first, by = int(first), int(first + by) - int(first)
    make = _integers if dtype.kind in "iu" else _floats
    return make(extent("size", size), first, by, dtype, allocator, stream, device=device)


def ones(
    shape: Shape,
    dtype: DTypeLike = np.float64,
    allocator: AllocatorLike | None = None,
    order: Order = "C",
    *,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array of ones.

    :param int or sequence of int shape:
    :param dtype: Dtype of the array.
    :param callable allocator: Allocator of the array; stream-ordered memory by default.
    :param order: Memory order of the axes.
    :param int or Device device: Device of the array; the current device by default.
    :returns: The array of ones.

    >>> from PyGPU import gpuarray
    >>> gpuarray.ones(3)
    array([1., 1., 1.])
    """
    return full(shape, 1, dtype, allocator, order, device=device)


def ones_like(
    other_ary: Any,
    dtype: DTypeLike | None = None,
    order: OrderLike = "K",
    shape: Shape | None = None,
) -> core.GPUArray:
    """Make an array of ones with the shape of another array.

    :param GPUArray or array_like other_ary: Array that sets shape, and by default dtype and order.
    :param dtype: Dtype of the array; that of `other_ary` by default.
    :param {"K", "A", "C", "F"} order: Memory order of the axes; "K" keeps that of `other_ary`.
    :param int or sequence of int shape: Shape of the array; that of `other_ary` by default.
    :returns: The array of ones.

    >>> from PyGPU import gpuarray
    >>> gpuarray.ones_like(gpuarray.zeros(2, "int32"))
    array([1, 1], dtype=int32)
    """
    return full_like(other_ary, 1, dtype, order, shape)


def full(
    shape: Shape,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    allocator: AllocatorLike | None = None,
    order: Order = "C",
    *,
    device: Int | None = None,
) -> core.GPUArray:
    """Make an array filled with one value.

    :param int or sequence of int shape:
    :param scalar fill_value: Value of every element.
    :param dtype: Dtype of the array; that of `fill_value` by default.
    :param callable allocator: Allocator of the array; stream-ordered memory by default.
    :param order: Memory order of the axes.
    :param int or Device device: Device of the array; the current device by default.
    :returns: The filled array.

    >>> from PyGPU import gpuarray
    >>> gpuarray.full(2, 0.5)
    array([0.5, 0.5])
    """
    if dtype is None:
        dtype = np.asarray(fill_value).dtype
    return _with_value(
        core.GPUArray(shape, dtype, allocator, order=order, device=device), fill_value
    )


def full_like(
    other_ary: Any,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: OrderLike = "K",
    shape: Shape | None = None,
) -> core.GPUArray:
    """Make an array filled with one value, with the shape of another array.

    :param GPUArray or array_like other_ary: Array that sets shape, and by default dtype and order.
    :param scalar fill_value: Value of every element.
    :param dtype: Dtype of the array; that of `other_ary` by default.
    :param {"K", "A", "C", "F"} order: Memory order of the axes; "K" keeps that of `other_ary`.
    :param int or sequence of int shape: Shape of the array; that of `other_ary` by default.
    :returns: The filled array.

    >>> from PyGPU import gpuarray
    >>> gpuarray.full_like(gpuarray.zeros((2, 2), "int32"), 7)
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    return _with_value(core.empty_like(other_ary, dtype, order, shape), fill_value)


def _with_value(array: core.GPUArray, value: Any) -> core.GPUArray:
    if array.dtype.kind in "biufc":
        return array.fill(value)
    array[...] = value
    return array


docstrings.complete(__name__)
