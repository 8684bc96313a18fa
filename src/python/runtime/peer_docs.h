// Docstrings of the calls on pairs of devices.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaDeviceCanAccessPeer_text[] =
    R"(Return whether a device can reach the memory of another.

Parameters
----------
device : int
    Ordinal of the device that reads and writes.
peer : int
    Ordinal of the device that owns the memory.

Returns
-------
possible : int
    1 if it can, else 0.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaDeviceCanAccessPeer(0, 0)
(0, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetP2PAttribute_text[] =
    R"(Return an attribute of the link between two devices.

Parameters
----------
attribute : int
    A number ``cudaDevP2PAttr...``.
device : int
    Ordinal of the device that reads and writes.
peer : int
    Ordinal of the device that owns the memory.

Returns
-------
value : int
    Value of the attribute: 0 or 1. A performance rank is a number on the vendor's scale.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> value, status = PyGPU.cudaDeviceGetP2PAttribute(PyGPU.cudaDevP2PAttrAccessSupported, 0, 99)
>>> status.name  # no such device
'cudaErrorInvalidDevice'
)";

inline constexpr char cudaDeviceEnablePeerAccess_text[] =
    R"(Let the current device reach the memory of another.

Parameters
----------
peer : int
    Ordinal of the device that owns the memory.
flags : int, default 0
    Must be 0.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaDeviceEnablePeerAccess(99).name  # no such device
'cudaErrorInvalidDevice'
)";

inline constexpr char cudaDeviceDisablePeerAccess_text[] =
    R"(End the access that cudaDeviceEnablePeerAccess enabled.

Parameters
----------
peer : int
    Ordinal of the device that owns the memory.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaDeviceDisablePeerAccess(99).name  # no such device
'cudaErrorInvalidDevice'
)";

}  // namespace PyGPU::python::docs
