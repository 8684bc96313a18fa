// Device of the memory at an address.
#pragma once

#include <string>

#include "PyGPU/runtime/device.h"

namespace PyGPU::python {

// Return true for memory that every device reaches.
bool is_shared_memory(const void* address);

// Make the device of the memory current while the guard lives, if that device is known and the only
// one that reaches the memory. A wait for the null stream then waits for the work on the memory.
DeviceGuard use_device_at(const void* address);

// Let the devices of the memories at two addresses copy directly between them, if they differ.
void connect_devices_at(const void* one, const void* other);

// Return the end of the error message for a stream of another device than the memory's.
std::string device_mismatch_text(int of_memory, int of_stream);

}  // namespace PyGPU::python
