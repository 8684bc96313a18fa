// The device that a launch goes to: that of the memory in its arguments, which the kernel follows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "PyGPU/kernel.h"
#include "PyGPU/stream.h"

namespace PyGPU::python {

// While it lives, the device of that memory is current, if it is known and the only one to reach
// it: what waits for the null stream then waits for the work on the memory.
DeviceGuard use_device_at(const void* address);

// What is wrong with a launch on a stream of another device than its memory's.
std::string device_mismatch_text(int of_memory, int of_stream);

class Placement {
 public:
  explicit Placement(const Kernel& kernel)
      : name_(kernel.name()), home_(kernel.module().device()) {}
  // Argument `index` points to memory of that device; a null address: it is a handle, which no
  // other device reads.
  void add(std::size_t index, int device, const void* address) {
    memory_.push_back({index, device, address});
  }
  // ArgumentError where no device reaches all of the memory, or the stream is another's.
  int device(const StreamRef& stream) const;

 private:
  struct ArgumentMemory {
    std::size_t argument;
    int device;
    const void* address;
  };
  // Of memory that not every device reaches: the first, and the first on another device. Null:
  // none.
  struct Devices {
    const ArgumentMemory *first = nullptr, *other = nullptr;
  };
  Devices find() const;

  const std::string& name_;
  int home_;
  std::vector<ArgumentMemory> memory_;
};

}  // namespace PyGPU::python
