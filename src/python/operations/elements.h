// Numbers as elements of arrays.
#pragma once

#include "python/operations/dtype_codes.h"

namespace PyGPU::python {

// Convert a number to a dtype and store its bytes. ArgumentError if the dtype cannot hold it.
void put_element(py::handle number, int code, char* to);

}  // namespace PyGPU::python
