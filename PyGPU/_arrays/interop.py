"""Arrays of other libraries as GPUArrays without a copy: DLPack and the CUDA array interface."""

import numpy as np

from PyGPU._runtime import core, errors, on_device, order_after, state

# DLPack's numbers of kinds of memory, and which of them device code reaches on this target.
_KINDS = {
    1: "the CPU",
    2: "a CUDA device",
    3: "page-locked memory of CUDA",
    10: "a ROCm device",
    11: "page-locked memory of ROCm",
    13: "managed memory of CUDA",
}
_DEVICES = {"cuda": (2, 13), "hip": (10,), "host": ()}[core.target]
_REACHED = {"cuda": (2, 3, 13), "hip": (10, 11), "host": (1,)}[core.target]
# What a producer calls the null stream, whose order GPUArrays follow; the CPU has no streams.
_NULL_STREAM = {"cuda": 1, "hip": 0, "host": None}[core.target]
_LEGACY = 1  # what the CUDA array interface calls it


def from_dlpack(x, /, *, device=None, copy=None, stream=None):
    """Another library's array as a GPUArray in the same memory, by DLPack.

    The work that its library has queued on it comes first, in the order of the null stream. The
    memory is given back when the last view is gone and the work on it that PyGPU queued is done.

    Parameters
    ----------
    x : object with ``__dlpack__`` and ``__dlpack_device__``
        On the device of this target; on ``host``, in the memory of the CPU.
    device : int or (int, int), optional
        The device that the array is to be on, by its number or in DLPack's form; another one than
        x is on makes a copy.
    copy : bool, optional
        True: a copy in memory of its own. False: no copy, neither here nor by x's library.
    stream : optional
        A non-blocking stream that the array is going to be used on: it waits for the data too.

    Raises
    ------
    BufferError
        For what is elsewhere, of a dtype that NumPy lacks, or read-only (unless copied).
    """
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(
            "from_dlpack: x: expected an object with __dlpack__ and __dlpack_device__, got "
            f"{type(x).__name__}"
        )
    device_id = tuple(int(part) for part in x.__dlpack_device__())
    here = _place(x, *device_id)
    wanted = here if device is None else _number(device)
    if wanted != here and copy is False:
        raise BufferError(
            f"from_dlpack: copy=False: x is on device {here}; on device {wanted} is only a copy"
        )
    with on_device(here):
        array = core._take_dlpack(_capsule(x, copy), x, device_id, copy is True)
        _order(stream, array)
    if wanted != here:
        strides = core.empty_like(array).strides  # without gaps, the axes in the same order
        with on_device(wanted):
            copied = core.GPUArray(array.shape, array.dtype, strides=strides)
            copied.set(array)
        return copied
    return array.copy() if copy else array


def asarray(x, *, stream=None):
    """A GPUArray in the memory of x, without a copy.

    Parameters
    ----------
    x : GPUArray, or array of another library in device memory
        A GPUArray is returned as it is. Others tell of their memory by the CUDA array interface
        of version 3, which orders work as DLPack does; by DLPack; or by an older interface, whose
        data is waited for with all work of the device.
    stream : optional
        A non-blocking stream that the array is going to be used on: it waits for the data too.

    Raises
    ------
    TypeError
        For arrays of NumPy and other objects of the host: ``to_gpu`` copies them.
    BufferError
        For memory that cannot be shared: elsewhere, read-only, with a mask.
    """
    if isinstance(x, core.GPUArray):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(
            f"asarray: {type(x).__name__} is an array on the host; to_gpu(x) copies it to a device"
        )
    interface = getattr(x, "__cuda_array_interface__", None)
    has_dlpack = hasattr(x, "__dlpack__")
    if interface is not None and (_version(interface) >= 3 or not has_dlpack):
        return _from_interface(x, interface, stream)
    if has_dlpack:
        return from_dlpack(x, stream=stream)
    raise TypeError(
        "asarray: expected a GPUArray or an object with __cuda_array_interface__ or __dlpack__, "
        f"got {type(x).__name__}; to_gpu(numpy.asarray(x)) copies what is on the host"
    )


def _place(x, kind, number):
    """The number of the device that x is on, for this target."""
    if kind not in _REACHED:
        where = _KINDS.get(kind, f"a device of DLPack's type {kind}")
        advice = f"the target {core.target} reaches {_KINDS[_REACHED[0]]}; move x there first"
        if kind == 1:
            advice = "to_gpu(numpy.from_dlpack(x)) copies it to the device"
        raise BufferError(f"from_dlpack: {type(x).__name__} is on {where}; {advice}")
    if kind not in _DEVICES:
        return state.current_device()
    count = errors.check(core.cudaGetDeviceCount(), "cudaGetDeviceCount")
    if not 0 <= number < count:
        raise BufferError(
            f"from_dlpack: {type(x).__name__} is on device {number}; this process sees {count} "
            "of them, from 0 on"
        )
    return number


def _number(device):
    """What `device` asks for, as a number."""
    if isinstance(device, tuple):
        kind, number = (int(part) for part in device)
        if kind not in _REACHED:
            raise BufferError(
                f"from_dlpack: device={device}: the target {core.target} makes arrays on "
                f"{_KINDS[_REACHED[0]]} ({_REACHED[0]})"
            )
        return number
    if not hasattr(device, "__index__"):
        raise TypeError(f"from_dlpack: device: expected an int or a pair of ints, got {device!r}")
    return device.__index__()


def _capsule(x, copy):
    """A capsule of x, ready in the order of the null stream."""
    asked = {} if _NULL_STREAM is None else {"stream": _NULL_STREAM}
    newer = {"max_version": (1, 1)}
    if copy is False:
        newer["copy"] = False
    try:
        return x.__dlpack__(**asked, **newer)
    except TypeError:  # a producer from before DLPack 1.0
        return x.__dlpack__(**asked)


def _order(stream, array):
    """Work on `stream` waits for what the null stream of the array's device has to do."""
    if stream is not None and array.size > 0:
        order_after(stream, None)


def _from_interface(x, interface, stream):
    """The memory that ``__cuda_array_interface__`` tells of."""
    if interface.get("mask") is not None:
        raise BufferError("asarray: an array with a mask; a GPUArray has none")
    for key in ("data", "shape", "typestr"):
        if interface.get(key) is None:
            raise TypeError(
                f"asarray: __cuda_array_interface__ of {type(x).__name__} has no {key!r}"
            )
    address, read_only = interface["data"]
    if read_only:
        raise BufferError(
            "asarray: the array is read-only, which no GPUArray is; copy it in its own library, or "
            "with GPUArray(shape, dtype, gpudata=x).copy()"
        )
    producer = interface.get("stream") if _version(interface) >= 3 else None
    if producer == 0:
        raise ValueError(
            "asarray: stream 0 in __cuda_array_interface__ could mean two streams; 1 is the legacy "
            "default stream, 2 the per-thread one"
        )
    strides, wait = interface.get("strides"), producer != _LEGACY
    array = core._borrow_memory(x, address, interface["shape"], strides, _dtype(interface), wait)
    if array.size:
        here = errors.check(core.cudaPointerGetAttributes(array.ptr), "cudaPointerGetAttributes")
        with on_device(here["device"]):
            if _version(interface) < 3:  # which cannot tell what its data waits for
                errors.check(core.cudaDeviceSynchronize(), "cudaDeviceSynchronize")
            elif producer is not None and producer != _LEGACY:
                order_after(None, producer)
            _order(stream, array)
    return array


def _version(interface):
    return interface.get("version", 0)


def _dtype(interface):
    dtype = np.dtype(interface["typestr"])
    descr = interface.get("descr")
    if dtype.kind == "V" and descr is not None and descr != [("", interface["typestr"])]:
        return np.dtype(descr)
    return dtype
