// Launches of ReductionKernel.
#include "PyGPU/arrays/reduction_plan.h"
#include "python/binders.h"
#include "python/operations/prepared.h"
#include "python/operations/shared_parts.h"
#include "python/operations/vectors.h"

namespace PyGPU::python {
namespace {

// Kernels compiled for the current device, and the memory for their blocks' parts.
struct ReductionLauncher {
  PreparedFunction first, last;
  std::size_t count;  // number of arguments
  Vectors vectors;
  py::object dtype;  // of the result
  LinearReduction linear;
  SharedParts shared;
};

ReductionLauncher make_reduction(py::handle, const py::object& first, const py::object& last,
                                 std::size_t count, const py::sequence& vectors,
                                 const py::object& dtype, int registers, int unroll) {
  const LinearReduction linear(properties_of(current_device()), itemsize_of(dtype), registers,
                               unroll);
  return {
      PreparedFunction(first), PreparedFunction(last), count, Vectors(vectors), dtype, linear, {}};
}

py::object object_of(GPUArray&& made) { return PyGPU::python::wrap(std::move(made)); }

// Launch and return the result. Return None if Python must first check the arguments or make their
// device current.
py::object launch_reduction(ReductionLauncher& launcher, const py::object& stream,
                            const py::tuple& given, const py::object& out,
                            const py::object& allocator, const py::object& wrap, bool is_checked) {
  PyObject* const* const items = items_of(given);
  if (!is_checked && (given.size() != launcher.count || !launcher.vectors.can_launch(items)))
    return py::none();
  const GPUArray& array = launcher.vectors.first(items);
  if (!is_checked && array.core.address() && array.core.device() != current_device())
    return py::none();
  const Index n = array.layout().size();
  const py::object used_allocator = allocator.is_none() ? array.allocator : allocator;
  const Layout one(Axes(), itemsize_of(launcher.dtype));
  const py::object result =
      out.is_none() ? object_of(new_array(one, launcher.dtype, used_allocator)) : out;
  const auto launch = launcher.linear.over(n);
  const unsigned threads = launcher.linear.threads();
  const StreamRef stream_ref = stream_of(stream);
  const bool uses_counter =
      launch.blocks > 1 && launch.blocks <= launcher.linear.resident_blocks() &&
      !capabilities.launch_runs_kernel && !stream_ref.handle && wrap.is_none();
  py::object parts = result;  // with one block, the part is the result
  if (launch.blocks > 1 && !uses_counter)
    parts = object_of(scratch_array(Layout({launch.blocks}, one.itemsize()), launcher.dtype,
                                    stream_ref, used_allocator));
  const auto add_first = [&](auto& arguments) {
    if (uses_counter)
      arguments.add_address(
          launcher.shared.parts(std::size_t(launcher.linear.resident_blocks()) * one.itemsize()));
    else
      arguments.add(parts.ptr());
    add_items(arguments, given);
    arguments.add(launch.chunk);
    arguments.add(n);
    if (uses_counter)
      arguments.add(result.ptr());
    else
      arguments.add_address(nullptr);
    arguments.add_address(uses_counter ? launcher.shared.counters(1) : nullptr);
  };
  launcher.first.launch(launch.blocks, threads, stream, add_first, wrap);
  if (launch.blocks == 1 || uses_counter) return result;
  const auto add_last = [&](auto& arguments) {
    arguments.add(result.ptr());
    arguments.add(parts.ptr());
    add_items(arguments, given);
    arguments.add(launch.blocks);
    arguments.add(launch.blocks);
  };
  launcher.last.launch(1, threads, stream, add_last, wrap);
  return result;
}

}  // namespace

void bind_reduction_launcher(module_& m) {
  const py::object c = new_class<ReductionLauncher>(m, "_ReductionLauncher",
                                                    "Launcher of a ReductionKernel on one device.");
  constructor(c, &make_reduction,
              {{"first"}, {"last"}, {"count"}, {"vectors"}, {"dtype"}, {"registers"}, {"unroll"}});
  method(c, "launch", &launch_reduction,
         "Launch and return the result. None: check the arguments, or make their device current, "
         "first.",
         {{"stream"}, {"arguments"}, {"out"}, {"allocator"}, {"wrap"}, {"is_checked", false}});
}

}  // namespace PyGPU::python
