"""Reductions: functions of PyGPU.gpuarray, and GPUArray's methods of the same names.

Arrays may have any strides, and a bool, integer or floating-point dtype. All reductions except
`max` and `min` accept complex arrays too. Without `axis`, the result is a zero-dimensional array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core, docstrings

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, Axis, DTypeLike, Number, StreamLike

__all__ = [
    "all",
    "any",
    "dot",
    "max",
    "mean",
    "min",
    "prod",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
]

_reduce = core._reduce


def sum(
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Sum the elements of an array.

    :param a, dtype, stream, allocator, axis, out, keepdims:
    :returns: The sums; a zero-dimensional array if all axes are reduced.
    :raises numpy.AxisError: `axis` is out of range. AxisError is a ValueError and an IndexError.
    :raises ValueError: `axis` repeats an axis, `out` has the wrong shape, or the dtype has no C
        type.
    :raises TypeError: The result cannot be cast to the dtype of `out`.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.sum(a), gpuarray.sum(a, axis=0)
    (array(10), array([4, 6]))
    """
    return _reduce("sum", a, axis, dtype, out, keepdims, stream, allocator)


def prod(
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Multiply the elements of an array.

    :param a, dtype, stream, allocator, axis, out, keepdims:
    :returns: The products; a zero-dimensional array if all axes are reduced.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.prod(a, axis=1)
    array([ 2, 12])
    """
    return _reduce("prod", a, axis, dtype, out, keepdims, stream, allocator)


def mean(
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Compute the mean of the elements of an array.

    :param a, dtype, stream, allocator, axis, out, keepdims:
    :returns: The means; a zero-dimensional array if all axes are reduced.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.mean(a)
    array(2.5)
    """
    return _reduce("mean", a, axis, dtype, out, keepdims, stream, allocator)


def max(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Find the largest element, ignoring NaN unless every element is NaN.

    :param a, stream, allocator, axis, out, keepdims:
    :returns: The largest elements, of the dtype of `a`.
    :raises TypeError: `a` is complex.
    :raises ValueError: `a` has no elements along the reduced axes.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([3.0, np.nan, 1.0]))
    >>> gpuarray.max(a)
    array(3.)
    """
    return _reduce("max", a, axis, None, out, keepdims, stream, allocator)


def min(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Find the smallest element, ignoring NaN unless every element is NaN.

    :param a, stream, allocator, axis, out, keepdims:
    :returns: The smallest elements, of the dtype of `a`.
    :raises TypeError: `a` is complex.
    :raises ValueError: `a` has no elements along the reduced axes.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([3.0, np.nan, 1.0]))
    >>> gpuarray.min(a)
    array(1.)
    """
    return _reduce("min", a, axis, None, out, keepdims, stream, allocator)


def any(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
    where: core.GPUArray | bool = True,
) -> core.GPUArray:
    """Test whether any element is nonzero; NaN counts as nonzero.

    :param a, stream, allocator, axis, out, keepdims, where:
    :returns: The truth values, of dtype bool.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[0, 1], [0, 0]]))
    >>> gpuarray.any(a, axis=1)
    array([ True, False])
    """
    if where is not True:
        return _selected("any", a, None, where, axis, None, out, keepdims, stream, allocator)
    return _reduce("any", a, axis, None, out, keepdims, stream, allocator)


def all(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
    where: core.GPUArray | bool = True,
) -> core.GPUArray:
    """Test whether all elements are nonzero; NaN counts as nonzero.

    :param a, stream, allocator, axis, out, keepdims, where:
    :returns: The truth values, of dtype bool.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[0, 1], [2, 3]]))
    >>> gpuarray.all(a, axis=1)
    array([False,  True])
    """
    if where is not True:
        return _selected("all", a, None, where, axis, None, out, keepdims, stream, allocator)
    return _reduce("all", a, axis, None, out, keepdims, stream, allocator)


def dot(
    a: core.GPUArray,
    b: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    """Sum the products of corresponding elements, paired in C order, without conjugation.

    :param a, b: Arrays of the same size.
    :param dtype: Dtype of the computation and of the result; by default the dtype that `a` and `b`
        promote to.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the array's allocator by default.
    :param out: Zero-dimensional array for the result, of the dtype of the computation. Without
        `dtype`, its dtype is the dtype of the computation.
    :returns: The dot product, a zero-dimensional array.
    :raises ValueError: The sizes differ, or `out` has the wrong shape or dtype.

    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> gpuarray.dot(a, a)
    array(14)
    """
    return core._dot(a, b, dtype, stream, allocator, out)


def _selected(*given: Any) -> core.GPUArray:
    """Compute a method with ``initial=`` or ``where=``."""
    from PyGPU._arrays import numpy_reductions

    result: core.GPUArray = numpy_reductions.selected(*given)
    return result


def _method(function: Callable[..., Any], has_dtype: bool) -> Callable[..., core.GPUArray]:
    """Make a method of GPUArray whose first parameters have the order of NumPy's method."""
    operation = function.__name__

    def with_dtype(
        self: core.GPUArray,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        initial: Number | None = None,
        where: core.GPUArray | bool = True,
        *,
        stream: StreamLike = None,
        allocator: AllocatorLike | None = None,
    ) -> core.GPUArray:
        if initial is None and where is True:
            return _reduce(operation, self, axis, dtype, out, keepdims, stream, allocator)
        given = axis, dtype, out, keepdims, stream, allocator
        return _selected(operation, self, initial, where, *given)

    def plain(
        self: core.GPUArray,
        axis: Axis = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        initial: Number | None = None,
        where: core.GPUArray | bool = True,
        *,
        stream: StreamLike = None,
        allocator: AllocatorLike | None = None,
    ) -> core.GPUArray:
        if initial is None and where is True:
            return _reduce(operation, self, axis, None, out, keepdims, stream, allocator)
        given = axis, None, out, keepdims, stream, allocator
        return _selected(operation, self, initial, where, *given)

    method = with_dtype if has_dtype else plain
    method.__name__, method.__qualname__ = operation, f"GPUArray.{operation}"
    text = function.__doc__
    if text:  # None with python -OO
        first = "axis, dtype" if has_dtype else "axis"
        names = f"{first}, out, keepdims, initial, where, stream, allocator"
        text = re.sub(r":param .*:", f":param {names}:", text)
        text = re.sub(rf"gpuarray\.{operation}\(a(, )?", f"a.{operation}(", text)
        method.__doc__ = docstrings.numpy_style(text, method, texts=_TEXTS)
    return method


_DTYPE = """Dtype of the computation and of the result. By default, float64 for the mean of bools
    and integers, int64 or uint64 for other results of bools and integers of 8 and 16 bits, and the
    dtype of `a` for others, so 32-bit integers wrap on overflow. float16 is accumulated in float32.
    The default and the dtype of `out` are promoted."""
_TEXTS = {
    "a": "Array of bool, integers, real or complex numbers, with any strides.",
    "allocator": "Allocator of a new result; the array's allocator by default.",
    "axis": "Axes to reduce; all axes by default.",
    "dtype": _DTYPE.replace("\n", docstrings.MARGIN),
    "initial": "Number that takes part as an additional element. `mean` has none.",
    "keepdims": "Keep the reduced axes with length one.",
    "out": "Array of the result's shape. The result is cast to its dtype as by 'same_kind'.",
    "stream": "Stream to launch on; the null stream by default.",
    "where": "Bools: elements that take part, broadcast. `max` and `min` then need `initial`.",
}
#: GPUArray's methods. As in PyCUDA, the first parameter of `any` and `all` is the stream.
METHODS = {
    **{function.__name__: _method(function, True) for function in (sum, prod, mean)},
    **{"max": _method(max, False), "min": _method(min, False), "any": any, "all": all, "dot": dot},
}


def subset_sum(
    subset: core.GPUArray,
    a: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Sum the elements of `a` at the given indices.

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a: Array to choose elements from.
    :param dtype: Dtype of the computation and of the result; by default, as for
        :func:`gpuarray.sum`.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The sum, a zero-dimensional array.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_sum(subset, a)
    array(4)
    """
    return core._reduce_subset("sum", subset, (a,), dtype, stream, allocator)


def subset_dot(
    subset: core.GPUArray,
    a: core.GPUArray,
    b: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Sum the products of the elements of `a` and `b` at the given indices.

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a, b: Arrays to choose elements from.
    :param dtype: Dtype of the computation and of the result; that of `a` by default.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The dot product, a zero-dimensional array.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_dot(subset, a, a)
    array(10)
    """
    return core._reduce_subset("dot", subset, (a, b), dtype, stream, allocator)


def subset_max(
    subset: core.GPUArray,
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Find the largest of the elements of `a` at the given indices.

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a: Array to choose elements from.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The largest element, a zero-dimensional array.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_max(subset, a)
    array(3)
    """
    return core._reduce_subset("max", subset, (a,), None, stream, allocator)


def subset_min(
    subset: core.GPUArray,
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
) -> core.GPUArray:
    """Find the smallest of the elements of `a` at the given indices.

    :param subset: Array of integers: flat indices into `a`, in C order. They are not checked and
        must be in [0, a.size).
    :param a: Array to choose elements from.
    :param stream: Stream to launch on; the null stream by default.
    :param allocator: Allocator of a new result; the allocator of `a` by default.
    :returns: The smallest element, a zero-dimensional array.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> subset = gpuarray.to_gpu(np.array([0, 2], np.int32))
    >>> gpuarray.subset_min(subset, a)
    array(1)
    """
    return core._reduce_subset("min", subset, (a,), None, stream, allocator)


docstrings.complete(__name__, **_TEXTS)
