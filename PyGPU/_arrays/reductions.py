"""Reductions of arrays: the functions of PyGPU.gpuarray, and GPUArray's methods of those names.

All take arrays of any strides and of every dtype of bool, integers, floating-point and complex
numbers. Without `axis` they fold all elements to an array without axes.
"""

from PyGPU._runtime import core

_reduce = core._reduce

__all__ = [
    *("all", "any", "dot", "max", "mean", "min", "prod", "sum"),
    *("subset_dot", "subset_max", "subset_min", "subset_sum"),
]


def sum(a, dtype=None, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The sum of elements.

    Parameters
    ----------
    a : GPUArray
    dtype : numpy.dtype, optional
        Of the computation and of the result; the array's own by default, so that small integers
        wrap. float16 is added in float32.
    stream : Stream, optional
    allocator : callable(nbytes), optional
        The array's by default.
    axis : int or tuple of int, optional
    out : GPUArray, optional
        Of the result's shape and dtype. It decides the dtype where `dtype` does not.
    keepdims : bool
        Leave the axes in, of length one.

    Returns
    -------
    GPUArray

    Raises
    ------
    numpy.AxisError
        For an axis that the array does not have: a ValueError and an IndexError.
    ValueError
        For an axis that is named twice, an `out` that does not fit, a dtype without a C type.
    """
    return _reduce("sum", a, axis, dtype, out, keepdims, stream, allocator)


def prod(a, dtype=None, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The product of elements. See :func:`sum`."""
    return _reduce("prod", a, axis, dtype, out, keepdims, stream, allocator)


def mean(a, dtype=None, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The mean of elements, as float64 for integers. See :func:`sum`."""
    return _reduce("mean", a, axis, dtype, out, keepdims, stream, allocator)


def max(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The largest element, not-a-number only where there is nothing else. See :func:`sum`.

    Raises
    ------
    TypeError
        For complex numbers.
    ValueError
        Without elements.
    """
    return _reduce("max", a, axis, None, out, keepdims, stream, allocator)


def min(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The smallest element. See :func:`max`."""
    return _reduce("min", a, axis, None, out, keepdims, stream, allocator)


def any(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """Is an element not zero? bool; not-a-number is not zero. See :func:`sum`."""
    return _reduce("any", a, axis, None, out, keepdims, stream, allocator)


def all(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """Is no element zero? bool. See :func:`sum`."""
    return _reduce("all", a, axis, None, out, keepdims, stream, allocator)


def dot(a, b, dtype=None, stream=None, allocator=None, out=None):
    """The sum of the products of all elements, in C order; nothing is conjugated.

    Parameters
    ----------
    a, b : GPUArray
        Of the same size.
    dtype : numpy.dtype, optional
        Of the computation and of the result; by default what both promote to.

    Returns
    -------
    GPUArray
        Without axes.

    Raises
    ------
    ValueError
        For sizes that differ.
    """
    return core._dot(a, b, dtype, stream, allocator, out)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of the elements of `a`, seen flat in C order, at the indices in `subset`.

    The indices are not checked: they must be in [0, a.size).
    """
    return core._reduce_subset("sum", subset, (a,), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """The dot product of the elements at the indices in `subset`; `dtype` is by default `a`'s."""
    return core._reduce_subset("dot", subset, (a, b), dtype, stream, allocator)


def subset_max(subset, a, stream=None, allocator=None):
    """The largest of the elements at the indices in `subset`."""
    return core._reduce_subset("max", subset, (a,), None, stream, allocator)


def subset_min(subset, a, stream=None, allocator=None):
    """The smallest of the elements at the indices in `subset`."""
    return core._reduce_subset("min", subset, (a,), None, stream, allocator)


def _method(operation, has_dtype):
    """A method whose arguments begin as those of NumPy's arrays."""

    def with_dtype(
        self, axis=None, dtype=None, out=None, keepdims=False, *, stream=None, allocator=None
    ):
        return _reduce(operation, self, axis, dtype, out, keepdims, stream, allocator)

    def plain(self, axis=None, out=None, keepdims=False, *, stream=None, allocator=None):
        return _reduce(operation, self, axis, None, out, keepdims, stream, allocator)

    method = with_dtype if has_dtype else plain
    method.__name__ = operation
    method.__qualname__ = f"GPUArray.{operation}"
    method.__doc__ = f"See PyGPU.gpuarray.{operation}; the first arguments are in NumPy's order."
    return method


#: GPUArray's methods. PyCUDA has `any` and `all`, whose first argument is the stream.
METHODS = {
    **{name: _method(name, True) for name in ("sum", "prod", "mean")},
    **{name: _method(name, False) for name in ("max", "min")},
    **{"any": any, "all": all, "dot": dot},
}
