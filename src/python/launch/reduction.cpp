// Calls of ReductionKernel, from the arguments to the launches.
#include "PyGPU/reduction_plan.h"
#include "python/launch/prepared.h"
#include "python/launch/vectors.h"

namespace PyGPU::python {
namespace {

// The kernels as they are compiled for the current device.
struct ReductionLauncher {
  PreparedFunction first, last;
  std::size_t count;  // arguments
  Vectors vectors;
  py::object dtype;  // of the result
  LinearReduction linear;
};

ReductionLauncher make_reduction(py::handle, const py::object& first, const py::object& last,
                                 std::size_t count, const py::sequence& vectors,
                                 const py::object& dtype, int registers, int unroll) {
  const LinearReduction linear(figures_of(current_device()), itemsize_of(dtype), registers, unroll);
  return {PreparedFunction(first), PreparedFunction(last), count, Vectors(vectors), dtype, linear};
}

// The result. None where the arguments must be looked at first, or their device be made current.
py::object launch_reduction(const ReductionLauncher& launcher, const py::object& stream,
                            const py::tuple& given, const py::object& out,
                            const py::object& allocator, const py::object& wrap, bool is_checked) {
  PyObject* const* const items = items_of(given);
  if (!is_checked && (given.size() != launcher.count || !launcher.vectors.meet(items)))
    return py::none();
  const GPUArray& array = launcher.vectors.first(items);
  if (!is_checked && array.core.address() && array.core.device() != current_device())
    return py::none();
  const Index n = array.layout().size();
  const py::object room = allocator.is_none() ? array.allocator : allocator;
  const auto layout_of = [&](const Axes& shape) {
    return Layout(shape, itemsize_of(launcher.dtype));
  };
  const auto object_of = [](GPUArray&& made) { return PyGPU::python::wrap(std::move(made)); };
  const py::object result =
      out.is_none() ? object_of(new_array(layout_of({}), launcher.dtype, room)) : out;
  const auto launch = launcher.linear.over(n);
  const unsigned threads = launcher.linear.threads();
  const py::object parts = launch.blocks == 1
                               ? result
                               : object_of(scratch_array(layout_of({launch.blocks}), launcher.dtype,
                                                         stream_of(stream), room));
  LaunchArguments first;
  first.add(parts);
  first.add(given);
  first.add(launch.chunk);
  first.add(n);
  launcher.first.launch(launch.blocks, threads, stream, first, wrap);
  if (launch.blocks == 1) return result;
  LaunchArguments last;
  last.add(result);
  last.add(parts);
  last.add(given);
  last.add(launch.blocks);
  last.add(launch.blocks);
  launcher.last.launch(1, threads, stream, last, wrap);
  return result;
}

}  // namespace

void bind_reduction_launcher(py::module_& m) {
  const py::object c =
      new_class<ReductionLauncher>(m, "_ReductionLauncher", "A ReductionKernel on one device.");
  constructor(c, &make_reduction,
              {{"first"}, {"last"}, {"count"}, {"vectors"}, {"dtype"}, {"registers"}, {"unroll"}});
  method(c, "launch", &launch_reduction,
         "The result. None: the arguments must be looked at, or their device be made current.",
         {{"stream"}, {"arguments"}, {"out"}, {"allocator"}, {"wrap"}, {"is_checked", false}});
}

}  // namespace PyGPU::python
