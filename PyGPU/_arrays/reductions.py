"""Reductions of arrays: the functions of PyGPU.gpuarray, and GPUArray's methods of those names.

Every reduction accepts arrays of any strides, of bool, integers, floating-point and complex
numbers. Without `axis`, the result is an array without axes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import AllocatorLike, Axis, DTypeLike, StreamLike

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
        Dtype of the computation and of the result; the array's own by default, so that small
        integers wrap. float16 is accumulated in float32.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    axis : int or tuple of int, optional
        Axes to reduce; all axes by default.
    out : GPUArray, optional
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind"). Without `dtype`, the computation has the dtype
        that the array's and the result's promote to.
    keepdims : bool
        Keep the reduced axes with length one.

    Returns
    -------
    GPUArray
        The sums; an array without axes if all axes are reduced.

    Raises
    ------
    numpy.AxisError
        The array does not have such an axis. AxisError is a ValueError and an IndexError.
    ValueError
        `axis` names an axis twice, `out` has another shape, or the dtype has no C type.
    TypeError
        The results cannot be cast to the dtype of `out`.

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
        Dtype of the computation and of the result; the array's own by default, so that small
        integers wrap. float16 is accumulated in float32.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    axis : int or tuple of int, optional
        Axes to reduce; all axes by default.
    out : GPUArray, optional
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind"). Without `dtype`, the computation has the dtype
        that the array's and the result's promote to.
    keepdims : bool
        Keep the reduced axes with length one.

    Returns
    -------
    GPUArray
        The products; an array without axes if all axes are reduced.

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
        Dtype of the computation and of the result; by default float64 for integers,
        else the array's own. float16 is accumulated in float32.
    stream : Stream, optional
        Stream to launch on; the null stream by default.
    allocator : callable(nbytes), optional
        Allocator of a new result; the array's allocator by default.
    axis : int or tuple of int, optional
        Axes to reduce; all axes by default.
    out : GPUArray, optional
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind"). Without `dtype`, the computation has the dtype
        that the array's and the result's promote to.
    keepdims : bool
        Keep the reduced axes with length one.

    Returns
    -------
    GPUArray
        The means; an array without axes if all axes are reduced.

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
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind").
    keepdims : bool
        Keep the reduced axes with length one.

    Returns
    -------
    GPUArray
        The largest elements, in the array's dtype.

    Raises
    ------
    TypeError
        The array is complex.
    ValueError
        The array has no elements.

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
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind").
    keepdims : bool
        Keep the reduced axes with length one.

    Returns
    -------
    GPUArray
        The smallest elements, in the array's dtype.

    Raises
    ------
    TypeError
        The array is complex.
    ValueError
        The array has no elements.

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
) -> core.GPUArray:
    """Test whether any element is not zero; NaN is not zero.

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
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind").
    keepdims : bool
        Keep the reduced axes with length one.

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
    return _reduce("any", a, axis, None, out, keepdims, stream, allocator)


def all(
    a: core.GPUArray,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    axis: Axis = None,
    out: core.GPUArray | None = None,
    keepdims: bool = False,
) -> core.GPUArray:
    """Test whether all elements are not zero; NaN is not zero.

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
        Array for the result, of its shape. Its dtype may be another one of the same kind or of a
        wider kind (NumPy's casting "same_kind").
    keepdims : bool
        Keep the reduced axes with length one.

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
    return _reduce("all", a, axis, None, out, keepdims, stream, allocator)


def dot(
    a: core.GPUArray,
    b: core.GPUArray,
    dtype: DTypeLike | None = None,
    stream: StreamLike = None,
    allocator: AllocatorLike | None = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    """Sum the products of all pairs of elements, in C order; nothing is conjugated.

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
        Array for the result.

    Returns
    -------
    GPUArray
        The dot product, an array without axes.

    Raises
    ------
    ValueError
        The sizes differ.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> gpuarray.dot(a, a)
    array(14)
    """
    return core._dot(a, b, dtype, stream, allocator, out)


def _method_documentation(function: Callable[..., Any], parameters: Sequence[str]) -> str | None:
    """Return a function's docstring, changed to that of a method with these parameters."""
    if function.__doc__ is None:  # python -OO
        return None
    # Python 3.13 and later have cleaned the docstring already.
    before, rest = inspect.cleandoc(function.__doc__).split("Parameters\n----------\n")
    section, after = rest.split("\n\n", 1)
    described = {entry.split()[0]: entry for entry in re.split(r"\n(?=\w)", section)}
    section = "\n".join(described[name] for name in parameters)
    after = re.sub(rf"gpuarray\.{function.__name__}\(a(, )?", f"a.{function.__name__}(", after)
    return f"{before}Parameters\n----------\n{section}\n\n{after}"


def _method(function: Callable[..., Any], has_dtype: bool) -> Callable[..., core.GPUArray]:
    """Make a method of GPUArray whose parameters start in the order of NumPy's methods."""
    operation = function.__name__

    def with_dtype(
        self: core.GPUArray,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        *,
        stream: StreamLike = None,
        allocator: AllocatorLike | None = None,
    ) -> core.GPUArray:
        return _reduce(operation, self, axis, dtype, out, keepdims, stream, allocator)

    def plain(
        self: core.GPUArray,
        axis: Axis = None,
        out: core.GPUArray | None = None,
        keepdims: bool = False,
        *,
        stream: StreamLike = None,
        allocator: AllocatorLike | None = None,
    ) -> core.GPUArray:
        return _reduce(operation, self, axis, None, out, keepdims, stream, allocator)

    method = with_dtype if has_dtype else plain
    method.__name__, method.__qualname__ = operation, f"GPUArray.{operation}"
    method.__doc__ = _method_documentation(function, [*inspect.signature(method).parameters][1:])
    return method


#: GPUArray's methods. As in PyCUDA, the first parameter of `any` and `all` is the stream.
METHODS = {
    **{function.__name__: _method(function, True) for function in (sum, prod, mean)},
    **{"max": _method(max, False), "min": _method(min, False), "any": any, "all": all, "dot": dot},
}
