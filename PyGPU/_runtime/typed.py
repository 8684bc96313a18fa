"""Low-level classes for each dtype, such as DeviceArray_int64, the DeviceArray for int64."""

from __future__ import annotations

from PyGPU._runtime.targets import core

_ALLOCATOR = """Owner of {memory} for {{dtype}} elements.

    Examples
    --------
    >>> import PyGPU
    >>> allocator = PyGPU.{name}_{{dtype}}()
    >>> allocator.allocate(4)
    <cudaError: code=0>
    >>> allocator.size()
    4
    """
_DOCS = {
    "DeviceArray": """A {dtype} array with a copy in host memory and a copy in device memory.

    The array takes one of three forms: ``(buffer)`` uses the buffer's memory; ``(shape, order)``
    allocates zeroed host memory; ``(pointer, shape, order)`` uses the memory behind a pointer.

    Parameters
    ----------
    source : buffer, int, sequence of int or pointer_wrapper_{dtype}
        Contiguous buffer, which is kept alive; shape; or pointer to host or device memory.
    shape : int or sequence of int, optional
        Shape of the memory behind a pointer; the order, if `source` is a shape.
    order : {{"C", "F"}}, optional
        Order of the elements in memory, "C" by default.

    Examples
    --------
    >>> import PyGPU
    >>> array = PyGPU.DeviceArray_{dtype}((2, 3))
    >>> array.allocate(), array.to_device()
    (<cudaError: code=0>, <cudaError: code=0>)
    >>> array.shape()
    (2, 3)
    """,
    "pointer_wrapper": """The address of {dtype} elements.

    Parameters
    ----------
    address : int or buffer, optional
        Address of the first element, or a buffer of {dtype}, which is kept alive.
    size : int, optional
        Number of elements; 0 if unknown.
    host : bool, optional
        True if the address is in host memory.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> pointer = PyGPU.pointer_wrapper_{dtype}(np.zeros(4, "{dtype}"))
    >>> pointer.is_safe(), pointer.size
    (True, 4)
    """,
    "HostAllocator": _ALLOCATOR.format(name="HostAllocator", memory="zeroed pageable host memory"),
    "DeviceAllocator": _ALLOCATOR.format(name="DeviceAllocator", memory="device memory"),
    "PagelockedAllocator": _ALLOCATOR.format(
        name="PagelockedAllocator", memory="page-locked host memory"
    ),
}


def _typed(base: type, dtype: str) -> type:
    """Return a subclass of `base` with the attribute `dtype`, which the C++ constructor reads."""
    body = {
        "dtype": dtype,
        "__doc__": _DOCS[base.__name__].format(dtype=dtype),
        "__module__": "PyGPU",
        "__slots__": (),
    }
    return type(f"{base.__name__}_{dtype}", (base,), body)


_classes = {}
for _dtype in core.SUPPORTED_DTYPES:
    for _family in _DOCS:
        _classes[f"{_family}_{_dtype}"] = _typed(getattr(core, _family), _dtype)
    _pointer = _classes[f"ptr_wrapper_{_dtype}"] = _classes[f"pointer_wrapper_{_dtype}"]
    core._set_pointer_class(_dtype, _pointer)

globals().update(_classes)
__all__ = [*_classes]
