"""Arrays made of ranges of numbers and of one value."""

import functools
import math
import numbers
import warnings

import numpy as np

from PyGPU._kernels import Element, Program, headers
from PyGPU._runtime import core, extent

_THREADS = 256


def range_source(kind, itemsize):
    """The text of a kernel ``fill``: ``out[i] = start + i * step``.

    Integers of either sign wrap at 64 bits; other numbers are computed in double precision.
    """
    element, number = (
        Element(f"{kind}{itemsize}"),
        "double" if kind == "f" else "unsigned long long",
    )
    value = (
        f"(float)(start + ({number})i * step)" if element.is_half else f"start + ({number})i * step"
    )
    return f"""
{headers([element])}
extern "C" __global__ void fill({element.stored} *out, long long n, {number} start,
                                {number} step) {{
  const long long i = (long long)blockIdx.x * {_THREADS} + threadIdx.x;
  if (i < n) out[i] = {element.store(value)};
}}
"""


@functools.cache
def _filler(kind, itemsize):
    return Program(range_source(kind, itemsize), fill="Pqdd" if kind == "f" else "PqQQ")


def _filled(size, start, step, dtype, allocator=None, stream=None):
    """A new array of ``start + i * step``."""
    if dtype.kind not in "iuf":
        raise TypeError(f"dtype: expected integers or floating-point numbers, got {dtype}")
    out = core.GPUArray(size, dtype, allocator)
    if size == 0:
        return out
    if dtype.kind != "f":
        for value in (start, start + (size - 1) * step):
            if not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
                raise OverflowError(f"arange: {value} does not fit into {dtype}")
        start, step = start % 2**64, step % 2**64
    grid = (-(-size // _THREADS), 1)
    (fill,) = _filler("f" if dtype.kind == "f" else "u", dtype.itemsize)()
    fill(grid, (_THREADS, 1, 1), stream, out, size, start, step)
    return out


def _arange_arguments(args, start, stop, step, dtype):
    """(start or None, stop, step or None, dtype or None)"""
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
    given = [start, stop, step]
    for number in given:
        if not isinstance(number, numbers.Real):
            raise TypeError(f"arange: expected real numbers, got {number!r}")
    if dtype is None:
        dtype = np.array(given).dtype
        if dtype != np.float32:
            warnings.warn(f"arange: the dtype was guessed to be {dtype}; name it", stacklevel=2)
    dtype = np.dtype(dtype)
    if step == 0:
        raise ValueError("step: expected a number other than 0")
    if all(isinstance(number, numbers.Integral) for number in given):
        start, stop, step = map(int, given)
        size = max(-((start - stop) // step), 0)
    else:
        start, stop, step = map(float, given)
        if not math.isfinite((stop - start) / step):
            raise ValueError(f"arange: expected finite numbers, got {given}")
        size = max(math.ceil((stop - start) / step), 0)
        if dtype.kind in "iu":
            start, step = int(start), int(start + step) - int(start)
    return _filled(extent("size", size), start, step, dtype, allocator, stream)


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
    """
    dtype, num = np.dtype(dtype), extent("num", num)
    if dtype.kind != "f":
        raise TypeError(f"dtype: expected floating-point numbers, got {dtype}")
    steps = num - 1 if endpoint else num
    out = _filled(num, start, (stop - start) / max(steps, 1), dtype, allocator)
    if endpoint and num > 1:
        out[-1:] = stop
    return out


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
