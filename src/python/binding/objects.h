// Entry point to the headers of Python and pybind11, and the translation of C++ exceptions to
// Python's. No other file includes these headers, except runtime/pybind11.cpp.
#pragma once

#include <pybind11/cast.h>
#include <pybind11/detail/class.h>  // bodies of functions that cast.h declares
#include <structmember.h>

namespace PyGPU::python {

namespace py = pybind11;

// A Python module. pybind11's own class is in a header of its registry of classes, which no file
// includes but runtime/pybind11.cpp.
class module_ : public py::object {
 public:
  PYBIND11_OBJECT(module_, py::object, PyModule_Check)
  static module_ import(const char* name) {
    auto found = py::reinterpret_steal<module_>(PyImport_ImportModule(name));
    if (!found) throw py::error_already_set();
    return found;
  }
};

// Return str(object) and repr(object).
std::string text_of(py::handle object);
std::string repr_of(py::handle object);
// Return the attribute, or null if the object has none. Exceptions other than AttributeError
// propagate; py::getattr with a default and py::hasattr swallow them, even a KeyboardInterrupt.
py::object attribute_or_null(py::handle object, const char* name);
// Return the truth value of an object. Throws what its __bool__ raises.
bool is_true(py::handle object);

// Set Python's exception for the C++ exception that is being handled.
void translate_exception() noexcept;

// Call `body`. For any exception set Python's and return `on_error`.
template <class Body, class Answer = decltype(std::declval<Body>()())>
Answer guarded(Body body, Answer on_error = {}) {
  try {
    return body();
  } catch (...) {
    translate_exception();
  }
  return on_error;
}

}  // namespace PyGPU::python
