// Functions of users' compiled libraries. See library.cpp.
#pragma once

#include "python/bindings.h"

namespace PyGPU::python {

void bind_library(py::module_& m);
void bind_library_function(py::module_& m);

}  // namespace PyGPU::python
