// Interruption of running kernels, on Ctrl-C or because another block of the launch has failed.
//
// A signal is sent to the thread that runs the kernel. If the signal finds the thread in the
// kernel's own code, the handler ends or suspends the kernel. Elsewhere the thread may hold a lock
// of the C library (malloc, printf), so the handler does nothing and the signal is sent again.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>

namespace PyGPU::host {

// State of a launch that other threads and signal handlers read. Each launching thread has one.
struct Running {
  std::atomic<void (*)(void*)> threads{nullptr};  // entry point of the kernel
  std::atomic<bool> stopped{false};               // no block may continue
  std::atomic<bool> must_check{false};            // the launching thread must call is_interrupted()
  // Code range of the kernel's library; see find_code.
  std::atomic<std::uintptr_t> code{0}, code_bytes{0};

  // Return true if no stop and no interrupt check is requested.
  bool is_uninterrupted() const {
    return !stopped.load(std::memory_order_relaxed) && !must_check.load(std::memory_order_relaxed);
  }
};

// The launch whose blocks this thread runs, or null.
extern __thread Running* running_of_thread;

// Begin and end a launch on this thread.
Running& begin_running(void (*threads)(void*));
void end_running();
// Return true if this thread began the launch.
bool is_launcher(const Running& running);

// Find the code range of the kernel's library. Any thread must call it before it reads `code`.
void find_code(Running& running);

// Send a signal to a thread that may run the kernel, so that it handles the launch's requests.
void signal_thread(pthread_t thread, Running& running);

// Return true if this is the process's first thread and its calls can be interrupted.
bool is_watched_thread();
// Run the program's pending signal handlers (Ctrl-C). Return true if the call must end. Call it
// in the first thread, without locks.
bool asks_to_end();
// Like asks_to_end, for a launch: call it on the thread's own stack, not on a kernel's.
bool is_interrupted(Running& running);

// The signal normally reports urgent data on a socket. Programs ignore it unless they ask for it,
// and few do.
constexpr int interrupt_signal = SIGURG;
void on_interrupt_signal(int number, siginfo_t* info, void* context);

}  // namespace PyGPU::host
