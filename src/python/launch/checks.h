// What a launch would do wrong without a word: elements that the kernel reads as something else,
// integers for floating-point numbers. It warns (PyGPU.errors.ArgumentWarning) once a parameter of
// a kernel; with PYGPU_CHECK=error it raises ArgumentError, with PYGPU_CHECK=off it does nothing.
#pragma once

#include "python/launch/packing.h"

namespace PyGPU::python {

// An integer goes into a parameter that is a floating-point number, by its value.
void check_integer(PyObject* argument, const KernelParameter& parameter, std::size_t index);
// An array's elements against those that the parameter points to.
void check_elements(PyObject* dtype, const KernelParameter& parameter, std::size_t index);

// The same where it is hot: nothing is known of the pointer, or the dtype was compared before.
inline void compare_elements(PyObject* dtype, const KernelParameter& parameter, std::size_t index) {
  if (parameter.pointee != Kind::unknown && parameter.compared.ptr() != dtype)
    check_elements(dtype, parameter, index);
}

}  // namespace PyGPU::python
