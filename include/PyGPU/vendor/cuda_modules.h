// Compiled code, and calls that only the driver has, on the `cuda` target.
//
// The driver's module calls exist in every CUDA, and their launch is the cheapest: the runtime's
// launch ends in the same call. They are fetched through the runtime, so that libcuda is never
// linked. They work in the device's primary context, which is the runtime's.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

#include "capabilities.h"

namespace PyGPU {

// Find the driver's function of this name, as of CUDA `version` (11020 for 11.2).
template <class Function>
cudaError_t driver_function(Function& function, const char* name, [[maybe_unused]] int version) {
  void* found = nullptr;
#if CUDART_VERSION >= 12050
  cudaDriverEntryPointQueryResult result{};
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

// Give this thread its device's context, also while a stream is captured.
inline cudaError_t enter_context() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode)) return error;
  const cudaError_t error = cudaFree(nullptr);
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  return error;
}

// Make a driver call. A thread gets its device's context by its first runtime call that needs one,
// so a call without a context is repeated after such a call. Errors that both the driver and the
// runtime have share their numbers.
template <class Call>
cudaError_t in_context(Call call) {
  CUresult outcome = call();
  if (outcome == CUDA_ERROR_INVALID_CONTEXT && enter_context() == cudaSuccess) outcome = call();
  return static_cast<cudaError_t>(outcome);
}

// Several threads may find a function at the same time; they find the same one.
#define PYGPU_DRIVER_CALL(version, name, ...)                                     \
  static std::atomic<decltype(&name)> found{nullptr};                             \
  decltype(&name) function = found.load(std::memory_order_relaxed);               \
  if (!function) {                                                                \
    const cudaError_t error = ::PyGPU::driver_function(function, #name, version); \
    if (error) return error;                                                      \
    found.store(function, std::memory_order_relaxed);                             \
  }                                                                               \
  return ::PyGPU::in_context([&] { return function(__VA_ARGS__); })

inline CUdeviceptr device_pointer(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

// Fill `height` rows of `width` elements of 2 or 4 bytes. Rows start `pitch` bytes apart; for a
// single row the pitch is ignored.
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

// Return the current device's primary context; creates it if necessary.
inline cudaError_t context_handle(void** handle) {
  if (const cudaError_t error = enter_context()) return error;
  PYGPU_DRIVER_CALL(11020, cuCtxGetCurrent, reinterpret_cast<CUcontext*>(handle));
}

using gpu_module = CUmodule;
using gpu_kernel = CUfunction;

inline cudaError_t load_module(gpu_module* module, const void* image, unsigned count, int* options,
                               void** values) {
  PYGPU_DRIVER_CALL(11020, cuModuleLoadDataEx, module, image, count,
                    reinterpret_cast<CUjit_option*>(options), values);
}
inline cudaError_t unload_module(gpu_module module) {
  PYGPU_DRIVER_CALL(11020, cuModuleUnload, module);
}
inline cudaError_t find_kernel(gpu_kernel* kernel, gpu_module module, const char* name) {
  PYGPU_DRIVER_CALL(11020, cuModuleGetFunction, kernel, module, name);
}
inline cudaError_t find_global(void** address, std::size_t* nbytes, gpu_module module,
                               const char* name) {
  PYGPU_DRIVER_CALL(11020, cuModuleGetGlobal, reinterpret_cast<CUdeviceptr*>(address), nbytes,
                    module, name);
}
inline cudaError_t kernel_parameter(gpu_kernel kernel, std::size_t index, std::size_t* offset,
                                    std::size_t* nbytes) {
  // Drivers have this call since 12.4; the toolkit's headers may be older.
  using Function = CUresult (*)(CUfunction, std::size_t, std::size_t*, std::size_t*);
  static std::atomic<Function> found{nullptr};
  Function function = found.load(std::memory_order_relaxed);
  if (!function && driver_function(function, "cuFuncGetParamInfo", 12040))
    return cudaErrorNotSupported;
  found.store(function, std::memory_order_relaxed);
  return in_context([&] { return function(kernel, index, offset, nbytes); });
}
inline cudaError_t kernel_attribute(int* value, gpu_kernel kernel, int attribute) {
  PYGPU_DRIVER_CALL(11020, cuFuncGetAttribute, value, static_cast<CUfunction_attribute>(attribute),
                    kernel);
}
inline cudaError_t set_kernel_attribute(gpu_kernel kernel, int attribute, int value) {
  PYGPU_DRIVER_CALL(11020, cuFuncSetAttribute, kernel, static_cast<CUfunction_attribute>(attribute),
                    value);
}
inline cudaError_t launch_kernel(gpu_kernel kernel, dim3 grid, dim3 block, void** arguments,
                                 std::size_t shared_bytes, cudaStream_t stream) {
  PYGPU_DRIVER_CALL(11020, cuLaunchKernel, kernel, grid.x, grid.y, grid.z, block.x, block.y,
                    block.z, unsigned(shared_bytes), stream, arguments, nullptr);
}

#undef PYGPU_DRIVER_CALL

constexpr Capabilities capabilities;

// True if handle 1 denotes the null stream in every library of the process.
constexpr bool null_stream_has_number() { return true; }

// True if the pools of this device are known to lose data; PYGPU_POOLS=1 uses them all the same.
constexpr bool has_faulty_pools(int) { return false; }

// See host_modules.h. The driver knows the memory of every library in the process.
inline cudaError_t import_memory(void*, std::size_t) { return cudaSuccess; }
inline cudaError_t end_import(void*, std::size_t) { return cudaSuccess; }

// See host_modules.h. Launches return at once, so there is nothing to interrupt.
inline void on_interrupt(bool (*)()) {}
inline void around_stream_waits(void (*)(void (*)(void*), void*)) {}

// Return the target's report about a failed launch, beyond the error code.
inline const char* last_report() { return ""; }

}  // namespace PyGPU
