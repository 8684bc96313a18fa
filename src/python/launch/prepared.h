// Prepared functions as launchers keep them: kernels by expression.
#pragma once

#include "python/bindings.h"

namespace PyGPU::python {

// The arguments of a launch: those of a call, and numbers or arrays beside them.
class LaunchArguments {
 public:
  // Objects, numbers, and the objects of tuples.
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

// A prepared function, as launchers keep it. Where a class of Python's has a prepared_async_call of
// its own, it is called.
class PreparedFunction {
 public:
  explicit PreparedFunction(py::object function);
  // On blocks and threads along one axis. `wrap`, if any, gives what is called instead.
  void launch(Index blocks, Index threads, const py::object& stream,
              const LaunchArguments& arguments, const py::object& wrap = py::none()) const;

 private:
  py::object function_;
  bool is_overridden_;
};

}  // namespace PyGPU::python
