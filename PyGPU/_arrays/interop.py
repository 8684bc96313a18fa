"""Import of other libraries' arrays without a copy, by DLPack or the CUDA array interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU._runtime import capabilities, core, docstrings, errors, order_after, require_array, state

if TYPE_CHECKING:
    from PyGPU._types import DType, HasCudaArrayInterface, HasDLPack, Int, StreamLike

__all__ = ["asarray", "from_dlpack", "require_contiguous"]

# Descriptions of DLPack's device types, which also distinguish kinds of memory.
_DEVICE_TYPES = {
    1: "the CPU",
    2: "a CUDA device",
    3: "page-locked memory of CUDA",
    10: "a ROCm device",
    11: "page-locked memory of ROCm",
    13: "managed memory of CUDA",
}
# Device types with device numbers on this target, and device types whose memory it accesses.
_DEVICES = capabilities.dlpack_devices
_ACCESSIBLE = capabilities.dlpack_accessible
# DLPack's number for the null stream; None if the target has no number for it.
_NULL_STREAM = capabilities.dlpack_null_stream
_LEGACY = 1  # the CUDA array interface's number for the null stream


def from_dlpack(
    x: HasDLPack,
    /,
    *,
    device: Int | tuple[int, int] | None = None,
    copy: bool | None = None,
    stream: StreamLike = None,
) -> core.GPUArray:
    """Import another library's array by DLPack, as a GPUArray that shares its memory.

    The null stream waits for the work that the other library has enqueued on the array. The memory
    is released when the last view of it is deleted and PyGPU's work on it is complete.

    :param object with ``__dlpack__`` and ``__dlpack_device__`` x: Array in memory that this
        target's devices can access; CPU memory on the target ``host``.
    :param int or (int, int) device: Device of the result: its number, or DLPack's pair of device
        type and number. If `x` is on another device, its data is copied.
    :param copy: True copies the data to new memory. False forbids copies by PyGPU and the other
        library.
    :param stream: Non-blocking stream on which the array will be used; the stream waits for the
        data.
    :returns: An array that shares the memory of `x`, or a copy.
    :raises BufferError: The memory of `x` is not accessible, NumPy lacks its dtype, a copy is
        needed but forbidden, or `x` is read-only and not copied.
    :raises TypeError: `x` has no ``__dlpack__``, or `device` is neither an integer nor a pair of
        integers.

    See Also
    --------
    asarray : Import by the CUDA array interface or by DLPack.

    Examples
    --------
    On the target ``host``, NumPy arrays can be imported:

    >>> import numpy as np
    >>> from PyGPU import gpuarray
    >>> x = np.zeros(3)
    >>> a = gpuarray.from_dlpack(x)
    >>> a += 1
    >>> x
    array([1., 1., 1.])
    """
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(
            "from_dlpack: x: expected an object with __dlpack__ and __dlpack_device__, got "
            f"{type(x).__name__}"
        )
    pair: Any = x.__dlpack_device__()
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"from_dlpack: __dlpack_device__() returned {pair!r}, no pair of ints")
    device_id = (int(pair[0]), int(pair[1]))
    here = _device_number(x, *device_id)
    wanted = here if device is None else _requested_number(device)
    if wanted != here and copy is False:
        raise BufferError(
            f"from_dlpack: copy=False: x is on device {here}, so an array on device {wanted} needs "
            "a copy"
        )
    with core.device(here):
        array = core._import_dlpack(_capsule(x, copy), x, device_id, copy is True)
        _order(stream, array)
    if wanted != here:
        strides = core.empty_like(array).strides  # contiguous, the axes in the same order
        with core.device(wanted):
            copied = core.GPUArray(array.shape, array.dtype, strides=strides)
            copied.set(array)
        return copied
    return array.copy() if copy else array


def asarray(
    x: core.GPUArray | HasCudaArrayInterface | HasDLPack, *, stream: StreamLike = None
) -> core.GPUArray:
    """Return a GPUArray that shares the memory of `x`.

    :param GPUArray, or array of another library in device memory x: A GPUArray is returned
        unchanged. Other arrays are imported by the first protocol that they support: version 3 of
        the CUDA array interface, DLPack, an older CUDA array interface. Older interfaces name no
        stream, so the import waits for all work on the device.
    :param stream: Non-blocking stream on which the array will be used; the stream waits for the
        data.
    :returns: `x` itself, or an array that shares its memory.
    :raises TypeError: `x` is a NumPy array or has none of the protocols; ``to_gpu`` copies host
        data.
    :raises BufferError: The memory cannot be shared: it is not accessible to the device, or `x` is
        read-only or has a mask.

    See Also
    --------
    from_dlpack : Import by DLPack, with a choice of device and copy.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.zeros(3)
    >>> gpuarray.asarray(a) is a
    True
    """
    if isinstance(x, core.GPUArray):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(
            f"asarray: {type(x).__name__} is an array on the host; to_gpu(x) copies it to a device"
        )
    interface = getattr(x, "__cuda_array_interface__", None)
    has_dlpack = hasattr(x, "__dlpack__")
    if interface is not None and not isinstance(interface, dict):
        core._interface_data(interface)  # raises TypeError
    if interface is not None and (_version(interface) >= 3 or not has_dlpack):
        return _from_interface(x, interface, stream)
    if has_dlpack:
        return from_dlpack(x, stream=stream)  # type: ignore[arg-type]
    raise TypeError(
        "asarray: expected a GPUArray or an object with __cuda_array_interface__ or __dlpack__, "
        f"got {type(x).__name__}; to_gpu(numpy.asarray(x)) copies host data"
    )


def require_contiguous(a: core.GPUArray, order: str = "C") -> core.GPUArray:
    """Return the array if its elements are contiguous, and raise ValueError otherwise.

    Check arrays with this function before a library such as NCCL or RCCL uses their addresses.
    Such libraries ignore strides, so they would silently read the wrong elements of an array with
    gaps or transposed axes.

    :param a: Array to check.
    :param {"C", "F", "A"} order: Memory order of the elements: row-major, column-major, or either.
    :returns: The array itself.
    :raises TypeError: `a` is not a GPUArray.
    :raises ValueError: `order` is unknown, or the elements are not contiguous in this order.

    >>> from PyGPU import gpuarray
    >>> a = gpuarray.zeros((2, 3))
    >>> gpuarray.require_contiguous(a) is a
    True
    >>> gpuarray.require_contiguous(a.T)
    Traceback (most recent call last):
        ...
    ValueError: a: strides (8, 24): expected contiguous elements in order 'C'; pass a copy
    """
    flags = require_array("a", a).flags
    orders = {"C": flags.c_contiguous, "F": flags.f_contiguous, "A": flags.forc}
    if order not in orders:
        raise ValueError(f"order={order!r}: expected 'C', 'F' or 'A'")
    if not orders[order]:
        raise ValueError(
            f"a: strides {a.strides}: expected contiguous elements in order {order!r}; pass a copy"
        )
    return a


def _device_number(x: object, device_type: int, number: int) -> int:
    """Return the number of the device that `x` is on."""
    if device_type not in _ACCESSIBLE:
        where = _DEVICE_TYPES.get(device_type, f"a device of DLPack's type {device_type}")
        accessible = _DEVICE_TYPES[_ACCESSIBLE[0]]
        advice = f"the target {capabilities.target} accesses {accessible}; copy x there first"
        if device_type == 1:
            advice = "to_gpu(numpy.from_dlpack(x)) copies it to the device"
        raise BufferError(f"from_dlpack: {type(x).__name__} is on {where}; {advice}")
    if device_type not in _DEVICES:
        return state.current_device()
    count = errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount")
    if not 0 <= number < count:
        raise BufferError(
            f"from_dlpack: {type(x).__name__} is on device {number}; this process sees {count} "
            "devices, numbered from 0"
        )
    return number


def _requested_number(device: Int | tuple[int, int]) -> int:
    """Return the number of the device that `device` names."""
    if isinstance(device, tuple):
        device_type, number = (int(part) for part in device)
        if device_type not in _ACCESSIBLE:
            raise BufferError(
                f"from_dlpack: device={device}: expected device type {_ACCESSIBLE[0]}, "
                f"{_DEVICE_TYPES[_ACCESSIBLE[0]]}, for the target {capabilities.target}"
            )
        return number
    if not hasattr(device, "__index__"):
        raise TypeError(f"from_dlpack: device: expected an int or a pair of ints, got {device!r}")
    return device.__index__()


def _capsule(x: Any, copy: bool | None) -> Any:
    """Export `x` as a DLPack capsule; the null stream waits for its data."""
    arguments = {} if _NULL_STREAM is None else {"stream": _NULL_STREAM}
    newer: dict[str, Any] = {"max_version": (1, 1)}
    if copy is False:
        newer["copy"] = False
    try:
        return x.__dlpack__(**arguments, **newer)
    except TypeError:  # a producer older than DLPack 1.0
        return x.__dlpack__(**arguments)


def _order(stream: StreamLike, array: core.GPUArray) -> None:
    """Make `stream` wait for the work of the null stream of the array's device."""
    if stream is not None and array.size > 0:
        order_after(stream, None)


def _from_interface(x: object, interface: Mapping[str, Any], stream: StreamLike) -> core.GPUArray:
    """Make a GPUArray that shares the memory described by ``__cuda_array_interface__``."""
    if interface.get("mask") is not None:
        raise BufferError("asarray: the array has a mask, which GPUArrays do not support")
    for key in ("data", "shape", "typestr"):
        if interface.get(key) is None:
            raise TypeError(
                f"asarray: __cuda_array_interface__ of {type(x).__name__} has no {key!r}"
            )
    address, read_only = core._interface_data(interface)
    if read_only:
        raise BufferError(
            "asarray: the array is read-only, and GPUArrays are writable; copy it in its own "
            "library, or with GPUArray(shape, dtype, gpudata=x).copy()"
        )
    producer = interface.get("stream") if _version(interface) >= 3 else None
    if producer == 0:
        raise ValueError(
            "asarray: stream 0 in __cuda_array_interface__ is ambiguous; pass 1 for the legacy "
            "default stream, 2 for the per-thread default stream"
        )
    strides, wait = interface.get("strides"), producer != _LEGACY
    array = core._borrow_memory(x, address, interface["shape"], strides, _dtype(interface), wait)
    if array.size:
        here = errors.check(core.cudaPointerGetAttributes(array.ptr), "cudaPointerGetAttributes")
        with core.device(here["device"]):
            if _version(interface) < 3:  # older versions have no stream to wait for
                errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")
            elif producer is not None and producer != _LEGACY:
                order_after(None, producer)
            _order(stream, array)
    return array


def _version(interface: Mapping[str, Any]) -> int:
    version: int = interface.get("version", 0)
    return version


def _dtype(interface: Mapping[str, Any]) -> DType:
    dtype: DType = np.dtype(interface["typestr"])
    descr = interface.get("descr")
    if dtype.kind == "V" and descr is not None and descr != [("", interface["typestr"])]:
        dtype = np.dtype(descr)
    return dtype


docstrings.complete(__name__)
