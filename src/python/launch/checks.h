// Checks for arguments that a launch would silently misread: array elements that the kernel reads
// as another type, and integers for floating-point parameters. A check warns
// (PyGPU.errors.ArgumentWarning) once for each parameter of a kernel. With PYGPU_CHECK=error it
// raises ArgumentError; with PYGPU_CHECK=off it does nothing.
#pragma once

#include "python/launch/parameters.h"

namespace PyGPU::python {

// Report an integer argument of a floating-point parameter, which receives the integer's value.
void check_integer(PyObject* argument, const KernelParameter& parameter, std::size_t index);
// Compare the dtype of an array with the type that the parameter points to.
void check_elements(PyObject* dtype, const KernelParameter& parameter, std::size_t index);

// Fast path of check_elements: skip parameters with an unknown pointee, and a dtype that was
// compared before.
inline void compare_elements(PyObject* dtype, const KernelParameter& parameter, std::size_t index) {
  if (parameter.pointee != Kind::unknown && parameter.last_accepted_dtype.ptr() != dtype)
    check_elements(dtype, parameter, index);
}

}  // namespace PyGPU::python
