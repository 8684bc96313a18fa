// Compiled code on the `host` target, and the calls for which CUDA needs its driver.
#pragma once

#include <cstddef>

#include "capabilities.h"
#include "host.h"

using gpu_module = struct PyGPUHostLibrary*;
using gpu_kernel = const struct PyGPUHostKernel*;

// An image is a shared library that the host's compiler made from kernels (PyGPU/host/module.h).
PYGPU_HOST_CALL(cudaHostLoadModule, gpu_module* module, const void* image, char* log,
                std::size_t log_bytes)
PYGPU_HOST_CALL(cudaHostUnloadModule, gpu_module module)
PYGPU_HOST_CALL(cudaHostGetKernel, gpu_kernel* kernel, gpu_module module, const char* name)
PYGPU_HOST_CALL(cudaHostGetGlobal, void** address, std::size_t* nbytes, gpu_module module,
                const char* name)
PYGPU_HOST_CALL(cudaHostGetParameter, gpu_kernel kernel, std::size_t index, std::size_t* offset,
                std::size_t* nbytes)
PYGPU_HOST_CALL(cudaHostGetKernelAttribute, int* value, gpu_kernel kernel, int attribute)
PYGPU_HOST_CALL(cudaHostSetKernelAttribute, gpu_kernel kernel, int attribute, int value)
PYGPU_HOST_CALL(cudaHostLaunchKernel, gpu_kernel kernel, dim3 grid, dim3 block, void** arguments,
                std::size_t shared_bytes, cudaStream_t stream)
PYGPU_HOST_CALL(cudaHostFill, void* address, std::size_t pitch, unsigned value,
                std::size_t itemsize, std::size_t width, std::size_t height, cudaStream_t stream)
PYGPU_HOST_CALL(cudaHostAddressRange, void** base, std::size_t* nbytes, const void* address)
// Set a function that is called at intervals during a launch by the process's first thread. The
// launch ends if it returns true.
PYGPU_HOST_CALL(cudaHostOnInterrupt, bool (*check)())
// A call that must wait for work of another thread runs as `around(wait, data)`, which calls
// `wait(data)`. There a program releases a lock that the other thread may need, as Python's GIL.
PYGPU_HOST_CALL(cudaHostAroundWait, void (*around)(void (*wait)(void*), void* data))
PYGPU_HOST_CALL(cudaHostImport, void* address, std::size_t nbytes)
PYGPU_HOST_CALL(cudaHostEndImport, void* address, std::size_t nbytes)

// For tests: let the `number`-th call from now on fail, counting only calls of this name unless it
// is null; 0: no call fails. Returns the name of the call that the previous request let fail, or
// null.
extern "C" __attribute__((visibility("default"))) const char* cudaHostFail(
    long number, const char* name) __asm__("PyGPU_host_cudaHostFail");
// For tests: count live allocations, their bytes, imports, streams, events, arrays, textures and
// modules.
extern "C" __attribute__((visibility("default"))) void cudaHostCountLive(
    std::size_t* counts) __asm__("PyGPU_host_cudaHostCountLive");

namespace PyGPU {

// See cuda_modules.h.
inline cudaError_t fill_rows(void* address, std::size_t pitch, unsigned value, std::size_t itemsize,
                             std::size_t width, std::size_t height, cudaStream_t stream) {
  const std::size_t used = height == 1 ? width * itemsize : pitch;
  return cudaHostFill(address, used, value, itemsize, width, height, stream);
}
inline const auto address_range = cudaHostAddressRange;

// The machine has one context per device; the handle is a number that identifies the context.
inline cudaError_t context_handle(void** handle) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  *handle = reinterpret_cast<void*>(static_cast<std::size_t>(device) + 1);
  return error;
}

inline cudaError_t load_module(gpu_module* module, const void* image, unsigned count, int* options,
                               void** values) {
  char* log = nullptr;
  std::size_t log_bytes = 0;
  for (unsigned i = 0; i < count; ++i) {  // CUDA's numbers of the error log and its size
    if (options[i] == 5) log = static_cast<char*>(values[i]);
    if (options[i] == 6) log_bytes = reinterpret_cast<std::size_t>(values[i]);
  }
  return cudaHostLoadModule(module, image, log, log_bytes);
}
inline const auto unload_module = cudaHostUnloadModule;
inline const auto find_kernel = cudaHostGetKernel;
inline const auto find_global = cudaHostGetGlobal;
inline const auto kernel_parameter = cudaHostGetParameter;
inline const auto kernel_attribute = cudaHostGetKernelAttribute;
inline const auto set_kernel_attribute = cudaHostSetKernelAttribute;
inline const auto launch_kernel = cudaHostLaunchKernel;

constexpr Capabilities capabilities = [] {
  Capabilities host;
  host.launch_runs_kernel = host.shares_last_error = true;
  host.keeps_blocks = false;
  // Blocks have one thread: it processes this many elements in a loop that the compiler
  // vectorizes, reads all memory of its block in order, and copies or checks words one by one.
  host.loop_threads = host.reduction.threads = host.gather.threads = 1;
  host.loop_bytes = 0;
  host.loop_vectors = 16384;
  host.most_grid_threads = 0x7fffffffull;
  host.gather.words = 4096;
  host.gather.checked = 1024;
  host.gather.many = 0;
  return host;
}();
constexpr bool null_stream_has_number() { return true; }
constexpr bool has_faulty_pools(int) { return false; }

// Let device code use another library's memory until end_import.
inline const auto import_memory = cudaHostImport;
inline const auto end_import = cudaHostEndImport;

// Set the function that long launches call to ask whether they should end.
inline void on_interrupt(bool (*check)()) { (void)cudaHostOnInterrupt(check); }

// Set the function around calls that wait for work of another thread.
inline void around_stream_waits(void (*around)(void (*wait)(void*), void* data)) {
  (void)cudaHostAroundWait(around);
}

inline const auto last_report = cudaHostLastReport;

}  // namespace PyGPU
