// The shape of a launch, from Python's objects: grid=, block= and shared=.
#pragma once

#include "PyGPU/kernel.h"
#include "python/bindings.h"

namespace PyGPU::python {

// One to three lengths; one int is the first. A LogicError that names `what` for anything else.
dim3 shape_of(const char* what, PyObject* value);
std::size_t shared_bytes_of(PyObject* value);

}  // namespace PyGPU::python
