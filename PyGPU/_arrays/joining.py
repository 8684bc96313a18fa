"""Arrays joined, transposed and reversed."""

from PyGPU._runtime import beside_first, core


def concatenate(arrays, axis=0, allocator=None):
    """Arrays one after the other along an axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Of shapes that differ along the axis alone.
    axis : int
    allocator : callable, optional
        The first array's by default.

    Returns
    -------
    GPUArray
        In C order, of the dtype to which NumPy promotes those of the arrays.

    Raises
    ------
    ValueError
        For no arrays, arrays without axes, shapes that do not fit, an axis that is not there.
    """
    return core._concatenate(arrays, axis, allocator)


def stack(arrays, axis=0, allocator=None):
    """Arrays of one shape beside each other along a new axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
    axis : int
        Of the result.
    allocator : callable, optional
        The first array's by default.

    Returns
    -------
    GPUArray
        In C order, of the dtype to which NumPy promotes those of the arrays.

    Raises
    ------
    ValueError
        For no arrays, shapes that differ, an axis that is not there.
    """
    return core._stack(arrays, axis, allocator)


def transpose(a, axes=None):
    """``a.transpose(axes)``: a view."""
    return a.transpose(axes)


def reshape(a, *shape, order="C"):
    """``a.reshape(*shape, order=order)``: a view."""
    return a.reshape(*shape, order=order)


@beside_first
def reverse(self, stream=None):
    """A new array with the elements in reversed order along every axis.

    Parameters
    ----------
    self : GPUArray
    stream : optional
    """
    out = core.empty_like(self)
    backwards = self[(slice(None, None, -1),) * self.ndim] if self.ndim else self
    out.set_async(backwards, stream=stream)
    return out


#: Of the class GPUArray.
METHODS = {"reverse": reverse}
