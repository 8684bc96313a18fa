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

Returns
-------
count : int
    Number of devices that this process can use.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> count, status = PyGPU.cudaGetDeviceCount()
>>> count > 0, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaGetDevice_text[] = R"(Return the calling thread's current device.

Returns
-------
device : int
    Ordinal of the device.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaSetDevice(0)
<cudaError: code=0>
>>> PyGPU.cudaGetDevice()
(0, <cudaError: code=0>)
)";

inline constexpr char cudaSetDevice_text[] = R"(Make a device the calling thread's current device.

Parameters
----------
device : int
    Ordinal of the device.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaSetDevice(0)
<cudaError: code=0>
>>> PyGPU.cudaSetDevice(99).name
'cudaErrorInvalidDevice'
)";

inline constexpr char cudaDeviceSynchronize_text[] =
    R"(Wait until the current device has finished all its work.

Returns
-------
cudaError_t
    Outcome of the call, or an error of the work that was waited for.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaDeviceSynchronize()
<cudaError: code=0>
)";

inline constexpr char cudaDeviceReset_text[] =
    R"(Destroy this process's memory, streams and events on the current device.

Later uses of these objects report an error; releasing them does nothing.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaDeviceReset()
<cudaError: code=0>
)";

inline constexpr char cudaDeviceGetAttribute_text[] = R"(Return an attribute of a device.

Parameters
----------
attribute : int
    One of the numbers ``cudaDevAttr...``.
device : int
    Ordinal of the device.

Returns
-------
value : int
    Value of the attribute.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> value, status = PyGPU.cudaDeviceGetAttribute(PyGPU.cudaDevAttrWarpSize, 0)
>>> value in (32, 64), status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetByPCIBusId_text[] = R"(Return the device with a PCI bus id.

Parameters
----------
id : str
    Bus id in the form ``'domain:bus:device.function'``.

Returns
-------
device : int
    Ordinal of the device.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> bus_id, status = PyGPU.cudaDeviceGetPCIBusId(0)
>>> PyGPU.cudaDeviceGetByPCIBusId(bus_id)
(0, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetPCIBusId_text[] = R"(Return the PCI bus id of a device.

Parameters
----------
device : int
    Ordinal of the device.

Returns
-------
id : str
    Bus id in the form ``'domain:bus:device.function'``.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> bus_id, status = PyGPU.cudaDeviceGetPCIBusId(0)
>>> bus_id.count(":"), status
(2, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceGetLimit_text[] = R"(Return a limit of the current device.

Parameters
----------
limit : int
    One of the numbers ``cudaLimit...``.

Returns
-------
value : int
    The limit in bytes.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> value, status = PyGPU.cudaDeviceGetLimit(PyGPU.cudaLimitStackSize)
>>> value > 0, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaDeviceSetLimit_text[] = R"(Set a limit of the current device.

Parameters
----------
limit : int
    One of the numbers ``cudaLimit...``.
value : int
    The limit in bytes.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> value, status = PyGPU.cudaDeviceGetLimit(PyGPU.cudaLimitStackSize)
>>> PyGPU.cudaDeviceSetLimit(PyGPU.cudaLimitStackSize, value)
<cudaError: code=0>
)";

inline constexpr char cudaDeviceGetCacheConfig_text[] =
    R"(Return whether the current device prefers cache or shared memory.

Returns
-------
config : int
    One of the numbers ``cudaFuncCachePrefer...``.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> config, status = PyGPU.cudaDeviceGetCacheConfig()
>>> status
<cudaError: code=0>
)";

inline constexpr char cudaDeviceSetCacheConfig_text[] =
    R"(Make the current device prefer cache or shared memory.

Parameters
----------
config : int
    One of the numbers ``cudaFuncCachePrefer...``.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaDeviceSetCacheConfig(PyGPU.cudaFuncCachePreferNone)
<cudaError: code=0>
)";

inline constexpr char cudaDeviceGetStreamPriorityRange_text[] =
    R"(Return the priorities that streams of the current device can have.

A lower number is a higher priority.

Returns
-------
least : int
    The number of the lowest priority.
greatest : int
    The number of the highest priority.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> least, greatest, status = PyGPU.cudaDeviceGetStreamPriorityRange()
>>> greatest <= least, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaGetDeviceFlags_text[] = R"(Return the flags of the current device.

Returns
-------
flags : int
    A combination of the numbers ``cudaDevice...``.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> flags, status = PyGPU.cudaGetDeviceFlags()
>>> status
<cudaError: code=0>
)";

inline constexpr char cudaSetDeviceFlags_text[] = R"(Set the flags of the current device.

Parameters
----------
flags : int
    A combination of the numbers ``cudaDevice...``.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> PyGPU.cudaSetDeviceFlags(PyGPU.cudaDeviceScheduleAuto)
<cudaError: code=0>
)";

inline constexpr char cudaMemGetInfo_text[] =
    R"(Return the free and total memory of the current device.

Returns
-------
free : int
    Free memory in bytes.
total : int
    Total memory in bytes.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> free, total, status = PyGPU.cudaMemGetInfo()
>>> 0 < free <= total, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaDriverGetVersion_text[] =
    R"(Return the newest version of CUDA that the driver supports.

Returns
-------
version : int
    The version as 1000 * major + 10 * minor.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> version, status = PyGPU.cudaDriverGetVersion()
>>> version >= 11030, status
(True, <cudaError: code=0>)
)";

inline constexpr char cudaRuntimeGetVersion_text[] = R"(Return the version of the runtime.

Returns
-------
version : int
    The version as 1000 * major + 10 * minor.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> version, status = PyGPU.cudaRuntimeGetVersion()
>>> version >= 11030, status
(True, <cudaError: code=0>)
)";

}  // namespace PyGPU::python::docs
