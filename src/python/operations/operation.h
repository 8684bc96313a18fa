// Operations by name and by number.
#pragma once

#include <string>

#include "python/binding/objects.h"

namespace PyGPU::python {

// Numbers of the operations that PyGPU/_kernels/operations.py defines by name.
using Operation = int;
Operation operation_named(const std::string& name);
const std::string& operation_name(Operation operation);
// Return the operation whose number is in a Python object. ValueError for unknown numbers.
Operation operation_in(PyObject* number);
constexpr int max_operations = 1 << 20;

}  // namespace PyGPU::python
