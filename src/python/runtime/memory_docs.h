// Docstrings of the calls that allocate, free, register and share memory. HIP defines macros of the
// calls' names, so the strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaMalloc_text[] = R"(Allocate device memory.

Parameters
----------
nbytes : int
    Number of bytes.

Returns
-------
address : int
    Address of the memory; 0 after an error.
status : cudaError_t
    Outcome of the call.

See Also
--------
cudaFree : Free the memory.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMalloc(1024)
>>> status
<cudaError: code=0>
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocPitch_text[] =
    R"(Allocate device memory for rows at an aligned pitch.

Parameters
----------
width : int
    Bytes of each row.
height : int
    Number of rows.

Returns
-------
address : int
    Address of the first row; 0 after an error.
pitch : int
    Bytes from one row to the next.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, pitch, status = PyGPU.cudaMallocPitch(100, 4)
>>> pitch >= 100, status
(True, <cudaError: code=0>)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocManaged_text[] =
    R"(Allocate managed memory, which both host and device can reach.

Parameters
----------
nbytes : int
    Number of bytes.
flags : int, default cudaMemAttachGlobal
    ``cudaMemAttachGlobal`` or ``cudaMemAttachHost``.

Returns
-------
address : int
    Address of the memory; 0 after an error.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocManaged(1024)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocAsync_text[] =
    R"(Allocate device memory from the device's pool, in the order of a stream.

Parameters
----------
nbytes : int
    Number of bytes.
stream : cudaStream_t, int or None, default None
    Stream after whose earlier work the memory may be used; None is the null stream.

Returns
-------
address : int
    Address of the memory; 0 after an error.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocAsync(1024)
>>> PyGPU.cudaFreeAsync(address)
<cudaError: code=0>
)";

inline constexpr char cudaFree_text[] = R"(Free device or managed memory.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address of the memory.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMalloc(1024)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
>>> PyGPU.cudaFree(address)  # freed already
<cudaError: code=1>
)";

inline constexpr char cudaFreeAsync_text[] =
    R"(Free memory of cudaMallocAsync after the work that a stream has so far.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address of the memory.
stream : cudaStream_t, int or None, default None
    Stream; None is the null stream.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocAsync(1024)
>>> PyGPU.cudaFreeAsync(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocHost_text[] = R"(Allocate page-locked host memory.

Parameters
----------
nbytes : int
    Number of bytes.

Returns
-------
address : int
    Address of the memory; 0 after an error.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocHost(1024)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaHostAlloc_text[] = R"(Allocate page-locked host memory with flags.

Parameters
----------
nbytes : int
    Number of bytes.
flags : int, default 0
    A combination of the numbers ``cudaHostAlloc...``.

Returns
-------
address : int
    Address of the memory; 0 after an error.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaHostAlloc(1024, PyGPU.cudaHostAllocMapped)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaFreeHost_text[] = R"(Free page-locked host memory.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address that cudaMallocHost or cudaHostAlloc returned.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocHost(1024)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaHostGetDevicePointer_text[] =
    R"(Return the device's address of mapped page-locked memory.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    The host's address of the memory.

Returns
-------
device_address : int
    The device's address of the memory; 0 after an error.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> host, status = PyGPU.cudaHostAlloc(1024, PyGPU.cudaHostAllocMapped)
>>> device, status = PyGPU.cudaHostGetDevicePointer(host)
>>> device != 0, status
(True, <cudaError: code=0>)
>>> PyGPU.cudaFreeHost(host)
<cudaError: code=0>
)";

inline constexpr char cudaHostGetFlags_text[] = R"(Return the flags of page-locked memory.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address that cudaHostAlloc returned.

Returns
-------
flags : int
    A combination of the numbers ``cudaHostAlloc...``.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaHostAlloc(1024, PyGPU.cudaHostAllocMapped)
>>> flags, status = PyGPU.cudaHostGetFlags(address)
>>> bool(flags & PyGPU.cudaHostAllocMapped), status
(True, <cudaError: code=0>)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaHostRegister_text[] = R"(Page-lock existing host memory.

Parameters
----------
memory : buffer or address
    A contiguous buffer such as a NumPy array, or the address of the memory.
nbytes : int, default 0
    Number of bytes; required with an address. 0 means all of a buffer.
flags : int, default cudaHostRegisterDefault
    A combination of the numbers ``cudaHostRegister...``.

Returns
-------
cudaError_t
    Outcome of the call; an error if `nbytes` is more than the buffer holds.

Raises
------
ValueError
    If an address is given without `nbytes`.

Examples
--------
>>> import numpy as np
>>> import PyGPU
>>> memory = np.zeros(1024, np.float32)
>>> PyGPU.cudaHostRegister(memory)
<cudaError: code=0>
>>> PyGPU.cudaHostUnregister(memory)
<cudaError: code=0>
)";

inline constexpr char cudaHostUnregister_text[] = R"(Undo cudaHostRegister.

Parameters
----------
memory : buffer or address
    The buffer or address that was registered.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import numpy as np
>>> import PyGPU
>>> memory = np.zeros(1024, np.float32)
>>> PyGPU.cudaHostRegister(memory)
<cudaError: code=0>
>>> PyGPU.cudaHostUnregister(memory)
<cudaError: code=0>
)";

inline constexpr char cudaStreamAttachMemAsync_text[] =
    R"(Attach managed memory to a stream, in the order of that stream.

Parameters
----------
stream : cudaStream_t, int or None
    Stream; None is the null stream.
address : int, pointer_wrapper or an object with ``.ptr``
    Address of the managed memory.
nbytes : int, default 0
    0, or the number of bytes that were allocated.
flags : int, default cudaMemAttachSingle
    One of the numbers ``cudaMemAttach...``.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocManaged(1024)
>>> stream = PyGPU.cudaStream_t()
>>> PyGPU.cudaStreamAttachMemAsync(stream, address)
<cudaError: code=0>
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemPrefetchAsync_text[] =
    R"(Move managed memory to a device or to the host before it is used there.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    Address of the managed memory.
nbytes : int
    Number of bytes.
device : int
    Ordinal of the device, or ``cudaCpuDeviceId`` for the host.
stream : cudaStream_t, int or None, default None
    Stream that orders the move; None is the null stream.

Returns
-------
cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMallocManaged(1024)
>>> PyGPU.cudaMemPrefetchAsync(address, 1024, 0)
<cudaError: code=0>
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaPointerGetAttributes_text[] =
    R"(Return the kind of memory at an address, and its device.

Parameters
----------
address : int, pointer_wrapper or an object with ``.ptr``
    The address.

Returns
-------
attributes : dict
    ``type``, one of the numbers ``cudaMemoryType...``; ``device``, an ordinal; ``devicePointer``
    and ``hostPointer``, the addresses of the memory on the device and on the host.
status : cudaError_t
    Outcome of the call.

Examples
--------
>>> import PyGPU
>>> address, status = PyGPU.cudaMalloc(1024)
>>> attributes, status = PyGPU.cudaPointerGetAttributes(address)
>>> attributes["type"] == PyGPU.cudaMemoryTypeDevice
True
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

}  // namespace PyGPU::python::docs
