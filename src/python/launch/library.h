// Functions of users' compiled libraries. See library.cpp.
#pragma once

#include "python/runtime/call.h"

namespace PyGPU::python {

void bind_library(module_& m);
void bind_library_function(module_& m);

}  // namespace PyGPU::python
