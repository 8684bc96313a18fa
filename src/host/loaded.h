// Loaded shared libraries: address range of the code and size of the thread-local data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace PyGPU::host {

struct LoadedLibrary {
  std::uintptr_t code = 0, code_bytes = 0;
  std::size_t thread_local_bytes = 0;
};

// Return the library whose code contains the address `inside`.
LoadedLibrary library_of(std::uintptr_t inside);

// Return the number of loaded modules (library.cpp).
std::size_t live_modules();

}  // namespace PyGPU::host
