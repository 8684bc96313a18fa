// Conversion of Python's and NumPy's numbers to elements of arrays.
#pragma once

#include "python/operations/dtype_codes.h"

namespace PyGPU::python {

// Convert a number to the dtype with this code, and store its bytes at `to`. Throw ArgumentError if
// the dtype cannot represent the number.
void put_element(py::handle number, int code, char* to);

}  // namespace PyGPU::python
