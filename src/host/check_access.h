// Strict mode: what a launch tells the check of its kernel's memory accesses.
#pragma once

#include <cstddef>

namespace PyGPU::host {

// What kernels may read from a launch's context on: its parameters and the table of them.
constexpr std::size_t most_parameter_bytes = 8192;

// Forget what this thread's kernel may touch, but for these: its parameters, its shared memory.
void begin_access_checks(const void* context, const void* shared, std::size_t shared_bytes);

}  // namespace PyGPU::host
