// Indexing with index arrays and masks on the device.
#pragma once

#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Index with one mask or index array on the device: a[key] and a[key] = value. Return false for a
// case that Python handles.
bool select_by_array(const GPUArray& array, PyObject* key, GPUArray& out);
bool assign_by_array(const GPUArray& array, PyObject* key, const py::object& value);

}  // namespace PyGPU::python
