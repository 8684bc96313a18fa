// Prepared functions of the launchers of ElementwiseKernel, ReductionKernel and scans.
#pragma once

#include "python/runtime/call.h"

namespace PyGPU::python {

// Arguments of a launch: those of a call, with additional numbers and arrays.
class LaunchArguments {
 public:
  // Add objects, numbers, and the items of tuples.
  template <class... Values>
  void add(const Values&... values) {
    (put(values), ...);
  }
  PyObject* const* data() const { return objects_.data(); }
  std::size_t size() const { return objects_.size(); }

 private:
  void put(PyObject* object) { objects_.push_back(object); }
  void put(const py::object& object) { put(object.ptr()); }
  void put(Index number) {
    owned_.push_back(py::reinterpret_steal<py::object>(PyLong_FromLongLong(number)));
    put(owned_.back());
  }
  void put(const py::tuple& given) {
    for (std::size_t i = 0; i < given.size(); ++i) put(PyTuple_GET_ITEM(given.ptr(), i));
  }

  std::vector<PyObject*> objects_;
  std::vector<py::object> owned_;
};

// A prepared function, held by a launcher. If a Python subclass overrides prepared_async_call,
// launches call that method.
class PreparedFunction {
 public:
  explicit PreparedFunction(py::object function);
  // Launch on blocks and threads along one axis. If `wrap` is not None, call the result of
  // wrap(prepared_async_call) instead.
  void launch(Index blocks, Index threads, const py::object& stream,
              const LaunchArguments& arguments, const py::object& wrap = py::none()) const;

 private:
  py::object function_;
  bool is_overridden_;
};

}  // namespace PyGPU::python
