// Prepared functions of the launchers of ElementwiseKernel, ReductionKernel and scans.
#pragma once

#include "python/launch/function.h"

namespace PyGPU::python {

// A prepared function, held by a launcher. If a Python subclass overrides prepared_async_call,
// launches call that method.
class PreparedFunction {
 public:
  explicit PreparedFunction(py::object function);
  // Launch on blocks and threads along one axis. `add_all(arguments)` adds
  // every argument. If `wrap_call` is not None, call wrap_call(prepared_async_call) instead.
  template <class AddAll>
  void launch(Index blocks, Index threads, const py::object& stream, AddAll add_all,
              const py::object& wrap_call = py::none()) const {
    const py::object own = function_;  // stays alive while arguments or other threads run Python
    if (is_overridden_ || !wrap_call.is_none()) {
      CallArguments arguments(blocks, threads, stream);
      add_all(arguments);
      return arguments.call(own, wrap_call);
    }
    const StreamRef queue = stream_of(stream);  // may run Python code, so before the addresses
    LaunchShape shape;
    shape.grid = dim3(unsigned(blocks), 1, 1);
    shape.block = dim3(unsigned(threads), 1, 1);
    launch_prepared(own, shape, queue, std::ref(add_all));
  }

 private:
  // Arguments of prepared_async_call as Python's objects.
  class CallArguments {
   public:
    CallArguments(Index blocks, Index threads, const py::object& stream);
    void add(PyObject* argument) { all_.append(py::handle(argument)); }
    void add(Index number) { all_.append(number); }
    void add_address(const void* address) { all_.append(number_of(address)); }
    void call(const py::object& function, const py::object& wrap_call) const;

   private:
    py::list all_;
  };

  py::object function_;
  bool is_overridden_;
};

}  // namespace PyGPU::python
