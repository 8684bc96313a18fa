// The only door to Python's and pybind11's headers, and the way of exceptions between C++ and
// Python.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <structmember.h>

namespace PyGPU::python {

namespace py = pybind11;

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
