"""Low-level classes for each dtype, such as DeviceArray_int64, the DeviceArray for int64."""

from __future__ import annotations

from PyGPU._runtime.targets import core

_DOCS = {
    "DeviceArray": """A host buffer of {dtype} and its twin on the device.

    ``(buffer)`` aliases a contiguous buffer and keeps it alive; ``(shape, order='C')`` has zeroed
    host memory of its own; ``(pointer, shape, order='C')`` borrows the memory behind a
    pointer_wrapper_{dtype}.
    """,
    "pointer_wrapper": """The address of {dtype} elements.

    ``(address, size=0, host=False)``: an address, of ``size`` elements if that is known, in host
    memory if ``host``; or ``(buffer)``: that of a buffer of {dtype}, which is kept alive.
    """,
    "HostAllocator": "Owner of zeroed pageable host memory for {dtype} elements.",
    "DeviceAllocator": "Owner of device memory for {dtype} elements.",
    "PagelockedAllocator": "Owner of page-locked host memory for {dtype} elements.",
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
