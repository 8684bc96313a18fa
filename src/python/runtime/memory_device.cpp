// Device of the memory at an address. See memory_device.h.
#include "python/runtime/memory_device.h"

#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/peers.h"

namespace PyGPU::python {

bool is_shared_memory(const void* address) {
  if (!address) return false;
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, address)) (void)cudaGetLastError();
  return found.type == cudaMemoryTypeManaged || found.type == cudaMemoryTypeHost;
}

DeviceGuard use_device_at(const void* address) {
  const auto storage = is_only_device() ? nullptr : Storage::holding(address);
  return storage && !is_shared_memory(address) ? use_device(storage->device()) : DeviceGuard();
}

void connect_devices_at(const void* one, const void* other) {
  if (is_only_device()) return;
  const auto first = Storage::holding(one), second = Storage::holding(other);
  if (first && second) connect_for_copies(first->device(), second->device());
}

std::string device_mismatch_text(int of_memory, int of_stream) {
  return ": its memory is on device " + std::to_string(of_memory) +
         ", but the stream belongs to device " + std::to_string(of_stream);
}

}  // namespace PyGPU::python
