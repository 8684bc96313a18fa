// Docstrings of the calls that share memory and events between processes. HIP defines macros of the
// calls' names, so the strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaIpcGetMemHandle_text[] =
    R"(Return a handle by which another process can open device memory.

address: Address of the device memory.
-> handle: The handle, 64 bytes.
See cudaIpcOpenMemHandle: Open the memory in another process.

>>> address, status = PyGPU.cudaMalloc(1024)
>>> handle, status = PyGPU.cudaIpcGetMemHandle(address)
>>> len(handle)
64
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaIpcOpenMemHandle_text[] = R"(Open another process's device memory.

handle: Handle that cudaIpcGetMemHandle returned in that process, 64 bytes.
flags: Must be ``cudaIpcMemLazyEnablePeerAccess``.
-> address: Address of the memory in this process; 0 after an error.
Raises ValueError: If `handle` does not have 64 bytes.

>>> address, status = PyGPU.cudaIpcOpenMemHandle(bytes(64))  # no handle of a process
>>> address, bool(status)
(0, True)
)";

inline constexpr char cudaIpcCloseMemHandle_text[] =
    R"(Close memory that cudaIpcOpenMemHandle opened.

address: Address that cudaIpcOpenMemHandle returned.

>>> bool(PyGPU.cudaIpcCloseMemHandle(4096))  # not opened: an error
True
)";

inline constexpr char cudaIpcGetEventHandle_text[] =
    R"(Return a handle by which another process can open an event.

event: Event that was made with the flags ``cudaEventInterprocess | cudaEventDisableTiming``.
-> handle: The handle, 64 bytes.
See cudaIpcOpenEventHandle: Open the event in another process.

>>> event = PyGPU.cudaEvent_t(PyGPU.cudaEventInterprocess | PyGPU.cudaEventDisableTiming)
>>> handle, status = PyGPU.cudaIpcGetEventHandle(event)
>>> len(handle)
64
)";

inline constexpr char cudaIpcOpenEventHandle_text[] = R"(Open another process's event.

handle: Handle that cudaIpcGetEventHandle returned in that process, 64 bytes.
-> event: The event; empty after an error.
Raises ValueError: If `handle` does not have 64 bytes.

>>> event, status = PyGPU.cudaIpcOpenEventHandle(bytes(64))  # no handle of a process
>>> bool(status)
True
)";

}  // namespace PyGPU::python::docs
