"""Pickling and copying of GPUArrays and of users' subclasses."""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PyGPU._runtime import core

if TYPE_CHECKING:
    from PyGPU._types import DType, HostArray

GPUArray = core.GPUArray


def _restored(
    ary: HostArray,
    device: int | None = None,
    axes: Sequence[int] | None = None,
    kind: type[GPUArray] = GPUArray,
    dtype: DType | None = None,
) -> GPUArray:
    """Return the array of a pickle.

    :param ary: Elements, which are copied to the device from this array's memory.
    :param device: Device of the pickled array. None, and a device that this machine lacks, mean the
        current device.
    :param list of int axes: Axes of the array in the order of `ary`.
    :param type kind: Class of the array.
    :param dtype: Dtype of the array; by default that of `ary`.
    """
    if dtype is not None:
        ary = ary.view(dtype)
    if axes is not None:
        ary = ary.transpose([axes.index(axis) for axis in range(len(axes))])
    array = core._from_pickle(ary, -1 if device is None else device)
    return array if kind is GPUArray else core._of_class(array, kind)


# Pickles name the function by the public module, so that every target and version can load them.
_restored.__module__ = "PyGPU.gpuarray"


def _exports_buffer(ary: Any) -> bool:
    """Report whether NumPy exports the memory; datetimes and ml_dtypes' dtypes have no format."""
    try:
        memoryview(ary)
    except (TypeError, ValueError, NotImplementedError):
        return False
    return True


def _state(array: Any) -> Any:
    """Return the attributes of a subclass's object, in the form that pickle accepts."""
    kind = type(array)
    if getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None):
        return array.__getstate__()
    attributes = getattr(array, "__dict__", None) or None
    slots = copyreg._slotnames(kind)  # type: ignore[attr-defined]
    names = [name for name in slots if hasattr(array, name)]
    return (attributes, {name: getattr(array, name) for name in names}) if names else attributes


def _set_state(array: Any, state: Any) -> None:
    """Set the attributes of a subclass's object, as pickle does."""
    if hasattr(array, "__setstate__"):
        array.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    if attributes:
        vars(array).update(attributes)
    for name, value in slots.items():
        setattr(array, name, value)


def _reduce(self: GPUArray) -> tuple[Any, ...]:
    """Pickle the array as its elements on the host, its device, its class and its attributes.

    With protocol 5 the elements are a buffer, which ``buffer_callback`` receives without a copy.

    >>> import pickle
    >>> import numpy as np
    >>> import PyGPU.gpuarray as gpuarray
    >>> buffers = []
    >>> a = gpuarray.to_gpu(np.arange(3))
    >>> text = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
    >>> pickle.loads(text, buffers=buffers)
    array([0, 1, 2])
    """
    device = GPUArray.device.__get__(self)  # a subclass may override `device`
    host, axes = GPUArray.get(self), None
    if not host.flags.forc:
        axes = sorted(range(host.ndim), key=lambda axis: -host.strides[axis])
        host = host.transpose(axes)  # contiguous: NumPy pickles it without a copy
    dtype = None
    if not _exports_buffer(host):
        dtype, host = host.dtype, host.view(f"V{host.itemsize}")
    arguments = _restored, (host, device, axes, type(self), dtype)
    return arguments if type(self) is GPUArray else (*arguments, _state(self))


def _copy(self: GPUArray) -> object:
    """Return a contiguous copy on the same device, of the same class and with its attributes."""
    copied = GPUArray.copy(self)
    if type(self) is GPUArray:
        return copied
    made, state = core._of_class(copied, type(self)), _state(self)
    if state is not None:
        _set_state(made, state)
    return made


def _deepcopy(self: GPUArray, memo: dict[int, Any]) -> object:
    """Return a contiguous copy on the same device, with deep copies of its attributes."""
    copied = GPUArray.copy(self)
    if type(self) is GPUArray:
        return copied
    made = memo[id(self)] = core._of_class(copied, type(self))  # attributes may refer to `self`
    state = _state(self)
    if state is not None:
        _set_state(made, copy.deepcopy(state, memo))
    return made


#: Methods of the class GPUArray.
METHODS = {"__reduce__": _reduce, "__copy__": _copy, "__deepcopy__": _deepcopy}
