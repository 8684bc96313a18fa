// Argument `device` of the functions that create arrays.
#pragma once

#include "python/runtime/call.h"

namespace PyGPU::python {

// The device is current until the function returns. None is the current device.
struct GivenDevice {
  bool is_given = false;
  DeviceGuard guard;
};
template <>
struct ArgumentConverter<GivenDevice> {
  static GivenDevice read(PyObject* value, const ArgumentPosition& position);
};

}  // namespace PyGPU::python
