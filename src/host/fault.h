// Faults of kernels: what went wrong, in words and as a code, and the way out of the kernel.
#pragma once

#include "PyGPU/cuda_on_host.h"

namespace PyGPU::host {

// The first fault of a launch.
struct Fault {
  cudaError_t code = cudaSuccess;
  char text[1024] = "";
};

// The fault record and the kernel of the launch that this thread runs; null outside kernels.
extern __thread Fault* fault_of_thread;
extern __thread const char* kernel_of_thread;

constexpr const char* stack_overflow = "stack overflow: more than 1 MB of local memory";
constexpr const char* no_memory_for_threads =
    "no memory for the threads of a block, whose stacks take 1 MB of address space each";

// Describe a fault of the running kernel: "kernel k, block (0, 0, 0): " and the text.
__attribute__((format(printf, 2, 3))) void describe(cudaError_t code, const char* format, ...);

// Prepare this thread to survive faults of the kernel that it is about to run; false without memory
// for that.
bool catch_faults();

// End the running kernel: switch from its stack back to the launch's. Defined in fiber.cpp.
[[noreturn]] void leave_kernel();
bool in_kernel();
// Has this thread a kernel, be it one that is held up?
bool has_kernel();
// Hold the running kernel up, while the launch looks at what is asked of it. Returns when it is to
// run on.
void hold_kernel();
bool is_stack_guard(const void* address);
bool is_kernel_stack(const void* address);

// Sets what cudaHostLastReport returns: a launch's fault, or nothing.
void report(const Fault* fault);

}  // namespace PyGPU::host
