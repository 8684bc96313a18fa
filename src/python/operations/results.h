// Creation of the arrays that operations write their results to.
#pragma once

#include "python/operations/operands.h"

namespace PyGPU::python {

// Return a new array for the result of an operation on these operands, on the device of the first
// array and, if `allocator` is None, from its allocator. Its class is that of `like`. If that class
// has its own constructor or _new_like_me, and the result has the shape of `like`, that function
// creates the result.
py::object result_array(const Operand* operands, int count, int code, PyObject* like,
                        const py::object& allocator = py::none());
// Return a new array of a given layout, on the device of `model`.
py::object result_array(const Layout& layout, const GPUArray& model, int code, PyObject* like,
                        const py::object& allocator = py::none());

}  // namespace PyGPU::python
