// Strict mode: the launch registers the memory that its kernel may access.
#pragma once

#include <cstddef>

namespace PyGPU::host {

// Bytes that a kernel may read from the start of the launch's context: the table of parameter
// addresses, followed by the parameters.
constexpr std::size_t max_parameter_bytes = 8192;

// One 64-byte unit of a copy of the parameters. Its alignment suits every parameter type.
struct alignas(64) ParameterLine {
  char bytes[64];
};

// Start access checks for a kernel on this thread: allow its parameters and its shared memory.
void begin_access_checks(const void* context, const void* shared, std::size_t shared_bytes);

}  // namespace PyGPU::host
