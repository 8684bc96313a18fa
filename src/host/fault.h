// Faults of kernels: the error code, its description, and the way out of the kernel.
#pragma once

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

// Prepare this thread to survive faults of the kernel that it will run. Return false if there is no
// memory for the signal stack.
bool catch_faults();

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

// Set the text that cudaHostLastReport returns: a launch's fault, or none if `fault` is null.
void set_last_report(const Fault* fault);

}  // namespace PyGPU::host
