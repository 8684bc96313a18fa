// What a loaded library consists of, as the dynamic linker knows it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace PyGPU::host {

struct Loaded {
  std::uintptr_t code = 0, code_bytes = 0;
  std::size_t thread_local_bytes = 0;
};

// The library that this address of code is in.
Loaded library_of(std::uintptr_t inside);

}  // namespace PyGPU::host
