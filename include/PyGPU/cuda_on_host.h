// CUDA C++ for kernels on the `host` target: qualifiers, thread indices, barriers, atomics and the
// launch, so that a kernel written for a GPU compiles with an ordinary C++ compiler.
//
// How a block runs: all its threads share one operating-system thread. They run one after another
// in a plain loop; only a thread that reaches a barrier is put aside as a fiber until the others
// have come (src/host/fiber.cpp). So a kernel without barriers costs a loop, and `__shared__` is
// simply storage of the operating-system thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "vendor/host.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static thread_local

#define PYGPU_LAUNCH(kernel, grid, block, shared, stream)                                      \
  ::PyGPU::host::launch([](auto&... arguments) { kernel(arguments...); }, grid, block, shared, \
                        stream)
#define PYGPU_DYNAMIC_SHARED(type, name) \
  type* name = static_cast<type*>(::PyGPU_host_thread.dynamic_shared)

// What the running thread knows of itself. Plain data in initial-exec storage: reading an index is
// one load, also from a library that was opened at run time.
struct PyGPUHostThread {
  uint3 thread_index, block_index;
  dim3 block_dim, grid_dim;
  unsigned next, count;  // linear: the next thread of the block to start, and how many there are
  void* dynamic_shared;
};
extern __thread PyGPUHostThread PyGPU_host_thread
    __attribute__((tls_model("initial-exec"), visibility("default")));

#define threadIdx (::PyGPU_host_thread.thread_index)
#define blockIdx (::PyGPU_host_thread.block_index)
#define blockDim (::PyGPU_host_thread.block_dim)
#define gridDim (::PyGPU_host_thread.grid_dim)

extern "C" __attribute__((visibility("default"))) void PyGPU_host_barrier();

inline void __syncthreads() { PyGPU_host_barrier(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

namespace PyGPU::host {

// Move on to the block's next thread that has not started; false when none is left.
inline bool next_thread() {
  PyGPUHostThread& self = PyGPU_host_thread;
  if (self.next == self.count) return false;
  if (self.next++ == 0) {
    self.thread_index = {0, 0, 0};
  } else if (++self.thread_index.x == self.block_dim.x) {
    self.thread_index.x = 0;
    if (++self.thread_index.y == self.block_dim.y) {
      self.thread_index.y = 0;
      ++self.thread_index.z;
    }
  }
  return true;
}

template <class Body>
void for_each_thread(Body body) {
  while (next_thread()) body();
}

template <class Kernel>
struct Launch {
  Kernel kernel;
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;

  template <class... Arguments>
  cudaError_t operator()(Arguments... arguments) const {
    auto packed = std::make_pair(kernel, std::tuple<Arguments...>(arguments...));
    return cudaHostLaunch(grid, block, shared_bytes, stream, &run_threads<decltype(packed)>,
                          &packed, "a kernel");
  }

 private:
  template <class Packed>
  static void run_threads(void* context) noexcept {  // an exception has nowhere to go
    const auto& packed = *static_cast<const Packed*>(context);
    while (next_thread()) {
      auto arguments = packed.second;  // a kernel owns its parameters
      std::apply(packed.first, arguments);
    }
  }
};

template <class Kernel>
Launch<Kernel> launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                      cudaStream_t stream = nullptr) {
  return {kernel, grid, block, shared_bytes, stream};
}

template <class T, class Change>
T atomic_change(T* address, Change change) {
  T old, changed;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    changed = change(old);
  } while (!__atomic_compare_exchange(address, &old, &changed, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
  return old;
}

}  // namespace PyGPU::host

// Atomics return the old value and order nothing else, as on a GPU.
template <class T>
struct PyGPUSame {
  using type = T;
};
#define PYGPU_ATOMIC(name, expression)                                                  \
  template <class T>                                                                    \
  T name(T* address, typename PyGPUSame<T>::type value) {                               \
    return PyGPU::host::atomic_change(address, [=](T old) -> T { return expression; }); \
  }
PYGPU_ATOMIC(atomicAdd, old + value)
PYGPU_ATOMIC(atomicSub, old - value)
PYGPU_ATOMIC(atomicMin, value < old ? value : old)
PYGPU_ATOMIC(atomicMax, old < value ? value : old)
PYGPU_ATOMIC(atomicAnd, old& value)
PYGPU_ATOMIC(atomicOr, old | value)
PYGPU_ATOMIC(atomicXor, old ^ value)
PYGPU_ATOMIC(atomicExch, ((void)old, value))
PYGPU_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
PYGPU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef PYGPU_ATOMIC

template <class T>
T atomicCAS(T* address, typename PyGPUSame<T>::type expected,
            typename PyGPUSame<T>::type replacement) {
  return PyGPU::host::atomic_change(
      address, [=](T old) -> T { return old == expected ? replacement : old; });
}

// With C's linkage and noexcept, as newer C libraries declare some of them too.
extern "C" {
inline float rsqrtf(float x) noexcept { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) noexcept { return 1.0 / std::sqrt(x); }
inline float sinpif(float x) noexcept { return std::sin(float(M_PI) * std::remainder(x, 2.0f)); }
inline double sinpi(double x) noexcept { return std::sin(M_PI * std::remainder(x, 2.0)); }
inline float cospif(float x) noexcept { return std::cos(float(M_PI) * std::remainder(x, 2.0f)); }
inline double cospi(double x) noexcept { return std::cos(M_PI * std::remainder(x, 2.0)); }
}
