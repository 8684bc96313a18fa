// Indexing with masks on the device.
#pragma once

#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Largest mask that one block processes.
constexpr Index max_items_for_one_block = capabilities.launch_runs_kernel ? 1 << 14 : 1 << 12;
// Index with a mask. select_by_mask returns the items where the mask is true. assign_by_mask
// assigns as many values as there are such items, of the dtype of `a`. fill_by_mask assigns one
// value to all of them; its mask may be of the leading axes of `a`. Return false for a case that
// Python handles.
bool select_by_mask(const GPUArray& a, const GPUArray& mask, GPUArray& out);
bool assign_by_mask(const GPUArray& a, const GPUArray& mask, const GPUArray& values);
bool fill_by_mask(const GPUArray& a, const GPUArray& mask, const py::object& value);

}  // namespace PyGPU::python
