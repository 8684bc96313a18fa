// Docstrings of the calls on devices. HIP defines macros of the calls' names, so the strings have a
// suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaDeviceProp_text[] =
    R"(Properties of a device, read once when the object is made.

Parameters
----------
device : int
    Ordinal of the device.

See Also
--------
cudaDeviceGetAttribute : Read one attribute of a device.

Examples
--------
>>> import PyGPU
>>> properties = PyGPU.cudaDeviceProp(0)
>>> properties.last_status()
<cudaError: code=0>
>>> properties.totalGlobalMem() > 0
True
)";

inline constexpr char cudaGetDeviceCount_text[] = R"(Return the number of devices.

-> count: Number of devices that this process can use.

>>> count, status = PyGPU.cudaGetDeviceCount()
>>> count > 0, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaGetDevice_text[] = R"(Return the calling thread's current device.

-> device: Ordinal of the device.

>>> PyGPU.cudaSetDevice(0)
<cudaError: code=0>
>>> PyGPU.cudaGetDevice()
(0, <cudaError: code=0>)
)";

inline constexpr char cudaSetDevice_text[] = R"(Make a device the calling thread's current device.

>>> PyGPU.cudaSetDevice(0)
<cudaError: code=0>
>>> PyGPU.cudaSetDevice(99).name
'cudaErrorInvalidDevice'
)";

inline constexpr char cudaDeviceSynchronize_text[] =
    R"(Wait until the current device has finished all its work.

-> Outcome of the call, or an error of the work that was waited for.

>>> PyGPU.cudaDeviceSynchronize()
<cudaError: code=0>
)";

inline constexpr char cudaDeviceReset_text[] =
    R"(Destroy this process's memory, streams and events on the current device.

Later uses of these objects report an error; releasing them does nothing.

>>> PyGPU.cudaDeviceReset()
<cudaError: code=0>
)";

inline constexpr char cudaDeviceGetAttribute_text[] = R"(Return an attribute of a device.

attribute: One of the numbers ``cudaDevAttr...``.
-> value: Value of the attribute.

>>> value, status = PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrWarpSize, 0)
>>> value in (32, 64), status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetByPCIBusId_text[] = R"(Return the device with a PCI bus id.

id: Bus id in the form ``'domain:bus:device.function'``.
-> device: Ordinal of the device.

>>> bus_id, status = PyGPU.cudaDeviceGetPCIBusId(0)
>>> PyGPU.cudaDeviceGetByPCIBusId(bus_id)
(0, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetPCIBusId_text[] = R"(Return the PCI bus id of a device.

-> id: Bus id in the form ``'domain:bus:device.function'``.

>>> bus_id, status = PyGPU.cudaDeviceGetPCIBusId(0)
>>> bus_id.count(":"), status
(2, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetLimit_text[] = R"(Return a limit of the current device.

limit: One of the numbers ``cudaLimit...``.
-> value: The limit in bytes.

>>> value, status = PyGPU.cudaDeviceGetLimit(PyGPU.cudaLimitStackSize)
>>> value > 0, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceSetLimit_text[] = R"(Set a limit of the current device.

limit: One of the numbers ``cudaLimit...``.
value: The limit in bytes.

>>> value, status = PyGPU.cudaDeviceGetLimit(PyGPU.cudaLimitStackSize)
>>> PyGPU.cudaDeviceSetLimit(PyGPU.cudaLimitStackSize, value)
<cudaError: code=0>
)";

inline constexpr char cudaDeviceGetCacheConfig_text[] =
    R"(Return whether the current device prefers cache or shared memory.

-> config: One of the numbers ``cudaFuncCachePrefer...``.

>>> config, status = PyGPU.cudaDeviceGetCacheConfig()
>>> status
<cudaError: code=0>
)";

inline constexpr char cudaDeviceSetCacheConfig_text[] =
    R"(Make the current device prefer cache or shared memory.

config: One of the numbers ``cudaFuncCachePrefer...``.

>>> PyGPU.cudaDeviceSetCacheConfig(PyGPU.cudaFuncCachePreferNone)
<cudaError: code=0>
)";

inline constexpr char cudaDeviceGetStreamPriorityRange_text[] =
    R"(Return the priorities that streams of the current device can have.

A lower number is a higher priority.

-> least: The number of the lowest priority.
-> greatest: The number of the highest priority.

>>> least, greatest, status = PyGPU.cudaDeviceGetStreamPriorityRange()
>>> greatest <= least, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaGetDeviceFlags_text[] = R"(Return the flags of the current device.

-> flags: A combination of the numbers ``cudaDevice...``.

>>> flags, status = PyGPU.cudaGetDeviceFlags()
>>> status
<cudaError: code=0>
)";

inline constexpr char cudaSetDeviceFlags_text[] = R"(Set the flags of the current device.

flags: A combination of the numbers ``cudaDevice...``.

>>> PyGPU.cudaSetDeviceFlags(PyGPU.cudaDeviceScheduleAuto)
<cudaError: code=0>
)";

inline constexpr char cudaMemGetInfo_text[] =
    R"(Return the free and total memory of the current device.

-> free: Free memory in bytes.
-> total: Total memory in bytes.

>>> free, total, status = PyGPU.cudaMemGetInfo()
>>> 0 < free <= total, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaDriverGetVersion_text[] =
    R"(Return the newest version of CUDA that the driver supports.

-> version: The version as 1000 * major + 10 * minor.

>>> version, status = PyGPU.cudaDriverGetVersion()
>>> version >= 11030, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaRuntimeGetVersion_text[] = R"(Return the version of the runtime.

-> version: The version as 1000 * major + 10 * minor.

>>> version, status = PyGPU.cudaRuntimeGetVersion()
>>> version >= 11030, status
(True, <cudaError: code=0>)
)";

}  // namespace PyGPU::python::docs
