// Kernel launches from inside a kernel (CUDA's dynamic parallelism).
//
// PyGPU/_compile/source/child_launches.py rewrites `child<<<grid, block, shared,
// stream>>>(arguments)` as
//
//    child ->* ::PyGPU_ChildLaunch("child", grid, block, shared, stream)(arguments)
//
// The rewrite uses an operator, so that any expression that names a kernel may precede `<<<`.
#pragma once

#include "launch.h"

namespace PyGPU {
namespace host {

struct ChildLaunch {
  const char* name;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;

  ChildLaunch(const char* kernel, dim3 blocks, dim3 threads, std::size_t shared = 0,
              cudaStream_t order = nullptr)
      : name(kernel), grid(blocks), block(threads), shared_bytes(shared), stream(order) {}

  template <class... Arguments>
  struct Call {
    const ChildLaunch& child;
    std::tuple<Arguments...> arguments;
  };

  template <class... Arguments>
  Call<Arguments...> operator()(Arguments... arguments) const {
    return {*this, std::tuple<Arguments...>(arguments...)};
  }
};

template <class... Parameters, class... Arguments, std::size_t... i>
void launch_child(void (*kernel)(Parameters...), const ChildLaunch& child,
                  std::tuple<Arguments...>& arguments, std::index_sequence<i...>) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "the launch has another number of arguments than the kernel parameters");
  static_assert((std::is_trivially_copyable<Parameters>::value && ...),
                "parameters of a kernel that a kernel launches are copied byte by byte");
  (void)arguments;
  const auto call = std::make_pair(
      kernel, std::tuple<Parameters...>(parameter_of<Parameters>(std::get<i>(arguments))...));
  (void)cudaHostLaunchChild(child.grid, child.block, child.shared_bytes, child.stream,
                            &run_threads<std::index_sequence<i...>, decltype(call)>, &call,
                            sizeof call, child.name);
}

template <class... Parameters, class... Arguments>
void operator->*(void (*kernel)(Parameters...), ChildLaunch::Call<Arguments...>&& call) {
  launch_child(kernel, call.child, call.arguments, std::index_sequence_for<Arguments...>());
}

}  // namespace host
}  // namespace PyGPU

using PyGPU_ChildLaunch = PyGPU::host::ChildLaunch;
