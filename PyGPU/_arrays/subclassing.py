"""Methods that subclasses of PyCUDA's GPUArray call and override.

PyCUDA computes its operators as ``selffac * self + otherfac * other``, in two methods that programs
override. A class that overrides one of them gets operators that call these methods.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays.functions import apply, kind_of
from PyGPU._kernels import result_dtypes
from PyGPU._runtime import core, require_array

if TYPE_CHECKING:
    from PyGPU._types import HostArray, Number, Operand, StreamLike

GPUArray = core.GPUArray


def _axpbz(
    self: GPUArray, selffac: Number, other: Number, out: GPUArray, stream: StreamLike = None
) -> GPUArray:
    """Compute ``out = selffac * self + other`` with two numbers.

    Parameters
    ----------
    selffac, other : number
        Factor and summand.
    out : GPUArray
        Array for the result.
    stream : Stream, optional
        Stream to launch on; the null stream by default.

    Returns
    -------
    GPUArray
        `out`.
    """
    require_array("out", out)
    factor, summand = (np.asarray(one).astype(out.dtype)[()] for one in (selffac, other))
    scaled = apply("multiply", self, factor, stream=stream)
    core._keep_for_callers_graph(scaled, stream)
    return apply("add", scaled, summand, out=out, stream=stream, casting="unsafe")


def _memcpy_discontig(
    dst: GPUArray | HostArray,
    src: GPUArray | HostArray,
    async_: bool = False,
    stream: StreamLike = None,
) -> None:
    """Copy elements from `src` to `dst`, whatever the strides of both.

    Parameters
    ----------
    dst, src : GPUArray or numpy.ndarray
        Arrays of equal shape and dtype; at least one is a GPUArray.
    async_ : bool
        Enqueue the copy on `stream` and return; the array on the host must be page-locked.
    stream : Stream, optional
        Stream of an asynchronous copy; the null stream by default.
    """
    if not isinstance(dst, GPUArray):
        require_array("src", src).get(dst, async_=async_, stream=stream)
    elif async_:
        dst.set_async(src, stream=stream)
    else:
        dst.set(src)


def _result(function: Callable[..., Any], array: GPUArray, other: Operand) -> GPUArray:
    """Allocate the result of an operator, with the operator's dtype and shape."""
    (dtype,) = result_dtypes(function, (kind_of(array), kind_of(other)))
    return core._empty_for((array, other), dtype)


def _sum(self: Any, selffac: int, other: Operand, otherfac: int, out: GPUArray) -> Any:
    if isinstance(other, GPUArray):
        if otherfac < 0 and out.dtype.kind == "u":  # -1 modulo 2^n
            otherfac = int(np.iinfo(out.dtype).max)
        return self._axpbyz(selffac, other, otherfac, out)
    return self._axpbz(selffac, otherfac * other, out)


def _add(self: GPUArray, other: Operand) -> Any:
    return _sum(self, 1, other, 1, _result(operator.add, self, other))


def _subtract(self: GPUArray, other: Operand) -> Any:
    return _sum(self, 1, other, -1, _result(operator.sub, self, other))


def _subtract_from(self: GPUArray, other: Operand) -> Any:
    return _sum(self, -1, other, 1, _result(operator.sub, self, other))


def _negative(self: Any) -> Any:
    return self._axpbz(-1, 0, _result(operator.mul, self, self))


def _add_in_place(self: GPUArray, other: Operand) -> Any:
    return _sum(self, 1, other, 1, self)


def _subtract_in_place(self: GPUArray, other: Operand) -> Any:
    return _sum(self, 1, other, -1, self)


_OPERATORS = {
    **{"__add__": _add, "__radd__": _add, "__sub__": _subtract, "__rsub__": _subtract_from},
    **{"__neg__": _negative, "__iadd__": _add_in_place, "__isub__": _subtract_in_place},
}


def init_subclass(cls: type[GPUArray], /, **keywords: Any) -> None:
    """Add operators to a class that overrides ``_axpbz`` or ``_axpbyz``; they call its method."""
    super(GPUArray, cls).__init_subclass__(**keywords)
    if "_axpbz" in cls.__dict__ or "_axpbyz" in cls.__dict__:
        for name, function in _OPERATORS.items():
            if name not in cls.__dict__:
                setattr(cls, name, function)


#: Methods of the class GPUArray.
METHODS = {"_axpbz": _axpbz, "__init_subclass__": classmethod(init_subclass)}
