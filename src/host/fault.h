// Faults of kernels: the error code, its description, and the way out of the kernel.
#pragma once

#include <signal.h>

#include "PyGPU/cuda_on_host.h"

namespace PyGPU::host {

// The first fault of a launch.
struct Fault {
  cudaError_t code = cudaSuccess;
  char text[1024] = "";
};

// Fault record and name of the kernel that this thread runs. Null outside a launch.
extern __thread Fault* fault_of_thread;
extern __thread const char* kernel_of_thread;

constexpr const char* stack_overflow = "stack overflow: more than 1 MB of local memory";
constexpr const char* no_memory_for_threads =
    "no memory for the threads of a block, whose stacks take 1 MB of address space each";

// Record a fault of the running kernel: "kernel k, block (0, 0, 0), thread (0, 0, 0): " and the
// text.
__attribute__((format(printf, 2, 3))) void describe(cudaError_t code, const char* format, ...);

// Install the handlers of faults for a launch, in front of those that the program or a library has
// installed since the last launch, and restore these after it.
void hold_handlers();
void release_handlers();
struct ReleaseHandlers {
  void operator()(const void*) const { release_handlers(); }
};
// Install the handlers again during a launch.
void check_handlers();
// Call the program's handler of a signal. The default handler ends the process.
void forward_signal(int number, siginfo_t* info, void* context);

// Give this thread a stack for the handlers; restore_signal_stack needs `before`. Return false if
// there is no memory for it.
bool set_signal_stack(stack_t& before);
void restore_signal_stack(const stack_t& before);

// End the running kernel: switch from its stack back to the launch's stack. Defined in fiber.cpp.
[[noreturn]] void abandon_kernel();
// Return true if this thread executes kernel code now.
bool in_kernel();
// Return true if this thread has a kernel, running or suspended.
bool has_kernel();
// Suspend the running kernel while the launch handles a request (stop or interrupt check). Return
// when the kernel may continue.
void suspend_kernel();
bool is_stack_guard(const void* address);
bool is_kernel_stack(const void* address);

// Set the text that cudaHostLastReport returns: a launch's fault, or "".
void set_last_report(const char* text);

}  // namespace PyGPU::host
