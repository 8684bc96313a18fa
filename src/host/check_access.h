// Strict mode: what a launch declares to the check of its kernel's memory accesses.
#pragma once

#include <cstddef>

namespace PyGPU::host {

// Bytes from a launch's context on that kernels may read: the table of the parameters, and these.
constexpr std::size_t most_parameter_bytes = 8192;

// A piece of a copy of parameters, aligned as any of them may be.
struct alignas(64) ParameterLine {
  char bytes[64];
};

// Begin a kernel in this thread: it may touch its parameters and its shared memory.
void begin_access_checks(const void* context, const void* shared, std::size_t shared_bytes);

}  // namespace PyGPU::host
