// Docstrings of the calls that copy and set memory. HIP defines macros of the calls' names, so the
// strings have a suffix.
#pragma once

namespace PyGPU::python::docs {

inline constexpr char cudaMemcpy_text[] = R"(Copy bytes between host and device memory.

-> Outcome of the call; an error if a buffer is smaller than the copy needs.
Raises ValueError: If `dst` is a read-only buffer, or a buffer is not contiguous.

>>> address, status = PyGPU.cudaMalloc(12)
>>> source, result = np.arange(3, dtype=np.int32), np.zeros(3, np.int32)
>>> PyGPU.cudaMemcpy(address, source, 12, PyGPU.cudaMemcpyHostToDevice)
<cudaError: code=0>
>>> PyGPU.cudaMemcpy(result, address, 12, PyGPU.cudaMemcpyDeviceToHost)
<cudaError: code=0>
>>> result
array([0, 1, 2], dtype=int32)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemcpyAsync_text[] =
    R"(Copy bytes between host and device memory in the order of a stream.

Both ends must stay alive until the copy is done.

-> Outcome of the call; an error if a buffer is smaller than the copy needs.
Raises ValueError: If `dst` is a read-only buffer, or a buffer is not contiguous.

>>> address, status = PyGPU.cudaMalloc(12)
>>> source, result = np.arange(3, dtype=np.int32), np.zeros(3, np.int32)
>>> stream = PyGPU.cudaStream_t()
>>> PyGPU.cudaMemcpyAsync(address, source, 12, stream=stream)
<cudaError: code=0>
>>> PyGPU.cudaMemcpyAsync(result, address, 12, stream=stream)
<cudaError: code=0>
>>> PyGPU.cudaStreamSynchronize(stream)
<cudaError: code=0>
>>> result
array([0, 1, 2], dtype=int32)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemcpy2D_text[] = R"(Copy rows of bytes between host and device memory.

-> Outcome of the call; an error if a buffer is smaller than the copy needs.
Raises ValueError: If `dst` is a read-only buffer, or a buffer is not contiguous.

>>> source, result = np.arange(6, dtype=np.uint8).reshape(2, 3), np.zeros((2, 2), np.uint8)
>>> PyGPU.cudaMemcpy2D(result, 2, source, 3, 2, 2)
<cudaError: code=0>
>>> result
array([[0, 1],
       [3, 4]], dtype=uint8)
)";

inline constexpr char cudaMemcpy2DAsync_text[] = R"(Copy rows of bytes in the order of a stream.

Both ends must stay alive until the copy is done.

-> Outcome of the call; an error if a buffer is smaller than the copy needs.
Raises ValueError: If `dst` is a read-only buffer, or a buffer is not contiguous.

>>> source, result = np.arange(6, dtype=np.uint8).reshape(2, 3), np.zeros((2, 2), np.uint8)
>>> PyGPU.cudaMemcpy2DAsync(result, 2, source, 3, 2, 2)
<cudaError: code=0>
>>> PyGPU.cudaDeviceSynchronize()
<cudaError: code=0>
>>> result
array([[0, 1],
       [3, 4]], dtype=uint8)
)";

inline constexpr char cudaMemcpyPeer_text[] = R"(Copy bytes from one device to another.

>>> source, status = PyGPU.cudaMalloc(16)
>>> target, status = PyGPU.cudaMalloc(16)
>>> PyGPU.cudaMemcpyPeer(target, 0, source, 0, 16)
<cudaError: code=0>
>>> PyGPU.cudaFree(source), PyGPU.cudaFree(target)
(<cudaError: code=0>, <cudaError: code=0>)
)";

inline constexpr char cudaMemcpyPeerAsync_text[] =
    R"(Copy bytes from one device to another in the order of a stream.

>>> source, status = PyGPU.cudaMalloc(16)
>>> target, status = PyGPU.cudaMalloc(16)
>>> PyGPU.cudaMemcpyPeerAsync(target, 0, source, 0, 16)
<cudaError: code=0>
>>> PyGPU.cudaDeviceSynchronize()
<cudaError: code=0>
>>> PyGPU.cudaFree(source), PyGPU.cudaFree(target)
(<cudaError: code=0>, <cudaError: code=0>)
)";

inline constexpr char cudaMemset_text[] = R"(Set bytes of device memory to a value.

The call may return before the bytes are set. Work on non-blocking streams does not wait for
it.

>>> address, status = PyGPU.cudaMalloc(4)
>>> PyGPU.cudaMemset(address, 7, 4)
<cudaError: code=0>
>>> result = np.zeros(4, np.uint8)
>>> PyGPU.cudaMemcpy(result, address, 4)
<cudaError: code=0>
>>> result
array([7, 7, 7, 7], dtype=uint8)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemsetAsync_text[] =
    R"(Set bytes of device memory to a value in the order of a stream.

>>> address, status = PyGPU.cudaMalloc(4)
>>> PyGPU.cudaMemsetAsync(address, 7, 4)
<cudaError: code=0>
>>> result = np.zeros(4, np.uint8)
>>> PyGPU.cudaMemcpy(result, address, 4)
<cudaError: code=0>
>>> result
array([7, 7, 7, 7], dtype=uint8)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemset2D_text[] = R"(Set rows of device memory to a value.

The call may return before the bytes are set. Work on non-blocking streams does not wait for
it.

>>> address, status = PyGPU.cudaMalloc(4)
>>> PyGPU.cudaMemset2D(address, 2, 7, 2, 2)
<cudaError: code=0>
>>> result = np.zeros(4, np.uint8)
>>> PyGPU.cudaMemcpy(result, address, 4)
<cudaError: code=0>
>>> result
array([7, 7, 7, 7], dtype=uint8)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

inline constexpr char cudaMemset2DAsync_text[] =
    R"(Set rows of device memory to a value in the order of a stream.

>>> address, status = PyGPU.cudaMalloc(4)
>>> PyGPU.cudaMemset2DAsync(address, 2, 7, 2, 2)
<cudaError: code=0>
>>> result = np.zeros(4, np.uint8)
>>> PyGPU.cudaMemcpy(result, address, 4)
<cudaError: code=0>
>>> result
array([7, 7, 7, 7], dtype=uint8)
>>> PyGPU.cudaFree(address)
<cudaError: code=0>
)";

}  // namespace PyGPU::python::docs
