// Docstrings of the calls on pairs of devices.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaDeviceCanAccessPeer_text[] =
    R"(Return whether a device can reach the memory of another.

device: Ordinal of the device that reads and writes.
-> possible: 1 if it can, else 0.

>>> PyGPU.cudaDeviceCanAccessPeer(0, 0)
(0, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetP2PAttribute_text[] =
    R"(Return an attribute of the link between two devices.

attribute: A number ``cudaDevP2PAttr...``.
device: Ordinal of the device that reads and writes.
-> value: Value of the attribute: 0 or 1. A performance rank is a number on the vendor's scale.

>>> value, status = PyGPU.cudaDeviceGetP2PAttribute(PyGPU.cudaDevP2PAttrAccessSupported, 0, 99)
>>> status.name  # no such device
'cudaErrorInvalidDevice'
)";

inline constexpr char cudaDeviceEnablePeerAccess_text[] =
    R"(Let the current device reach the memory of another.

flags: Must be 0.

>>> PyGPU.cudaDeviceEnablePeerAccess(99).name  # no such device
'cudaErrorInvalidDevice'
)";

inline constexpr char cudaDeviceDisablePeerAccess_text[] =
    R"(End the access that cudaDeviceEnablePeerAccess enabled.

>>> PyGPU.cudaDeviceDisablePeerAccess(99).name  # no such device
'cudaErrorInvalidDevice'
)";

}  // namespace PyGPU::python::docs
