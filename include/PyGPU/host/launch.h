// Kernel launches from C++ code, and access to dynamic shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
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

// Argument of a kernel as a launch stores it. As on a GPU, a reference is an address.
template <class T>
struct Reference {
  T* address;
  Reference(T& object) : address(&object) {}
  operator T&() const { return *address; }
};
template <class Parameter>
using Stored =
    std::conditional_t<std::is_reference<Parameter>::value,
                       Reference<std::remove_reference_t<Parameter>>, std::remove_cv_t<Parameter>>;

// Launch of a function. Its parameters are the kernel's, so that the arguments are converted as in
// a call: by conversion operators of objects that cannot be copied, from 0, from a list in braces.
template <class... Parameters>
struct FunctionLaunch {
  void (*kernel)(Parameters...);
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  const char* name;

  void operator()(Parameters... arguments) const {
    using Function = void (*)(Parameters...);
    (void)Launch<Function>{
        kernel, grid, block, shared_bytes, stream, name}(Stored<Parameters>(arguments)...);
  }
};

// A launch as text: PyGPU/_library/host_sources.py rewrites `kernel<<<grid, block, shared,
// stream>>>(arguments)` as
//
//    ::PyGPU_Launch("kernel", grid, block, shared, stream).of(kernel)(arguments)
//
// A template whose arguments the compiler deduces is called from a function object:
//
//    ::PyGPU_Launch("kernel", grid, block).of([&](auto&... a) { kernel(a...); })(arguments)
//
// An operator follows other expressions, which pass copies of the arguments:
//
//    kernels[i] ->* ::PyGPU_Launch("", grid, block)(arguments)
struct TextLaunch {
  const char* name;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;

  TextLaunch(const char* kernel, dim3 blocks, dim3 threads, std::size_t shared = 0,
             cudaStream_t order = nullptr)
      : name(kernel), grid(blocks), block(threads), shared_bytes(shared), stream(order) {}

  template <class Kernel>
  Launch<Kernel> of(Kernel kernel) const {
    return {kernel, grid, block, shared_bytes, stream, name};
  }
  template <class... Parameters>
  FunctionLaunch<Parameters...> of(void (*kernel)(Parameters...)) const {
    return {kernel, grid, block, shared_bytes, stream, name};
  }

  template <class... Arguments>
  struct Call {
    const TextLaunch& launch;
    std::tuple<Arguments...> arguments;
  };
  template <class... Arguments>
  Call<Arguments...> operator()(Arguments... arguments) const {
    return {*this, std::tuple<Arguments...>(arguments...)};
  }
};

template <class Parameter, class Argument>
Parameter parameter_of(Argument& argument) {
  // A null pointer may have been written as 0, which arrives here as an integer.
  if constexpr (std::is_pointer<Parameter>::value && std::is_integral<Argument>::value)
    return reinterpret_cast<Parameter>(static_cast<std::uintptr_t>(argument));
  else
    return argument;
}

template <class... Parameters, class... Arguments, std::size_t... i>
void launch_text(void (*kernel)(Parameters...), const TextLaunch& launch,
                 std::tuple<Arguments...>& arguments, std::index_sequence<i...>) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "the launch has another number of arguments than the kernel parameters");
  (void)arguments;
  launch.of(kernel)(parameter_of<std::remove_cv_t<Parameters>>(std::get<i>(arguments))...);
}

template <class... Parameters, class... Arguments>
void operator->*(void (*kernel)(Parameters...), TextLaunch::Call<Arguments...>&& call) {
  launch_text(kernel, call.launch, call.arguments, std::index_sequence_for<Arguments...>());
}

template <class Kernel>
Launch<Kernel> launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                      cudaStream_t stream = nullptr, const char* name = "") {
  return {kernel, grid, block, shared_bytes, stream, name};
}

}  // namespace host
}  // namespace PyGPU

using PyGPU_Launch = PyGPU::host::TextLaunch;
