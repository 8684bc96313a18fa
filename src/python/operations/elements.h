// Numbers as elements of arrays.
#pragma once

#include "python/operations/dtype_codes.h"

namespace PyGPU::python {

// Store the bytes of a number converted to a dtype, as passed to kernels. ArgumentError if the
// number is not in the dtype's domain.
void put_element(py::handle number, int code, char* to);

}  // namespace PyGPU::python
