// Slots of the class GPUArray that other files fill.
#pragma once

#include "python/binding/heap_type.h"

namespace PyGPU::python {

// Add the operators.
void add_operators(Slots& slots);
// Add a[key], a[key] = value, len(a) and iteration.
void add_indexing(Slots& slots);

}  // namespace PyGPU::python
