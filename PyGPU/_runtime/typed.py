"""Classes of the low level for each dtype, such as DeviceArray_int64, the DeviceArray of int64."""

from __future__ import annotations

from PyGPU._runtime.targets import core

_ALLOCATOR = """{summary}

Examples
--------
>>> import PyGPU
>>> allocator = PyGPU.{name}()
>>> allocator.allocate(3)
<cudaError: code=0>
>>> allocator.size()
3
"""

_DOCS = {
    "DeviceArray": """Host buffer of {dtype} elements and its counterpart on the device.

Memory is allocated and copied only when a method is called. Each step returns a status.

Parameters
----------
source : buffer, shape or pointer_wrapper_{dtype}
    A contiguous buffer of {dtype} becomes the host buffer and is kept alive. A shape, an int or
    ints, allocates a zeroed host buffer. A pointer's memory becomes the host buffer or the device
    memory.
shape : int or sequence of int, optional
    Shape of a pointer's memory. If `source` is a shape, the order may be given here.
order : {{'C', 'F'}} or bool, optional
    Order of the elements; C by default. True means C, False means Fortran.

Raises
------
TypeError
    If a buffer or pointer has another dtype.
ValueError
    If a buffer is not contiguous, or a pointer has too few elements for the shape.

Examples
--------
>>> import PyGPU
>>> array = PyGPU.{name}((2, 3))
>>> array.allocate(), array.to_device(), array.to_host()
(<cudaError: code=0>, <cudaError: code=0>, <cudaError: code=0>)
>>> array.shape()
(2, 3)
""",
    "pointer_wrapper": """Address of {dtype} elements.

Parameters
----------
address : int, buffer or pointer_wrapper_{dtype}, default 0
    An address, or a contiguous buffer of {dtype}, which the pointer keeps alive.
size : int, default 0
    Number of elements that may be accessed; 0 means unknown.
host : bool, default False
    True if the address is in host memory.

Raises
------
TypeError
    If a buffer or pointer has another dtype.
ValueError
    If a buffer is not contiguous.

Examples
--------
>>> import PyGPU
>>> PyGPU.{name}(4096, size=8)
<{name} 0x1000>
""",
    "HostAllocator": _ALLOCATOR.replace(
        "{summary}", "Owner of zeroed pageable host memory for {dtype} elements."
    ),
    "DeviceAllocator": _ALLOCATOR.replace(
        "{summary}", "Owner of device memory for {dtype} elements."
    ),
    "PagelockedAllocator": _ALLOCATOR.replace(
        "{summary}", "Owner of page-locked host memory for {dtype} elements."
    ),
}


def _typed(base: type, dtype: str) -> type:
    """Return the subclass of ``base`` for a dtype; the C++ constructor reads its ``dtype``."""
    name = f"{base.__name__}_{dtype}"
    body = {
        "dtype": dtype,
        "__doc__": _DOCS[base.__name__].format(dtype=dtype, name=name),
        "__module__": "PyGPU",
        "__slots__": (),
    }
    return type(name, (base,), body)


_classes = {}
for _dtype in core.SUPPORTED_DTYPES:
    for _family in _DOCS:
        _classes[f"{_family}_{_dtype}"] = _typed(getattr(core, _family), _dtype)
    _pointer = _classes[f"ptr_wrapper_{_dtype}"] = _classes[f"pointer_wrapper_{_dtype}"]
    core._set_pointer_class(_dtype, _pointer)

globals().update(_classes)
__all__ = [*_classes]
