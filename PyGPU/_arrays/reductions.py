"""Reductions: functions of PyGPU.gpuarray, and GPUArray's methods of the same names.

Arrays may have any strides, and a bool, integer or floating-point dtype. All reductions except
`max` and `min` accept complex arrays too. Without `axis`, the result is a zero-dimensional array.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, Axis, DTypeLike, Number, StreamLike

_Function = TypeVar("_Function", bound=Callable[..., Any])
_reduce = core._reduce
__all__ = ["all", "any", "dot", "max", "mean", "min", "prod", "sum"]


_ENTRIES = """\
a : GPUArray
    Array of bool, integers, real or complex numbers, with any strides.
dtype : numpy.dtype, optional
    Dtype of the computation and of the result. By default, float64 for the mean of bools and
    integers, int64 or uint64 for other results of bools and integers of 8 and 16 bits, and the
    dtype of `a` for others, so 32-bit integers wrap on overflow. float16 is accumulated in float32.
    The default and the dtype of `out` are promoted.
stream : Stream, optional
    Stream to launch on; the null stream by default.
allocator : callable(nbytes), optional
    Allocator of a new result; the array's allocator by default.
axis : int or tuple of int, optional
    Axes to reduce; all axes by default.
out : GPUArray, optional
    Array of the result's shape. The result is cast to its dtype by NumPy's "same_kind" rule.
keepdims : bool
    Keep the reduced axes with length one.
initial : number, optional
    Number that takes part as an additional element. `mean` has none.
where : GPUArray of bool, optional
    Elements that take part; the shapes broadcast. `max` and `min` then need `initial`."""
_PARAMETERS = {entry.split()[0]: entry for entry in re.split(r"\n(?=\w)", _ENTRIES)}


def _described(documentation: str | None, parameters: Iterable[str]) -> str | None:
    """Return a docstring whose section of parameters describes these parameters."""
    if documentation is None:  # python -OO
        return None
    section = "\n".join(_PARAMETERS[name] for name in parameters)
    text = f"Parameters\n----------\n{section}\n\nReturns\n"
    # Python before 3.13 keeps the indentation of docstrings.
    clean = inspect.cleandoc(documentation)
    return re.sub(r"(Parameters\n.*?\n\n)?Returns\n", lambda _: text, clean, count=1, flags=re.S)


def _documented(function: _Function) -> _Function:
    """Add the parameters to a function's docstring."""
    function.__doc__ = _described(function.__doc__, inspect.signature(function).parameters)
    return function


@_documented
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

    Returns
    -------
    GPUArray
        The sums; a zero-dimensional array if all axes are reduced.

    Raises
    ------
    numpy.AxisError
        `axis` is out of range. AxisError is a ValueError and an IndexError.
    ValueError
        `axis` repeats an axis, `out` has the wrong shape, or the dtype has no C type.
    TypeError
        The result cannot be cast to the dtype of `out`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.sum(a), gpuarray.sum(a, axis=0)
    (array(10), array([4, 6]))
    """
    return _reduce("sum", a, axis, dtype, out, keepdims, stream, allocator)


@_documented
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

    Returns
    -------
    GPUArray
        The products; a zero-dimensional array if all axes are reduced.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.prod(a, axis=1)
    array([ 2, 12])
    """
    return _reduce("prod", a, axis, dtype, out, keepdims, stream, allocator)


@_documented
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

    Returns
    -------
    GPUArray
        The means; a zero-dimensional array if all axes are reduced.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.mean(a)
    array(2.5)
    """
    return _reduce("mean", a, axis, dtype, out, keepdims, stream, allocator)


@_documented
def max(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Find the largest element, ignoring NaN unless every element is NaN.

    Returns
    -------
    GPUArray
        The largest elements, of the dtype of `a`.

    Raises
    ------
    TypeError
        `a` is complex.
    ValueError
        `a` has no elements along the reduced axes.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([3.0, np.nan, 1.0]))
    >>> gpuarray.max(a)
    array(3.)
    """
    return _reduce("max", a, axis, None, out, keepdims, stream, allocator)


@_documented
def min(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Find the smallest element, ignoring NaN unless every element is NaN.

    Returns
    -------
    GPUArray
        The smallest elements, of the dtype of `a`.

    Raises
    ------
    TypeError
        `a` is complex.
    ValueError
        `a` has no elements along the reduced axes.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([3.0, np.nan, 1.0]))
    >>> gpuarray.min(a)
    array(1.)
    """
    return _reduce("min", a, axis, None, out, keepdims, stream, allocator)


@_documented
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

    Returns
    -------
    GPUArray
        The truth values, of dtype bool.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([[0, 1], [0, 0]]))
    >>> gpuarray.any(a, axis=1)
    array([ True, False])
    """
    if where is not True:
        return _selected("any", a, None, where, axis, None, out, keepdims, stream, allocator)
    return _reduce("any", a, axis, None, out, keepdims, stream, allocator)


@_documented
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

    Returns
    -------
    GPUArray
        The truth values, of dtype bool.

    Examples
    --------
    >>> import numpy as np
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

    Parameters
    ----------
    a, b : GPUArray
        Arrays of the same size.
    dtype : numpy.dtype, optional
        Dtype of the computation and of the result; by default the dtype that `a` and `b` promote
        to.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    out : GPUArray, optional
        Zero-dimensional array for the result, of the dtype of the computation. Without `dtype`,
        its dtype is the dtype of the computation.

    Returns
    -------
    GPUArray
        The dot product, a zero-dimensional array.

    Raises
    ------
    ValueError
        The sizes differ, or `out` has the wrong shape or dtype.

    Examples
    --------
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
    described = _described(function.__doc__, [*inspect.signature(method).parameters][1:])
    if described is not None:
        described = re.sub(rf"gpuarray\.{operation}\(a(, )?", f"a.{operation}(", described)
    method.__doc__ = described
    return method


#: GPUArray's methods. As in PyCUDA, the first parameter of `any` and `all` is the stream.
METHODS = {
    **{function.__name__: _method(function, True) for function in (sum, prod, mean)},
    **{"max": _method(max, False), "min": _method(min, False), "any": any, "all": all, "dot": dot},
}
