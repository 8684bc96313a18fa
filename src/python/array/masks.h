// a[mask] and a[mask] = value, where masks and arrays are on the device.
#pragma once

#include "python/array/gpuarray.h"

namespace PyGPU::python {

// Each: false, and nothing done, in a case for Python.
bool select_by_mask(const GPUArray& a, const GPUArray& mask, GPUArray& out);
// Values one after the other, in a's dtype: nothing is written unless they are as many as selected.
bool assign_by_mask(const GPUArray& a, const GPUArray& mask, const GPUArray& values);
// One element for all. The mask may be of a's leading axes.
bool fill_by_mask(const GPUArray& a, const GPUArray& mask, const py::object& value);

}  // namespace PyGPU::python
