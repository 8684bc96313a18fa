"""Arrays made of ranges of numbers and of one value."""

import functools
import math
import numbers
import warnings

import numpy as np

from PyGPU._runtime import core, extent

_REAL = np.dtype(np.float64)
_map = core._map


@functools.cache
def _natural(dtype):
    """(lowest, highest, type of computation) of integers: whatever their sign, they wrap."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max), np.dtype(np.uint64 if dtype.itemsize == 8 else np.uint32)


def _integers(size, start, step, dtype, allocator, stream):
    """A new array of ``start + i * step``, all of which the dtype holds. OverflowError."""
    out = core.GPUArray(size, dtype, allocator)
    if size == 0:
        return out
    low, high, natural = _natural(dtype)
    last = start + (size - 1) * step
    if not (low <= start <= high and low <= last <= high):
        raise OverflowError(
            f"arange: {last if low <= start <= high else start} does not fit into {dtype}"
        )
    wrap = (1 << 8 * natural.itemsize) - 1
    _map("range", (start & wrap, step & wrap), (natural, natural), (out,), stream)
    return out


def _reals(size, start, step, dtype, allocator, stream=None, stop=None):
    """A new array of ``start + i * step``, computed in double precision; if `stop` is given, the
    last is that."""
    out = core.GPUArray(size, dtype, allocator)
    if stop is None:
        _map("range", (start, step), (_REAL,) * 2, (out,), stream)
    else:
        _map("range_to", (start, step, size - 1, stop), (_REAL,) * 4, (out,), stream)
    return out


def _check_real(function, given):
    for number in given:
        if not isinstance(number, numbers.Real):
            raise TypeError(f"{function}: expected real numbers, got {number!r}")


def _arange_arguments(args, start, stop, step, dtype):
    """(start or None, stop, step or None, dtype or None)"""
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
        raise TypeError("arange: expected where to stop")
    return given["start"], given["stop"], given["step"], dtype


def arange(*args, start=None, stop=None, step=None, dtype=None, allocator=None, stream=None):
    """``arange([start,] stop[, step][, dtype])``: start, start + step, ... before stop.

    Parameters
    ----------
    start, stop, step : int or float
        `start` is 0 and `step` 1 by default.
    dtype : optional
        Of integers or floating-point numbers; guessed, with a UserWarning, by default. Its
        numbers are exact: integers of 64 bits, others rounded once from double precision.
    allocator : callable, optional
    stream : optional

    Returns
    -------
    GPUArray
        Of one axis.

    Raises
    ------
    TypeError
        For other dtypes, and for what is no number.
    ValueError
        For a step of 0, and for numbers that are not finite.
    OverflowError
        For integers that the dtype cannot hold.
    """
    start, stop, step, dtype = _arange_arguments(args, start, stop, step, dtype)
    start, step = 0 if start is None else start, 1 if step is None else step
    given = start, stop, step
    is_whole = type(start) is type(stop) is type(step) is int
    if not is_whole:
        _check_real("arange", given)
        is_whole = all(isinstance(number, numbers.Integral) for number in given)
        start, stop, step = map(int if is_whole else float, given)
    if dtype is None:
        dtype = np.array(given).dtype
        if dtype != np.float32:
            warnings.warn(f"arange: the dtype was guessed to be {dtype}; name it", stacklevel=2)
    dtype = np.dtype(dtype)
    if dtype.kind not in "iuf":
        raise TypeError(f"dtype: expected integers or floating-point numbers, got {dtype}")
    if step == 0:
        raise ValueError("step: expected a number other than 0")
    if is_whole:
        size = max(-((start - stop) // step), 0)
    else:
        if not math.isfinite((stop - start) / step):
            raise ValueError(f"arange: expected finite numbers, got {given}")
        size = max(math.ceil((stop - start) / step), 0)
        if dtype.kind in "iu":
            start, step = int(start), int(start + step) - int(start)
    make = _reals if dtype.kind == "f" else _integers
    return make(extent("size", size), start, step, dtype, allocator, stream)


def linspace(start, stop, num=50, endpoint=True, dtype=np.float64, allocator=None):
    """`num` numbers from start to stop at equal distances.

    Parameters
    ----------
    start, stop : float
    num : int
    endpoint : bool
        Is stop among them?
    dtype
        Of floating-point numbers.
    allocator : callable, optional

    Raises
    ------
    TypeError
        For other dtypes, and for what is no number.
    """
    _check_real("linspace", (start, stop))
    start, stop = float(start), float(stop)  # differences of NumPy's small integers would wrap
    dtype, num = np.dtype(dtype), extent("num", num)
    if dtype.kind != "f":
        raise TypeError(f"dtype: expected floating-point numbers, got {dtype}")
    step = (stop - start) / max(num - 1 if endpoint else num, 1)
    return _reals(num, start, step, dtype, allocator, stop=stop if endpoint and num > 1 else None)


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    """A new array of ones."""
    return full(shape, 1, dtype, allocator, order)


def ones_like(other_ary, dtype=None, order="K"):
    """An array of ones of the same shape; order K, A, C or F."""
    return full_like(other_ary, 1, dtype, order)


def full(shape, fill_value, dtype=None, allocator=None, order="C"):
    """A new array of one value.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : scalar
    dtype : optional
        That of the value by default.
    allocator : callable, optional
    order : {"C", "F"}
    """
    if dtype is None:
        dtype = np.asarray(fill_value).dtype
    return _with_value(core.GPUArray(shape, dtype, allocator, order=order), fill_value)


def full_like(other_ary, fill_value, dtype=None, order="K"):
    """An array of one value, of the same shape; order K, A, C or F."""
    return _with_value(core.empty_like(other_ary, dtype, order), fill_value)


def _with_value(array, value):
    if array.dtype.kind in "biufc":
        return array.fill(value)
    array[...] = value
    return array
