"""Reductions: functions of PyGPU.gpuarray, and GPUArray's methods of the same names.

Arrays may have any strides, and a bool, integer or floating-point dtype. All reductions except
`max` and `min` accept complex arrays too. Without `axis`, the result is a zero-dimensional array.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core, hooks

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, Axis, DTypeLike, Number, StreamLike

_reduce = core._reduce
__all__ = ["all", "any", "dot", "max", "mean", "min", "prod", "sum"]


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

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers, real or complex numbers, with any strides.
    dtype : numpy.dtype, optional
        Dtype of the computation and of the result. By default, int64 or uint64 for bools and
        integers of 8 and 16 bits, and the dtype of `a` for others, so 32-bit integers wrap on
        overflow. float16 is accumulated in float32.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    axis : int or tuple of int, optional
        Axes to reduce; all axes by default.
    out : GPUArray, optional
        Array of the result's shape. The result is cast to its dtype by NumPy's "same_kind" rule.
        Without `dtype`, the computation uses the dtype that the default dtype and the dtype of
        `out` promote to.
    keepdims : bool
        Keep the reduced axes with length one.

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

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers, real or complex numbers, with any strides.
    dtype : numpy.dtype, optional
        Dtype of the computation and of the result. By default, int64 or uint64 for bools and
        integers of 8 and 16 bits, and the dtype of `a` for others, so 32-bit integers wrap on
        overflow. float16 is accumulated in float32.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    axis : int or tuple of int, optional
        Axes to reduce; all axes by default.
    out : GPUArray, optional
        Array of the result's shape. The result is cast to its dtype by NumPy's "same_kind" rule.
        Without `dtype`, the computation uses the dtype that the default dtype and the dtype of
        `out` promote to.
    keepdims : bool
        Keep the reduced axes with length one.

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

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers, real or complex numbers, with any strides.
    dtype : numpy.dtype, optional
        Dtype of the computation and of the result; by default float64 for bool and integers, the
        dtype of `a` for other numbers. float16 is accumulated in float32.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    axis : int or tuple of int, optional
        Axes to reduce; all axes by default.
    out : GPUArray, optional
        Array of the result's shape. The result is cast to its dtype by NumPy's "same_kind" rule.
        Without `dtype`, the computation uses the dtype that the default dtype and the dtype of
        `out` promote to.
    keepdims : bool
        Keep the reduced axes with length one.

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


def max(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Find the largest element, ignoring NaN unless every element is NaN.

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers or real numbers, with any strides.
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


def min(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Find the smallest element, ignoring NaN unless every element is NaN.

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers or real numbers, with any strides.
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

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers, real or complex numbers, with any strides.
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
    where : GPUArray of bool, optional
        Elements that take part; the shapes broadcast.

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
        return _selected("any", a, (axis, None, out, keepdims, None, where), stream, allocator)
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

    Parameters
    ----------
    a : GPUArray
        Array of bool, integers, real or complex numbers, with any strides.
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
    where : GPUArray of bool, optional
        Elements that take part; the shapes broadcast.

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
        return _selected("all", a, (axis, None, out, keepdims, None, where), stream, allocator)
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


_SELECTION = """\
initial : number, optional
    Number that takes part as an additional element. `mean` has none.
where : GPUArray of bool, optional
    Elements that take part; the shapes broadcast."""


def _selected(
    operation: str, a: core.GPUArray, given: tuple[Any, ...], stream: Any, allocator: Any
) -> core.GPUArray:
    """Compute a method with ``initial=`` or ``where=``."""
    if stream is not None or allocator is not None:
        raise TypeError(f"{operation}: initial= and where= exclude stream= and allocator=")
    result: core.GPUArray = hooks.loaded("PyGPU._arrays.numpy_reductions").selected(
        operation, a, *given
    )
    return result


def _method_documentation(function: Callable[..., Any], parameters: Sequence[str]) -> str | None:
    """Convert a function's docstring to the docstring of a method with these parameters."""
    if function.__doc__ is None:  # python -OO
        return None
    # Python before 3.13 keeps the indentation of docstrings.
    before, rest = inspect.cleandoc(function.__doc__).split("Parameters\n----------\n")
    section, after = rest.split("\n\n", 1)
    entries = re.split(r"\n(?=\w)", f"{section}\n{_SELECTION}")
    described = {entry.split()[0]: entry for entry in entries}
    section = "\n".join(described[name] for name in parameters)
    after = re.sub(rf"gpuarray\.{function.__name__}\(a(, )?", f"a.{function.__name__}(", after)
    return f"{before}Parameters\n----------\n{section}\n\n{after}"


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
        given = axis, dtype, out, keepdims, initial, where
        return _selected(operation, self, given, stream, allocator)

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
        given = axis, None, out, keepdims, initial, where
        return _selected(operation, self, given, stream, allocator)

    method = with_dtype if has_dtype else plain
    method.__name__, method.__qualname__ = operation, f"GPUArray.{operation}"
    method.__doc__ = _method_documentation(function, [*inspect.signature(method).parameters][1:])
    return method


#: GPUArray's methods. As in PyCUDA, the first parameter of `any` and `all` is the stream.
METHODS = {
    **{function.__name__: _method(function, True) for function in (sum, prod, mean)},
    **{"max": _method(max, False), "min": _method(min, False), "any": any, "all": all, "dot": dot},
}
