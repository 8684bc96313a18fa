// The launch of a kernel from C++, and its dynamic shared memory.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "execution.h"

#define PYGPU_LAUNCH(kernel, grid, block, shared, stream)                                      \
  ::PyGPU::host::launch([](auto&... arguments) { kernel(arguments...); }, grid, block, shared, \
                        stream, #kernel)
#define PYGPU_DYNAMIC_SHARED(type, name) \
  type* name = static_cast<type*>(::PyGPU_host_thread.dynamic_shared)

namespace PyGPU {
namespace host {

template <class Kernel>
struct Launch {
  Kernel kernel;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  const char* name;

  template <class... Arguments>
  cudaError_t operator()(Arguments... arguments) const {
    auto packed = std::make_pair(kernel, std::tuple<Arguments...>(arguments...));
    return cudaHostLaunch(grid, block, shared_bytes, stream,
                          &run_threads<std::index_sequence_for<Arguments...>, decltype(packed)>,
                          &packed, name);
  }

 private:
  template <class Indices, class Packed>
  static void run_threads(void* context) {
    // A copy that no kernel's store can change: arguments are read once, not by each thread.
    const Packed packed = *static_cast<const Packed*>(context);
    for_each_thread([packed] { run_thread(packed, Indices()); });
  }

  template <class Packed, std::size_t... indices>
  static void run_thread(const Packed& packed, std::index_sequence<indices...>) {
    auto arguments = packed.second;  // a kernel owns its parameters
    (void)arguments;
    packed.first(std::get<indices>(arguments)...);
  }
};

template <class Kernel>
Launch<Kernel> launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                      cudaStream_t stream = nullptr, const char* name = "") {
  return {kernel, grid, block, shared_bytes, stream, name};
}

}  // namespace host
}  // namespace PyGPU
