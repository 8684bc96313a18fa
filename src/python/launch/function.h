// Launches of prepared functions. See function.cpp.
#pragma once

#include <functional>

#include "PyGPU/runtime/kernel.h"
#include "python/launch/packing.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

// Launch a prepared function with the arguments that `add_all` adds.
void launch_prepared(py::handle function, const LaunchShape& shape, const StreamRef& stream,
                     const std::function<void(Arguments&)>& add_all);

py::handle function_class();

}  // namespace PyGPU::python
