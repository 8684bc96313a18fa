// Compiled code and what only the driver can do, on the `cuda` target.
//
// The driver's module calls exist in every CUDA, and their launch is the cheapest: the runtime's
// ends in the same call. They are fetched through the runtime, so that libcuda is never linked, and
// work in the device's primary context, which is the runtime's.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace PyGPU {

// The driver's function of this name, in its version of CUDA `version` (11020 for 11.2).
template <class Function>
cudaError_t driver_function(Function& function, const char* name, [[maybe_unused]] int version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, unsigned(version), cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
  if (error) return error;
  if (!found) return cudaErrorNotSupported;
  function = reinterpret_cast<Function>(found);
  return cudaSuccess;
}

// A thread gets its device's context from its first call of the runtime that needs one. Errors that
// the driver and the runtime both have, have the same numbers.
template <class Call>
cudaError_t in_context(Call call) {
  CUresult outcome = call();
  if (outcome == CUDA_ERROR_INVALID_CONTEXT && cudaFree(nullptr) == cudaSuccess) outcome = call();
  return static_cast<cudaError_t>(outcome);
}

#define PYGPU_DRIVER_CALL(version, name, ...)                                         \
  static decltype(&name) function = nullptr;                                          \
  if (!function)                                                                      \
    if (const cudaError_t error = ::PyGPU::driver_function(function, #name, version)) \
      return error;                                                                   \
  return ::PyGPU::in_context([&] { return function(__VA_ARGS__); })

inline CUdeviceptr device_pointer(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

// Fills `height` rows of `width` elements of 2 or 4 bytes; a row begins `pitch` bytes after the
// last. Of one row the pitch is of no importance.
inline cudaError_t fill_rows(void* address, std::size_t pitch, unsigned value, std::size_t itemsize,
                             std::size_t width, std::size_t height, cudaStream_t stream) {
  const CUdeviceptr first = device_pointer(address);
  const auto half = static_cast<unsigned short>(value);
  if (height == 1 && itemsize == 2) {
    PYGPU_DRIVER_CALL(11020, cuMemsetD16Async, first, half, width, stream);
  }
  if (height == 1) {
    PYGPU_DRIVER_CALL(11020, cuMemsetD32Async, first, value, width, stream);
  }
  if (itemsize == 2) {
    PYGPU_DRIVER_CALL(11020, cuMemsetD2D16Async, first, pitch, half, width, height, stream);
  }
  PYGPU_DRIVER_CALL(11020, cuMemsetD2D32Async, first, pitch, value, width, height, stream);
}

inline cudaError_t address_range(void** base, std::size_t* nbytes, void* address) {
  PYGPU_DRIVER_CALL(11020, cuMemGetAddressRange, reinterpret_cast<CUdeviceptr*>(base), nbytes,
                    device_pointer(address));
}

// The current device's primary context, created if need be.
inline cudaError_t context_handle(void** handle) {
  if (const cudaError_t error = cudaFree(nullptr)) return error;
  PYGPU_DRIVER_CALL(11020, cuCtxGetCurrent, reinterpret_cast<CUcontext*>(handle));
}

using cudaLibrary_t = CUmodule;
using cudaKernel_t = CUfunction;

inline cudaError_t load_module(cudaLibrary_t* module, const void* image, unsigned count,
                               int* options, void** values) {
  PYGPU_DRIVER_CALL(11020, cuModuleLoadDataEx, module, image, count,
                    reinterpret_cast<CUjit_option*>(options), values);
}
inline cudaError_t unload_module(cudaLibrary_t module) {
  PYGPU_DRIVER_CALL(11020, cuModuleUnload, module);
}
inline cudaError_t find_kernel(cudaKernel_t* kernel, cudaLibrary_t module, const char* name) {
  PYGPU_DRIVER_CALL(11020, cuModuleGetFunction, kernel, module, name);
}
inline cudaError_t find_global(void** address, std::size_t* nbytes, cudaLibrary_t module,
                               const char* name) {
  PYGPU_DRIVER_CALL(11020, cuModuleGetGlobal, reinterpret_cast<CUdeviceptr*>(address), nbytes,
                    module, name);
}
inline cudaError_t kernel_parameter(cudaKernel_t kernel, std::size_t index, std::size_t* offset,
                                    std::size_t* nbytes) {
  // Drivers have it since 12.4, whatever the toolkit's headers say.
  static CUresult (*function)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;
  if (!function && driver_function(function, "cuFuncGetParamInfo", 12040))
    return cudaErrorNotSupported;
  return in_context([&] { return function(kernel, index, offset, nbytes); });
}
inline cudaError_t kernel_attribute(int* value, cudaKernel_t kernel, int attribute) {
  PYGPU_DRIVER_CALL(11020, cuFuncGetAttribute, value, static_cast<CUfunction_attribute>(attribute),
                    kernel);
}
inline cudaError_t set_kernel_attribute(cudaKernel_t kernel, int attribute, int value) {
  PYGPU_DRIVER_CALL(11020, cuFuncSetAttribute, kernel, static_cast<CUfunction_attribute>(attribute),
                    value);
}
inline cudaError_t launch_kernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                 std::size_t shared_bytes, cudaStream_t stream) {
  PYGPU_DRIVER_CALL(11020, cuLaunchKernel, kernel, grid.x, grid.y, grid.z, block.x, block.y,
                    block.z, unsigned(shared_bytes), stream, arguments, nullptr);
}

#undef PYGPU_DRIVER_CALL

// Does a launch return only after the kernel has run?
constexpr bool launch_runs_kernel = false;

// Is a thread's last error that of the users' libraries as well, and kept until it is asked for?
// The runtime is linked statically: each library has its own.
constexpr bool shares_last_error = false;

// Has the null stream a number in the exchange of arrays, 1?
constexpr bool null_stream_has_number = true;

// Are freed blocks of the pool kept by default? See block_cache.h.
constexpr bool keeps_blocks = true;

// The shape of elementwise kernels: threads of a block, bytes of a vector access, and vectors of
// each array that a thread takes.
constexpr unsigned loop_threads = 128;
constexpr std::size_t loop_bytes = 16;
constexpr int loop_vectors = 2;
// The most threads along a grid's first axis: 2^31 - 1 blocks.
constexpr unsigned long long most_grid_threads = 0x7fffffffull * loop_threads;

// See host_modules.h. The driver knows the memory of every library in the process.
inline cudaError_t import_memory(void*, std::size_t) { return cudaSuccess; }
inline cudaError_t end_import(void*, std::size_t) { return cudaSuccess; }

// Reductions: the threads of a block that folds operands, for which their text is made,
// and of one that folds parts; elements, or vectors of them, that a thread has on their way at
// once.
namespace reduction_tuning {
constexpr unsigned threads = 256, block_threads = 256, last_threads = 512;
constexpr int unroll = 4, linear_unroll = 8;
}  // namespace reduction_tuning

// Gathers and scatters: the threads of a block, the words that a thread copies where there are so
// many of them, and the indices that a thread checks.
namespace gather_tuning {
constexpr unsigned threads = 256;
constexpr int words = 4, checked = 8;
constexpr long long many = 1 << 20;
}  // namespace gather_tuning

// See host_modules.h. Launches return at once.
inline void on_interrupt(bool (*)()) {}
inline void around_stream_waits(void (*)(void (*)(void*), void*)) {}

// What the target reports about a failed launch beyond its code.
inline const char* last_report() { return ""; }

}  // namespace PyGPU
