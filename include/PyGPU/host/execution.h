// Execution state of a kernel's thread: threadIdx and related variables, the loop over a block's
// threads, and the record of a thread that waits for others.
#pragma once

#include "../vendor/host.h"
#include "qualifiers.h"

namespace PyGPU {
namespace host {

// An integer of the running thread's state. As a distinct type, it cannot alias a kernel's stores
// through int*. So the compiler keeps the state in registers and vectorizes the loop.
enum class Index : unsigned {};
struct Index3 {
  Index x, y, z;
};
constexpr Index index(unsigned value) { return Index(value); }
inline uint3 value(const Index3& i) { return {unsigned(i.x), unsigned(i.y), unsigned(i.z)}; }
constexpr Index3 index(uint3 v) { return {Index(v.x), Index(v.y), Index(v.z)}; }

// Value of `next_x` in loops whose threads never wait for each other.
constexpr Index lone = Index(~0u);

// Record of a thread that waits for others, passed to the machine (src/host/fiber.cpp). Once all
// have arrived, `finish` is called for each of them before any continues. `group` has the waits by
// lane, and null for lanes that do not take part.
struct Wait {
  // Threads that must arrive: all threads of the block; the lanes in `mask`; the lanes that arrive
  // before no other lane can run.
  enum Scope { block, lanes, converged };
  Scope scope;
  int line;          // line in the source; distinguishes the block's barriers
  const char* name;  // name of the call, for fault reports
  unsigned long long mask;
  bool predicate;
  void (*finish)(Wait& self, Wait* const* group);
  const void* value;
  void* result;
  unsigned argument;
  // Results: the number of threads that arrived, and the number of true predicates among them. For
  // lanes of a warp, both are lane masks.
  unsigned long long arrived, true_votes;
  const struct CallChain* chain = nullptr;  // call chain of a lockstep access
};

}  // namespace host
}  // namespace PyGPU

// State of the running thread. Plain data in initial-exec thread-local storage: reading an index is
// one load, even from a library that was loaded at run time.
struct PyGPUHostThread {
  PyGPU::host::Index3 thread_index, block_index, block_dim, grid_dim;
  // The row of threads that is being started: its next x, its end, its y and z.
  PyGPU::host::Index next_x, row_end, row_y, row_z;
  PyGPU::host::Index warp_size;
  void* dynamic_shared;
};
extern __thread PyGPUHostThread PyGPU_host_thread
    __attribute__((tls_model("initial-exec"), visibility("default")));

extern "C" {
__attribute__((visibility("default"))) void PyGPU_host_barrier(int line);
__attribute__((visibility("default"))) void PyGPU_host_wait(PyGPU::host::Wait* wait);
__attribute__((visibility("default"))) void PyGPU_host_yield();
// Functions for code whose warps run in lockstep (lockstep.h). `position` is the code position of
// the running thread, `frame` the frame of its function. All functions keep frame pointers.
//
// Wait for the warp's other lanes before an access to volatile memory at `address`.
__attribute__((visibility("default"))) void PyGPU_host_meet(const void* address,
                                                            const void* position,
                                                            const void* frame);
// Record that the caller begins a basic block.
__attribute__((visibility("default"))) void PyGPU_host_begin_block();
// End the launch with cudaErrorLaunchFailure and this report.
__attribute__((visibility("default"))) void PyGPU_host_fail(const char* text);
// Advance to the block's next row of threads. Return false if there is none.
__attribute__((visibility("default"))) bool PyGPU_host_next_row();
}

// Kernels read their indices through the functions and macros below.
inline uint3 PyGPU_thread_index() { return PyGPU::host::value(PyGPU_host_thread.thread_index); }
inline uint3 PyGPU_block_index() { return PyGPU::host::value(PyGPU_host_thread.block_index); }
inline dim3 PyGPU_block_dim() { return dim3(PyGPU::host::value(PyGPU_host_thread.block_dim)); }
inline dim3 PyGPU_grid_dim() { return dim3(PyGPU::host::value(PyGPU_host_thread.grid_dim)); }
#if !defined(PYGPU_NAMED_INDICES)
#define threadIdx (::PyGPU_thread_index())
#define blockIdx (::PyGPU_block_index())
#define blockDim (::PyGPU_block_dim())
#define gridDim (::PyGPU_grid_dim())
#define PYGPU_INDICES_CHANGED(...) __asm__ volatile("" : : "m"(__VA_ARGS__))
#else
// A source that declares such names itself (`dim3 blockDim(256);`) needs variables, as in CUDA: its
// own declarations hide them. The symbols are members of PyGPU_host_thread (src/host/fiber.cpp).
// The compiler does not see who sets them, so a memory clobber makes it read them for each thread.
#define PYGPU_INDEX(type, name, symbol)     \
  extern __thread type name __asm__(symbol) \
      __attribute__((tls_model("initial-exec"), visibility("default")))
PYGPU_INDEX(uint3, threadIdx, "PyGPU_host_thread_index");
PYGPU_INDEX(uint3, blockIdx, "PyGPU_host_block_index");
PYGPU_INDEX(dim3, blockDim, "PyGPU_host_block_dim");
PYGPU_INDEX(dim3, gridDim, "PyGPU_host_grid_dim");
#undef PYGPU_INDEX
#define PYGPU_INDICES_CHANGED(...) __asm__ volatile("" : : "m"(__VA_ARGS__) : "memory")
#endif

namespace PyGPU {
namespace host {

// Attribute of functions that are not part of the kernel, in texts whose warps run in lockstep.
#if !defined(PYGPU_LOCKSTEP)
#define PYGPU_UNTRACED
#elif defined(__clang__)
#define PYGPU_UNTRACED __attribute__((noinline, no_sanitize("coverage"), no_sanitize("thread")))
#else
#define PYGPU_UNTRACED __attribute__((noinline, no_sanitize_coverage, no_sanitize("thread")))
#endif

// Call `body()` for each thread of the block that has not started. If a body waits for others,
// another fiber continues with the remaining threads. So the loop's state is in PyGPU_host_thread.
template <class Body>
PYGPU_UNTRACED inline void for_each_thread(Body body) {
  PyGPUHostThread& self = PyGPU_host_thread;
  do {
    // Read the next index again after the body. The compiler still knows that it is x + 1, unless
    // the body calls functions that the compiler cannot see.
    for (unsigned x = unsigned(self.next_x); x < unsigned(self.row_end);
         x = unsigned(self.next_x)) {
      self.thread_index.x = index(x);
      self.thread_index.y = self.row_y;
      self.thread_index.z = self.row_z;
      self.next_x = index(x + 1);
      // Store the index even if the kernel does not read it: fault reports use it.
      PYGPU_INDICES_CHANGED(self.thread_index.x);
      body();
    }
  } while (PyGPU_host_next_row());
}

// Like for_each_thread, for threads that never wait for each other. The loop's index is a local
// variable, because the loop is half the work of a short kernel.
// PyGPU/_compile/compilers/host.py selects this loop after reading the kernel's text. A wait
// inside the loop is reported as a fault.
template <class Body>
inline void for_each_lone_thread(Body body) {
  PyGPUHostThread& self = PyGPU_host_thread;
  do {
    const unsigned end = unsigned(self.row_end);
    self.thread_index.y = self.row_y;
    self.thread_index.z = self.row_z;
    self.next_x = lone;
    for (unsigned x = 0; x < end; ++x) {
      self.thread_index.x = index(x);
      body();
    }
  } while (PyGPU_host_next_row());
}

// Return the running thread's rank in its block; x varies fastest.
inline unsigned thread_rank() {
  const PyGPUHostThread& self = PyGPU_host_thread;
  return unsigned(self.thread_index.x) +
         unsigned(self.block_dim.x) * (unsigned(self.thread_index.y) +
                                       unsigned(self.block_dim.y) * unsigned(self.thread_index.z));
}

// Wait for the other threads of the scope. Once all have arrived, `finish` is called for each.
inline Wait wait_for(const char* name, int line, Wait::Scope scope, unsigned long long mask,
                     bool predicate = false, decltype(Wait::finish) finish = nullptr,
                     const void* value = nullptr, void* result = nullptr, unsigned argument = 0) {
  Wait wait{scope, line, name, mask, predicate, finish, value, result, argument, 0, 0};
  PyGPU_host_wait(&wait);
  return wait;
}

inline Wait block_wait(const char* name, int line, bool predicate) {
  return wait_for(name, line, Wait::block, 0, predicate);
}

// Stand-in for `extern __shared__ T name[]` at file scope: converts to a pointer to the block's
// dynamic shared memory.
template <class T>
struct DynamicShared {
  operator T*() const { return static_cast<T*>(PyGPU_host_thread.dynamic_shared); }
  template <class Integer>
  T& operator[](Integer i) const {
    return static_cast<T*>(*this)[i];
  }
  T& operator*() const { return *static_cast<T*>(*this); }
  T* operator->() const { return *this; }
  template <class U>
  explicit operator U*() const {
    return reinterpret_cast<U*>(static_cast<T*>(*this));
  }
};

}  // namespace host
}  // namespace PyGPU

template <class T>
using PyGPU_DynamicShared = PyGPU::host::DynamicShared<T>;

inline void __syncthreads(int line = __builtin_LINE()) { PyGPU_host_barrier(line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return int(PyGPU::host::block_wait("__syncthreads_count", line, predicate != 0).true_votes);
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  const PyGPU::host::Wait all = PyGPU::host::block_wait("__syncthreads_and", line, predicate != 0);
  return all.true_votes == all.arrived;
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return PyGPU::host::block_wait("__syncthreads_or", line, predicate != 0).true_votes != 0;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
