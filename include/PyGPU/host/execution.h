// Where a kernel's thread is: threadIdx and the like, the loop over a block's threads, and what a
// thread reports when it waits for others.
#pragma once

#include "../vendor/host.h"
#include "qualifiers.h"

namespace PyGPU {
namespace host {

// An integer of the running thread's state. It has its own type, so that no store of a kernel
// through an int* may alias it: the compiler keeps the state in registers and vectorises the loop.
enum class Index : unsigned {};
struct Index3 {
  Index x, y, z;
};
constexpr Index index(unsigned value) { return Index(value); }
inline uint3 value(const Index3& i) { return {unsigned(i.x), unsigned(i.y), unsigned(i.z)}; }
constexpr Index3 index(uint3 v) { return {Index(v.x), Index(v.y), Index(v.z)}; }

// The next thread of a loop whose threads do not wait for each other.
constexpr Index lone = Index(~0u);

// How a thread waits for others, reported to the machine (src/host/fiber.cpp). Once all have
// arrived, `finish` is called before any continues, with the group's waits by lane, null for lanes
// that do not take part.
struct Wait {
  enum Scope { block, lanes, converged };  // all of the block; `mask`; those that arrive, too
  Scope scope;
  int line;          // in the source; distinguishes the block's barriers
  const char* name;  // of the call, for reports
  unsigned long long mask;
  bool predicate;
  void (*finish)(Wait& self, Wait* const* group);
  const void* value;
  void* result;
  unsigned argument;
  // The result: how many arrived and how many of their predicates held; for warps the same as
  // masks.
  unsigned long long came, held;
  const struct CallChain* chain = nullptr;  // of an access that a warp makes in lockstep
};

}  // namespace host
}  // namespace PyGPU

// The state of the running thread. Plain data in initial-exec thread-local storage: reading an
// index is one load, also from a library that was opened at run time.
struct PyGPUHostThread {
  PyGPU::host::Index3 thread_index, block_index, block_dim, grid_dim;
  // The row of the block's threads that is being started: its next thread, its end, its position.
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
// For code whose warps run in lockstep (lockstep.h): the running thread is at this place, in a
// function whose frame is given; all functions keep frame pointers. About to access volatile
// memory:
__attribute__((visibility("default"))) void PyGPU_host_meet(const void* address, const void* place,
                                                            const void* frame);
// The caller begins a basic block.
__attribute__((visibility("default"))) void PyGPU_host_begin_block();
// End the launch with cudaErrorLaunchFailure and this report.
__attribute__((visibility("default"))) void PyGPU_host_fail(const char* text);
// Go to the block's next row of threads; false when there is none.
__attribute__((visibility("default"))) bool PyGPU_host_next_row();
}

// What a kernel's text is given goes by names that no macro of the text has.
inline uint3 PyGPU_thread_index() { return PyGPU::host::value(PyGPU_host_thread.thread_index); }
inline uint3 PyGPU_block_index() { return PyGPU::host::value(PyGPU_host_thread.block_index); }
inline dim3 PyGPU_block_dim() { return dim3(PyGPU::host::value(PyGPU_host_thread.block_dim)); }
inline dim3 PyGPU_grid_dim() { return dim3(PyGPU::host::value(PyGPU_host_thread.grid_dim)); }
#define threadIdx (::PyGPU_thread_index())
#define blockIdx (::PyGPU_block_index())
#define blockDim (::PyGPU_block_dim())
#define gridDim (::PyGPU_grid_dim())

namespace PyGPU {
namespace host {

// In a text whose warps run in lockstep: what is no part of the kernel.
#if !defined(PYGPU_LOCKSTEP)
#define PYGPU_UNTRACED
#elif defined(__clang__)
#define PYGPU_UNTRACED __attribute__((noinline, no_sanitize("coverage"), no_sanitize("thread")))
#else
#define PYGPU_UNTRACED __attribute__((noinline, no_sanitize_coverage, no_sanitize("thread")))
#endif

// Call `body()` as each thread of the block that has not started. When a body waits for others,
// another fiber continues with the remaining threads, so the loop's state is in PyGPU_host_thread.
template <class Body>
PYGPU_UNTRACED inline void for_each_thread(Body body) {
  PyGPUHostThread& self = PyGPU_host_thread;
  do {
    // The next index is read again after the body: unless the body calls functions that the
    // compiler does not see, it knows that this is x + 1.
    for (unsigned x = unsigned(self.next_x); x < unsigned(self.row_end);
         x = unsigned(self.next_x)) {
      self.thread_index.x = index(x);
      self.thread_index.y = self.row_y;
      self.thread_index.z = self.row_z;
      self.next_x = index(x + 1);
      // The index is stored for reports of faults, even where the kernel does not read it.
      __asm__ volatile("" : : "m"(self.thread_index.x));
      body();
    }
  } while (PyGPU_host_next_row());
}

// The same for threads that never wait for each other. Half the work of a short kernel is the loop,
// so its index is local. PyGPU/_compile/host.py chooses it after reading the kernel's text; a wait
// inside it is reported as a fault.
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

// The running thread's place in its block, x fastest.
inline unsigned thread_rank() {
  const PyGPUHostThread& self = PyGPU_host_thread;
  return unsigned(self.thread_index.x) +
         unsigned(self.block_dim.x) * (unsigned(self.thread_index.y) +
                                       unsigned(self.block_dim.y) * unsigned(self.thread_index.z));
}

// Wait for the others of the scope. Once they are there, each one's `finish` is called.
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

// `extern __shared__ T name[]` at file scope: acts as the pointer to the block's dynamic memory.
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
  return int(PyGPU::host::block_wait("__syncthreads_count", line, predicate != 0).held);
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  const PyGPU::host::Wait all = PyGPU::host::block_wait("__syncthreads_and", line, predicate != 0);
  return all.held == all.came;
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return PyGPU::host::block_wait("__syncthreads_or", line, predicate != 0).held != 0;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
