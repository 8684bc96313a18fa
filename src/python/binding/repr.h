// Texts for Python's repr: "<Class details>". A repr never throws, waits or calls the device.
#pragma once

#include <string>

#include "PyGPU/runtime/device.h"
#include "python/binding/heap_type.h"

namespace PyGPU::python {

std::string hex(const void* address);

// Return "<Class details>" with the details of the object's value, by the name of the object's own
// class. An object whose __init__ has not run has no value.
template <class T, class Describe>
std::string described(const py::object& self, Describe describe) {
  const std::string name = name_of_class(Py_TYPE(self.ptr()));
  auto* const instance = instance_at<T>(self.ptr());
  return "<" + name + (instance->made ? " " + describe(*instance->value()) : ", not initialized") +
         ">";
}

// Return the handle, its device, and whether it is still valid.
inline std::string handle_text(const void* handle, int device, unsigned epoch) {
  if (!handle) return "0x0, destroyed or never created";
  std::string text = hex(handle) + " on device " + std::to_string(device);
  if (forked()) return text + " of the parent process";
  if (is_gone(device, epoch)) text += ", destroyed by cudaDeviceReset";
  return text;
}

}  // namespace PyGPU::python
