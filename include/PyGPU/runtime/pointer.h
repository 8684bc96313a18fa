// Typed address with its number of elements, its side (host or device) and its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dtypes.h"

namespace PyGPU {

struct Pointer {
  void* address = nullptr;
  const DType* dtype = nullptr;
  std::size_t count = 0;  // number of elements at the address; 0: unknown
  bool on_host = false;
  std::shared_ptr<const void> owner;  // keeps the memory alive; null for a borrowed address
  bool read_only = false;             // host memory that must not be written

  std::uintptr_t number() const { return reinterpret_cast<std::uintptr_t>(address); }
  // Return whether the host may read and write the memory: host memory of known extent.
  bool is_safe() const { return on_host && address && count > 0; }
};

}  // namespace PyGPU
