// Device of a launch: the device of the memory in its arguments, on which the kernel then runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "PyGPU/runtime/kernel.h"
#include "PyGPU/runtime/stream.h"
#include "python/runtime/memory_device.h"

namespace PyGPU::python {

class Placement {
 public:
  explicit Placement(const Kernel& kernel)
      : name_(kernel.name()), home_(kernel.module().device()) {}
  // Add memory of a device, to which argument `index` points. A null address is a handle, which no
  // other device can use.
  void add(std::size_t index, int device, const void* address) {
    memory_.push_back({index, device, address});
  }
  // Return the device of the launch. ArgumentError if no device reaches all of the memory, or if
  // the stream belongs to another device.
  int device(const StreamRef& stream) const;

 private:
  struct ArgumentMemory {
    std::size_t argument;
    int device;
    const void* address;
  };
  // The first memory that not every device reaches, and the first such memory on another device.
  // Null: none.
  struct Devices {
    const ArgumentMemory *first = nullptr, *other = nullptr;
  };
  Devices find() const;

  const std::string& name_;
  int home_;
  std::vector<ArgumentMemory> memory_;
};

}  // namespace PyGPU::python
