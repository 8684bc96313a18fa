// Launches of prepared functions from C++. See function.cpp.
#pragma once

#include "PyGPU/runtime/kernel.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

// Launch a prepared function, as the class's own prepared_async_call does, with a given launch
// shape.
void launch_prepared(py::handle function, const LaunchShape& shape, const StreamRef& stream,
                     PyObject* const* arguments, std::size_t count);
py::handle function_class();

}  // namespace PyGPU::python
