// Device of a launch: the device of the memory in its arguments, on which the kernel then runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "PyGPU/runtime/kernel.h"
#include "PyGPU/runtime/stream.h"

namespace PyGPU::python {

// Make the device of the memory current while the guard lives, if that device is known and the only
// one that reaches the memory. A wait for the null stream then waits for the work on the memory.
DeviceGuard use_device_at(const void* address);

// Return the end of the error message for a stream of another device than the memory's.
std::string device_mismatch_text(int of_memory, int of_stream);

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
