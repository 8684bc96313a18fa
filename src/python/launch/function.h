// Launches of prepared functions from C++: see function.cpp.
#pragma once

#include "PyGPU/kernel.h"
#include "python/bindings.h"

namespace PyGPU::python {

// What prepared_async_call of the class itself does, once the shape of the launch is known.
void launch_prepared(py::handle function, const LaunchShape& shape, const StreamRef& stream,
                     PyObject* const* arguments, std::size_t count);
py::handle function_class();

}  // namespace PyGPU::python
