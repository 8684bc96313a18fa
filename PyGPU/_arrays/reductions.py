"""Reductions of arrays: the functions of PyGPU.gpuarray, and GPUArray's methods of those names.

All take arrays of any strides and of every dtype of bool, integers, floating-point and complex
numbers. Without `axis` they fold all elements to an array without axes.
"""

from PyGPU._arrays import reduction_run as run

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
    return run.reduce(a, "sum", dtype, stream, allocator, axis, out, keepdims)


def prod(a, dtype=None, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The product of elements. See :func:`sum`."""
    return run.reduce(a, "prod", dtype, stream, allocator, axis, out, keepdims)


def mean(a, dtype=None, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The mean of elements, as float64 for integers. See :func:`sum`."""
    return run.reduce(a, "mean", dtype, stream, allocator, axis, out, keepdims)


def max(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The largest element, not-a-number only where there is nothing else. See :func:`sum`.

    Raises
    ------
    TypeError
        For complex numbers.
    ValueError
        Without elements.
    """
    return run.reduce(a, "max", None, stream, allocator, axis, out, keepdims)


def min(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """The smallest element. See :func:`max`."""
    return run.reduce(a, "min", None, stream, allocator, axis, out, keepdims)


def any(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """Is an element not zero? bool; not-a-number is not zero. See :func:`sum`."""
    return run.reduce(a, "any", None, stream, allocator, axis, out, keepdims)


def all(a, stream=None, allocator=None, axis=None, out=None, keepdims=False):
    """Is no element zero? bool. See :func:`sum`."""
    return run.reduce(a, "all", None, stream, allocator, axis, out, keepdims)


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
    return run.dot(a, b, dtype, stream, allocator, out)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of the elements of `a`, seen flat in C order, at the indices in `subset`.

    The indices are not checked: they must be in [0, a.size).
    """
    return run.subset(subset, "sum", (a,), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """The dot product of the elements at the indices in `subset`; `dtype` is by default `a`'s."""
    return run.subset(subset, "dot", (a, b), dtype, stream, allocator)


def subset_max(subset, a, stream=None, allocator=None):
    """The largest of the elements at the indices in `subset`."""
    return run.subset(subset, "max", (a,), None, stream, allocator)


def subset_min(subset, a, stream=None, allocator=None):
    """The smallest of the elements at the indices in `subset`."""
    return run.subset(subset, "min", (a,), None, stream, allocator)


def _method(operation, has_dtype):
    """A method whose arguments begin as those of NumPy's arrays."""

    def with_dtype(
        self, axis=None, dtype=None, out=None, keepdims=False, *, stream=None, allocator=None
    ):
        return run.reduce(self, operation, dtype, stream, allocator, axis, out, keepdims)

    def plain(self, axis=None, out=None, keepdims=False, *, stream=None, allocator=None):
        return run.reduce(self, operation, None, stream, allocator, axis, out, keepdims)

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
