// Codes of the dtypes with arithmetic.
#pragma once

#include "PyGPU/runtime/dtypes.h"
#include "python/binding/numpy.h"

namespace PyGPU::python {

// Conversions between a dtype object and its code, the row number in PYGPU_DTYPES. For a dtype
// without arithmetic, code_of throws ValueError and find_code returns -1.
const py::object& dtype_object(int code);
int find_code(const py::object& dtype);
int code_of(const py::object& dtype);

}  // namespace PyGPU::python
