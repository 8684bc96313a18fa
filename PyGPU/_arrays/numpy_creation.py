"""NumPy's functions that create arrays, called with a GPUArray as ``like=``.

The arrays are created on the device of `like`. NumPy computes some arrays on the host, such as
``arange``, and converts lists there; the results are copied to the device.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._arrays import missing, numpy_functions
from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike, Order, OrderLike, Shape


def _empty(shape: Shape, dtype: DTypeLike = float, order: Order = "C") -> core.GPUArray:
    return core.empty(shape, np.dtype(dtype), order=order)


def _zeros(shape: Shape, dtype: DTypeLike = float, order: Order = "C") -> core.GPUArray:
    return core.zeros(shape, np.dtype(dtype), order=order)


def _ones(
    shape: Shape,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    device: None = None,  # NumPy passes None
) -> core.GPUArray:
    return _full(shape, 1.0 if dtype is None else 1, dtype, order, device=device)


def _full(
    shape: Shape,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    device: None = None,
) -> core.GPUArray:
    if device is not None:
        raise TypeError(f"device={device!r}: expected None; the array is on the device of `like`")
    value: Any = np.asarray(fill_value, dtype)
    if value.ndim:
        raise TypeError(f"numpy.full: fill_value: expected a number, got shape {value.shape}")
    made = core.empty(shape, value.dtype, order=order)
    made.fill(value[()])
    return made


def _converted(
    a: core.GPUArray, dtype: DTypeLike | None, order: OrderLike | None, copy: bool | None
) -> core.GPUArray:
    """Return the GPUArray itself if its dtype and memory order match, and a copy otherwise."""
    new_order = order or "K"
    new_dtype = a.dtype if dtype is None else np.dtype(dtype)
    is_in_order = getattr(a.flags, f"{new_order.lower()}_contiguous", True)
    if not copy and new_dtype == a.dtype and is_in_order:
        return a
    if copy is False:
        raise ValueError(f"copy=False: dtype {new_dtype} and order {order!r} need a copy")
    return numpy_functions.copy(a if new_dtype == a.dtype else a.astype(new_dtype), order=new_order)


def _array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: OrderLike | None = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> core.GPUArray:
    if not isinstance(object, core.GPUArray):
        return core.to_gpu(np.array(object, dtype, order=order, ndmin=ndmin))
    made = _converted(object, dtype, order, copy)
    return made[(None,) * (ndmin - made.ndim)] if ndmin > made.ndim else made


def _asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: OrderLike | None = None,
    *,
    copy: bool | None = None,
) -> core.GPUArray:
    if not isinstance(a, core.GPUArray):
        return core.to_gpu(np.asarray(a, dtype, order))
    return _converted(a, dtype, order, copy)


def _ascontiguousarray(a: Any, dtype: DTypeLike | None = None) -> core.GPUArray:
    return _array(a, dtype, copy=None, order="C", ndmin=1)


def _asfortranarray(a: Any, dtype: DTypeLike | None = None) -> core.GPUArray:
    return _array(a, dtype, copy=None, order="F", ndmin=1)


def _computed_on_host(function: Callable[..., Any]) -> Callable[..., core.GPUArray]:
    """Return a function that copies the result of NumPy's `function` to the device."""
    return lambda *args, **kwargs: core.to_gpu(function(*args, **kwargs))


#: Map each NumPy function with the parameter `like` to its implementation.
FUNCTIONS: dict[Callable[..., Any], Callable[..., core.GPUArray]] = {
    **{np.empty: _empty, np.zeros: _zeros, np.ones: _ones, np.full: _full},
    **{np.array: _array, np.asarray: _asarray, np.asanyarray: _asarray},
    **{np.ascontiguousarray: _ascontiguousarray, np.asfortranarray: _asfortranarray},
    **{name: _computed_on_host(name) for name in (np.arange, np.eye, np.identity, np.tri)},
}


def create(
    like: core.GPUArray,
    function: Callable[..., Any],
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> core.GPUArray:
    """Create an array as NumPy's `function` does, on the device of `like`.

    Parameters
    ----------
    like : GPUArray
        Array passed as ``like=`` to NumPy's function.
    function : callable
        NumPy's function.
    name : str
        Name of the function, for messages.
    args, kwargs : tuple, dict
        Arguments of NumPy's function without `like`.

    Returns
    -------
    GPUArray
        The new array.

    Raises
    ------
    TypeError
        `function` or one of its arguments is not implemented.
    """
    implementation = FUNCTIONS.get(function)
    if implementation is None:
        raise missing.not_implemented(name)
    device = core.GPUArray.device.__get__(like)  # a subclass may override `device`
    with nullcontext() if device is None else core.device(device):
        return implementation(*args, **kwargs)
