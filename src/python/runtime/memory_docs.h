// Docstrings of the calls that allocate, free, register and share memory. HIP defines macros of the
// calls' names, so the strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaMalloc_text[] = R"(Allocate device memory.

-> address
See cudaFree: Free the memory.

>>> address, status = PyGPU.cudaMalloc(1024)
>>> status
<cudaError: code=0>
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocPitch_text[] =
    R"(Allocate device memory for rows at an aligned pitch.

-> address: Address of the first row; 0 after an error.
-> pitch: Bytes from one row to the next.

>>> address, pitch, status = PyGPU.cudaMallocPitch(100, 4)
>>> pitch >= 100, status
(True, <cudaError: code=0>)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocManaged_text[] =
    R"(Allocate managed memory, which both host and device can reach.

flags: ``cudaMemAttachGlobal``, the default, or ``cudaMemAttachHost``.
-> address

>>> address, status = PyGPU.cudaMallocManaged(1024)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocAsync_text[] =
    R"(Allocate device memory from the device's pool, in the order of a stream.

stream: Stream after whose earlier work the memory may be used; None is the null stream.
-> address

>>> address, status = PyGPU.cudaMallocAsync(1024)
>>> PyGPU.cudaFreeAsync(address)
<cudaError: code=0>
)";

inline constexpr char cudaFree_text[] = R"(Free device or managed memory.

>>> address, status = PyGPU.cudaMalloc(1024)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
>>> PyGPU.cudaFree(address)  # freed already
<cudaError: code=1>
)";

inline constexpr char cudaFreeAsync_text[] =
    R"(Free memory of cudaMallocAsync after the work that a stream has so far.

>>> address, status = PyGPU.cudaMallocAsync(1024)
>>> PyGPU.cudaFreeAsync(address)
<cudaError: code=0>
)";

inline constexpr char cudaMallocHost_text[] = R"(Allocate page-locked host memory.

-> address

>>> address, status = PyGPU.cudaMallocHost(1024)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaHostAlloc_text[] = R"(Allocate page-locked host memory with flags.

flags: A combination of the numbers ``cudaHostAlloc...``.
-> address

>>> address, status = PyGPU.cudaHostAlloc(1024, PyGPU.cudaHostAllocMapped)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaFreeHost_text[] = R"(Free page-locked host memory.

address: Address that cudaMallocHost or cudaHostAlloc returned.

>>> address, status = PyGPU.cudaMallocHost(1024)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaHostGetDevicePointer_text[] =
    R"(Return the device's address of mapped page-locked memory.

address: The host's address of the memory.
-> device_address: The device's address of the memory; 0 after an error.

>>> host, status = PyGPU.cudaHostAlloc(1024, PyGPU.cudaHostAllocMapped)
>>> device, status = PyGPU.cudaHostGetDevicePointer(host)
>>> device != 0, status
(True, <cudaError: code=0>)
>>> PyGPU.cudaFreeHost(host)
<cudaError: code=0>
)";

inline constexpr char cudaHostGetFlags_text[] = R"(Return the flags of page-locked memory.

address: Address that cudaHostAlloc returned.
-> flags: A combination of the numbers ``cudaHostAlloc...``.

>>> address, status = PyGPU.cudaHostAlloc(1024, PyGPU.cudaHostAllocMapped)
>>> flags, status = PyGPU.cudaHostGetFlags(address)
>>> bool(flags & PyGPU.cudaHostAllocMapped), status
(True, <cudaError: code=0>)
>>> PyGPU.cudaFreeHost(address)
<cudaError: code=0>
)";

inline constexpr char cudaHostRegister_text[] = R"(Page-lock existing host memory.

memory: A contiguous buffer such as a NumPy array, or the address of the memory.
nbytes: Number of bytes; required with an address. 0 means all of a buffer.
flags: A combination of the numbers ``cudaHostRegister...``.
-> Outcome of the call; an error if `nbytes` is more than the buffer holds.
Raises ValueError: If an address is given without `nbytes`.

>>> memory = np.zeros(1024, np.float32)
>>> PyGPU.cudaHostRegister(memory)
<cudaError: code=0>
>>> PyGPU.cudaHostUnregister(memory)
<cudaError: code=0>
)";

inline constexpr char cudaHostUnregister_text[] = R"(Undo cudaHostRegister.

memory: The buffer or address that was registered.

>>> memory = np.zeros(1024, np.float32)
>>> PyGPU.cudaHostRegister(memory)
<cudaError: code=0>
>>> PyGPU.cudaHostUnregister(memory)
<cudaError: code=0>
)";

inline constexpr char cudaStreamAttachMemAsync_text[] =
    R"(Attach managed memory to a stream, in the order of that stream.

address: Address of the managed memory.
nbytes: 0, or the number of bytes that were allocated.
flags: One of the numbers ``cudaMemAttach...``; cudaMemAttachSingle by default.

>>> address, status = PyGPU.cudaMallocManaged(1024)
>>> stream = PyGPU.cudaStream_t()
>>> PyGPU.cudaStreamAttachMemAsync(stream, address)
<cudaError: code=0>
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemPrefetchAsync_text[] =
    R"(Move managed memory to a device or to the host before it is used there.

address: Address of the managed memory.
device: Ordinal of the device, or ``cudaCpuDeviceId`` for the host.

>>> address, status = PyGPU.cudaMallocManaged(1024)
>>> PyGPU.cudaMemPrefetchAsync(address, 1024, 0)
<cudaError: code=0>
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaPointerGetAttributes_text[] =
    R"(Return the kind of memory at an address, and its device.

address: The address.
-> attributes: ``type``, one of the numbers ``cudaMemoryType...``; ``device``, an ordinal;
    ``devicePointer`` and ``hostPointer``, the addresses of the memory on the device and on the
    host.

>>> address, status = PyGPU.cudaMalloc(1024)
>>> attributes, status = PyGPU.cudaPointerGetAttributes(address)
>>> attributes["type"] == PyGPU.cudaMemoryTypeDevice
True
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

}  // namespace PyGPU::python::docs
