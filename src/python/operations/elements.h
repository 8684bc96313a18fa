// Conversion of Python's and NumPy's numbers to elements of arrays.
#pragma once

#include <string>

#include "python/operations/dtype_codes.h"

namespace PyGPU::python {

// Convert a number to the dtype with this code, and store its bytes at `to`. Throw ArgumentError if
// the dtype cannot represent the number; `name` starts the message.
void put_element(py::handle number, int code, char* to, const char* name = "");

// Return a value as a 0-d ndarray, converted as by NumPy's assignment. Messages start with `name`.
np::array element_of(const py::object& dtype, const py::object& value,
                     const std::string& name = "value");

}  // namespace PyGPU::python
