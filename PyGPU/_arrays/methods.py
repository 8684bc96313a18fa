"""Elementwise methods of GPUArray: parts of complex numbers, mul_add and clip."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import tracing
from PyGPU._arrays.functions import apply, run
from PyGPU._kernels import result_dtypes
from PyGPU._runtime import core, docstrings, require_array

if TYPE_CHECKING:
    from PyGPU._types import Number, Operand, StreamLike

_BOOL = np.dtype(np.bool_)


def real(self: core.GPUArray) -> core.GPUArray:
    """The real parts: a new array, or the array itself if its dtype is real.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.to_gpu(np.array([1 + 2j])).real
    array([1.])
    """
    if self.dtype.kind != "c":
        return self
    return run("real", (self,), (self.dtype,), result_dtypes(np.real, (self.dtype,)))


def imag(self: core.GPUArray) -> core.GPUArray:
    """The imaginary parts: a new array, of zeros if the array's dtype is real.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.to_gpu(np.array([1 + 2j])).imag
    array([2.])
    """
    if self.dtype.kind != "c" and isinstance(self, tracing.Traced):
        return run("where", (False, self, 0), (_BOOL, self.dtype, self.dtype), (self.dtype,))
    if self.dtype.kind != "c":
        return core.zeros_like(self)
    return run("imag", (self,), (self.dtype,), result_dtypes(np.imag, (self.dtype,)))


def conj(self: core.GPUArray, out: core.GPUArray | None = None) -> core.GPUArray:
    """Return the complex conjugate: a new array or `out`; the array itself if it is real.

    :param out: Array for the result of a complex array.
    :returns: The conjugates, in the array's dtype.

    >>> from PyGPU import gpuarray
    >>> gpuarray.to_gpu(np.array([1 + 2j])).conj()
    array([1.-2.j])
    """
    return self if self.dtype.kind != "c" else apply("conjugate", self, out=out)


def mul_add(
    self: core.GPUArray,
    selffac: Number,
    other: core.GPUArray,
    otherfac: Number,
    add_timer: Callable[[int, Callable[[], float]], object] | None = None,
    stream: StreamLike = None,
    out: core.GPUArray | None = None,
) -> core.GPUArray:
    """Compute ``selffac * self + otherfac * other`` in one kernel.

    :param number selffac: Factor of the array. The two arrays alone decide the result's dtype,
        which must be able to hold both factors.
    :param other: Second array; the two shapes broadcast.
    :param number otherfac: Factor of `other`.
    :param callable(elements, seconds) add_timer: Receives the number of elements that the kernel
        moved, and a function that returns the kernel's time in seconds.
    :param stream: Stream to launch on; the null stream by default.
    :param out: Array for the result; a new array by default.
    :returns: The weighted sum.
    :raises ArgumentError: The result's dtype cannot hold a factor.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.to_gpu(np.array([1.0, 2.0]))
    >>> a.mul_add(10, a, 1)
    array([11., 22.])
    """
    from PyGPU._driver import Event

    require_array("other", other)
    events = (Event(), Event()) if add_timer else None
    if events:
        events[0].record(stream)
    result = apply("mul_add", selffac, self, otherfac, other, out=out, stream=stream)
    if add_timer and events:
        start, end = events
        end.record(stream)

        def seconds() -> float:
            end.synchronize()
            return end.time_since(start) * 1e-3

        add_timer(3 * result.size, seconds)
    return result


def _axpbyz(
    self: core.GPUArray,
    selffac: Number,
    other: core.GPUArray,
    otherfac: Number,
    out: core.GPUArray | None,
    add_timer: Callable[[int, Callable[[], float]], object] | None = None,
    stream: StreamLike = None,
) -> core.GPUArray:
    """Call :func:`mul_add` with a required `out`: an old name that PyCUDA's programs call."""
    return mul_add(self, selffac, other, otherfac, add_timer, stream, out)


def _at_least(bound: Any, least: int) -> Any:
    return least if type(bound) is int and bound < least else bound


def _at_most(bound: Any, most: int) -> Any:
    return most if type(bound) is int and bound > most else bound


def clip(
    self: core.GPUArray,
    min: Operand | None = None,
    max: Operand | None = None,
    out: core.GPUArray | None = None,
    stream: StreamLike = None,
) -> core.GPUArray:
    """Limit the elements to the range from `min` to `max`; NaN stays NaN.

    Parameters
    ----------
    min, max : GPUArray or number, optional
        Bounds; None sets no bound. Shapes and dtypes follow NumPy's rules.
    out : GPUArray, optional
        Array for the result; a new array by default.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        The limited elements.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> gpuarray.to_gpu(np.array([1, 5, 9])).clip(2, 6)
    array([2, 5, 6])
    """
    if min is None and max is None:
        return apply("copy", self, out=out, stream=stream)
    # A bound may exceed the range of the dtype, as in NumPy; NumPy 1 then widens the result.
    if self.dtype.kind in "iu" and not core._takes_types_from_values:
        info = np.iinfo(self.dtype)
        min = tracing.computed(_at_least, min, info.min)
        max = tracing.computed(_at_most, max, info.max)
    if min is None:
        return apply("minimum", self, max, out=out, stream=stream)
    if max is None:
        return apply("maximum", self, min, out=out, stream=stream)
    return apply("clip", self, min, max, out=out, stream=stream)


#: Methods and properties of the class GPUArray.
METHODS = {
    **{"real": property(real), "imag": property(imag), "conj": conj, "conjugate": conj},
    **{"mul_add": mul_add, "_axpbyz": _axpbyz, "clip": clip},
}


docstrings.complete(__name__)
