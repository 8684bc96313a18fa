// Docstrings of the calls that share memory and events between processes. HIP defines macros of the
// calls' names, so the strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaIpcGetMemHandle_text[] =
    R"(Return a handle by which another process can open device memory.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address of the device memory.

Returns
-------
handle : bytes
    The handle, 64 bytes.
status : cudaError_t
    Outcome of the call.

See Also
--------
cudaIpcOpenMemHandle : Open the memory in another process.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMalloc(1024)
>>> handle, status = PyGPU.cudaIpcGetMemHandle(address)
>>> len(handle)
64
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaIpcOpenMemHandle_text[] = R"(Open another process's device memory.

Parameters
----------
handle : bytes
    Handle that cudaIpcGetMemHandle returned in that process, 64 bytes.
flags : int, default cudaIpcMemLazyEnablePeerAccess
    Must be ``cudaIpcMemLazyEnablePeerAccess``.

Returns
-------
address : int
    Address of the memory in this process; 0 after an error.
status : cudaError_t
    Outcome of the call.

Raises
------
ValueError
    If `handle` does not have 64 bytes.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaIpcOpenMemHandle(bytes(64))  # no handle of a process
>>> address, bool(status)
(0, True)
)";

inline constexpr char cudaIpcCloseMemHandle_text[] =
    R"(Close memory that cudaIpcOpenMemHandle opened.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address that cudaIpcOpenMemHandle returned.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> bool(PyGPU.cudaIpcCloseMemHandle(4096))  # not opened: an error
True
)";

inline constexpr char cudaIpcGetEventHandle_text[] =
    R"(Return a handle by which another process can open an event.

Parameters
----------
event : cudaEvent_t
    Event that was made with the flags ``cudaEventInterprocess | cudaEventDisableTiming``.

Returns
-------
handle : bytes
    The handle, 64 bytes.
status : cudaError_t
    Outcome of the call.

See Also
--------
cudaIpcOpenEventHandle : Open the event in another process.

Examples
--------
>>> import PyGPU
>>> event = PyGPU.cudaEvent_t(PyGPU.cudaEventInterprocess | PyGPU.cudaEventDisableTiming)
>>> handle, status = PyGPU.cudaIpcGetEventHandle(event)
>>> len(handle)
64
)";

inline constexpr char cudaIpcOpenEventHandle_text[] = R"(Open another process's event.

Parameters
----------
handle : bytes
    Handle that cudaIpcGetEventHandle returned in that process, 64 bytes.

Returns
-------
event : cudaEvent_t
    The event; empty after an error.
status : cudaError_t
    Outcome of the call.

Raises
------
ValueError
    If `handle` does not have 64 bytes.

Examples
--------
>>> import PyGPU
>>> event, status = PyGPU.cudaIpcOpenEventHandle(bytes(64))  # no handle of a process
>>> bool(status)
True
)";

}  // namespace PyGPU::python::docs
