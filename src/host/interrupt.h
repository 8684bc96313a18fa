// Ends kernels that would run on: because another block of their launch has failed, or on Ctrl-C.
//
// A thread that runs a kernel is reached by a signal. Where it finds the thread in the kernel's own
// code, the kernel is ended or held up there; anywhere else the thread may hold a lock of the C
// library's (malloc, printf), so nothing is done, and the signal is sent again.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace PyGPU::host {

// A launch, as threads and signals that would end it see it. Each thread that launches has one.
struct Running {
  std::atomic<void (*)(void*)> threads{nullptr};  // the kernel
  std::atomic<bool> stopped{false};               // no block is to run on
  std::atomic<bool> asks{false};                  // the launching thread is to ask is_interrupted()
  std::atomic<std::uintptr_t> code{0}, code_bytes{0};  // of the kernel's library; see find_code

  // May the blocks run on without a look?
  bool is_undisturbed() const {
    return !stopped.load(std::memory_order_relaxed) && !asks.load(std::memory_order_relaxed);
  }
};

// The launch whose blocks this thread runs, or null.
extern __thread Running* running_of_thread;

// A launch by this thread, until it ends.
Running& begin_running(void (*threads)(void*));
void end_running();
bool is_launcher(const Running& running);

// Where the code of the kernel's library is: to be called before `code` is read, by any thread.
void find_code(Running& running);

// Have a thread that may be in the kernel look at what is asked of it.
void reach(pthread_t thread, Running& running);

// Shall the launch end, because somebody wants the thread back? To be asked on the thread's own
// stack, not a kernel's.
bool is_interrupted(Running& running);

void install_reach_handler();

}  // namespace PyGPU::host
