// Launches of prepared functions. See prepared.h.
#include "python/launch/prepared.h"

#include "python/launch/function.h"

namespace PyGPU::python {

PreparedFunction::PreparedFunction(py::object function)
    : function_(std::move(function)),
      is_overridden_(!py::type::of(function_)
                          .attr("prepared_async_call")
                          .is(function_class().attr("prepared_async_call"))) {}

void PreparedFunction::launch(Index blocks, Index threads, const py::object& stream,
                              const LaunchArguments& arguments, const py::object& wrap) const {
  const py::object own =
      function_;  // stays alive while arguments run Python code or other threads run
  if (!is_overridden_ && wrap.is_none()) {
    LaunchShape shape;
    shape.grid = dim3(unsigned(blocks), 1, 1);
    shape.block = dim3(unsigned(threads), 1, 1);
    return launch_prepared(own, shape, stream_of(stream), arguments.data(), arguments.size());
  }
  py::list given;
  given.append(py::make_tuple(blocks, 1));
  given.append(py::make_tuple(threads, 1, 1));
  given.append(stream);
  for (std::size_t i = 0; i < arguments.size(); ++i) given.append(py::handle(arguments.data()[i]));
  const py::object call = own.attr("prepared_async_call");
  (wrap.is_none() ? call : wrap(call))(*py::tuple(given));
}

}  // namespace PyGPU::python
