// Argument `device` of the functions that create arrays. See given_device.h.
#include "python/array/given_device.h"

namespace PyGPU::python {

GivenDevice ArgumentConverter<GivenDevice>::read(PyObject* value,
                                                 const ArgumentPosition& position) {
  if (value == Py_None) return {};
  const int device = ArgumentConverter<int>::read(value, position);
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count)) check("cudaGetDeviceCount", error);
  if (device < 0 || device >= count)
    throw DeviceError(
        "device=" + std::to_string(device),
        {cudaErrorInvalidDevice, "expected a device from 0 to " + std::to_string(count - 1)});
  return {true, use_device(device)};
}

}  // namespace PyGPU::python
