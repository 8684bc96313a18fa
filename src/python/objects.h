// The only door to Python's and pybind11's headers, and the way of exceptions between C++ and
// Python.
#pragma once

#include <pybind11/cast.h>
#include <pybind11/detail/class.h>  // bodies of what cast.h declares
#include <structmember.h>

namespace PyGPU::python {

namespace py {

using namespace pybind11;

class module_ : public object {
 public:
  PYBIND11_OBJECT(module_, object, PyModule_Check)
  static module_ import(const char* name) {
    auto found = reinterpret_steal<module_>(PyImport_ImportModule(name));
    if (!found) throw error_already_set();
    return found;
  }
};

}  // namespace py

// str(object) and repr(object).
std::string text_of(py::handle object);
std::string repr_of(py::handle object);

// Set Python's exception for the one that is being handled.
void translate_exception() noexcept;

// Python's exception for whatever leaves `body`, and an answer that says so.
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
