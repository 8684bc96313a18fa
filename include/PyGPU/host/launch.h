// Kernel launches from C++ code, and access to dynamic shared memory.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "execution.h"

#define PYGPU_LAUNCH(kernel, grid, block, shared, stream)                                      \
  ::PyGPU::host::launch([](auto&... arguments) { kernel(arguments...); }, grid, block, shared, \
                        stream, #kernel)
inline void* PyGPU_dynamic_shared() { return PyGPU_host_thread.dynamic_shared; }
#define PYGPU_DYNAMIC_SHARED(type, name) type* name = static_cast<type*>(::PyGPU_dynamic_shared())

namespace PyGPU {
namespace host {

template <class Call, std::size_t... indices>
void run_thread(const Call& call, std::index_sequence<indices...>) {
  auto arguments = call.second;  // a copy for each thread: a kernel may change its parameters
  (void)arguments;
  call.first(std::get<indices>(arguments)...);
}

// Run all threads of a block. `context` points to a pair of the kernel and its arguments.
template <class Indices, class Call>
void run_threads(void* context) {
  // Copy to a local, which no store of the kernel can alias: the arguments are then loaded once,
  // not once per thread.
  const Call call = *static_cast<const Call*>(context);
  for_each_thread([call] { run_thread(call, Indices()); });
}

template <class Kernel>
struct Launch {
  Kernel kernel;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  const char* name;

  template <class... Arguments>
  cudaError_t operator()(Arguments... arguments) const {
    auto call = std::make_pair(kernel, std::tuple<Arguments...>(arguments...));
    return cudaHostLaunch(grid, block, shared_bytes, stream,
                          &run_threads<std::index_sequence_for<Arguments...>, decltype(call)>,
                          &call, name, sizeof call);
  }
};

template <class Kernel>
Launch<Kernel> launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                      cudaStream_t stream = nullptr, const char* name = "") {
  return {kernel, grid, block, shared_bytes, stream, name};
}

}  // namespace host
}  // namespace PyGPU
