// Pointers with a dtype in Python.
#pragma once

#include "PyGPU/runtime/dtypes.h"
#include "PyGPU/runtime/pointer.h"
#include "python/arguments.h"

namespace PyGPU::python {

// Return the dtype of this name. ValueError for unknown names.
const DType& dtype_named(const std::string& name);

// Return the dtype that a typed class, a Python subclass, names in its attribute `dtype`.
const DType& dtype_of_class(py::handle self);

// Wrap a pointer in Python's pointer_wrapper_<dtype>.
py::object wrap_pointer(const Pointer& pointer);

// Export the buffer of the NumPy array that `array_of` makes from the object.
template <np::array (*array_of)(py::object)>
int export_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(
      [&] {
        const np::array array = array_of(py::reinterpret_borrow<py::object>(self));
        return PyObject_GetBuffer(array.ptr(), view, flags);
      },
      -1);
}

}  // namespace PyGPU::python
