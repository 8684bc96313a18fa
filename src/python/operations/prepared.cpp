// Prepared functions of the launchers. See prepared.h.
#include "python/operations/prepared.h"

namespace PyGPU::python {

PreparedFunction::PreparedFunction(py::object function)
    : function_(std::move(function)),
      is_overridden_(!py::type::of(function_)
                          .attr("prepared_async_call")
                          .is(function_class().attr("prepared_async_call"))) {}

PreparedFunction::CallArguments::CallArguments(Index blocks, Index threads,
                                               const py::object& stream) {
  all_.append(py::make_tuple(blocks, 1));
  all_.append(py::make_tuple(threads, 1, 1));
  all_.append(stream);
}

void PreparedFunction::CallArguments::call(const py::object& function,
                                           const py::object& wrap_call) const {
  const py::object method = function.attr("prepared_async_call");
  (wrap_call.is_none() ? method : wrap_call(method))(*py::tuple(all_));
}

}  // namespace PyGPU::python
