// HIP's headers and the host machine's vocabulary side by side, and the way from one to the other.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

// Both have these.
#define dim3 MachineDim3
#define uint3 MachineUint3
#include "PyGPU/vendor/host_arrays.h"
#include "PyGPU/vendor/host_graphs.h"
#include "PyGPU/vendor/host_modules.h"
#undef dim3
#undef uint3

#define STANDIN_EXPORT __attribute__((visibility("default")))

namespace standin {

// HIP's error for the machine's; the numbers are the same where HIP has it.
hipError_t translated(cudaError_t error);

// A thread's last error. Before HIP 7 it is the outcome of the last call; since then success and
// hipErrorNotReady leave it as it is.
extern thread_local hipError_t last_error;
inline hipError_t finish(hipError_t error) {
  const bool is_error = error != hipSuccess && error != hipErrorNotReady;
  if (is_error || HIP_VERSION_MAJOR < 7) last_error = error;
  return error;
}
// The machine's own last error is for the users' libraries, which are made for it.
inline hipError_t finish(cudaError_t error) {
  if (error) (void)cudaGetLastError();
  return finish(translated(error));
}

// Bytes of shared memory that every kernel may have (LDS).
constexpr int shared_bytes = 64 << 10;

// The null stream, hipStreamLegacy and hipStreamPerThread have CUDA's numbers. Without
// hipStreamLegacy, 1 is no stream.
inline cudaStream_t stream_of(hipStream_t stream) {
  auto number = reinterpret_cast<std::size_t>(stream);
#if !defined(hipStreamLegacy)
  if (number == 1) number = 8;
#endif
  return reinterpret_cast<cudaStream_t>(number);
}
inline cudaEvent_t event_of(hipEvent_t event) { return reinterpret_cast<cudaEvent_t>(event); }
inline cudaMemcpyKind kind_of(hipMemcpyKind kind) { return static_cast<cudaMemcpyKind>(kind); }

// Does HIP 7 refuse hipMemPoolCreate because of streams that are captured?
bool forbids_pools();
// Is there stream-ordered memory? HIP before 5.2 has none: PYGPU_STANDIN_POOLS=0.
bool has_pools();
// The device's architecture as HIP prints it; PYGPU_STANDIN_ARCH.
const char* architecture();

}  // namespace standin
