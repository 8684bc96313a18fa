// Calls of ElementwiseKernel over all elements of its arrays, from the arguments to the launch.
#include <algorithm>
#include <optional>

#include "python/launch/prepared.h"
#include "python/launch/vectors.h"

namespace PyGPU::python {
namespace {

constexpr Index max_threads = 128;         // of a block
constexpr Index blocks_of_processor = 32;  // keep a multiprocessor busy
constexpr Index work_of_core = 1 << 14;    // indices that are worth another core of the host
constexpr Index batch_threads = 256, batch = 4;

// A device, as launches of kernels that go through indices see it.
struct LaunchLimits {
  explicit LaunchLimits(int device) {
    const auto ask = [&](cudaDeviceAttr attribute) {
      int number = 0;
      check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&number, attribute, device));
      return Index(number);
    };
    warp = ask(cudaDevAttrWarpSize);
    most = blocks_of_processor * ask(cudaDevAttrMultiProcessorCount);
  }
  Index warp, most;  // lanes; blocks

  struct Shape {
    Index blocks, threads;
  };
  // Whole warps, and no more blocks than keep the device busy.
  Shape over(Index n) const {
    const Index warps = std::max<Index>(divided_up(n, warp), 1);
    const Index threads = std::min(divided_up(warps, most) * warp, max_threads);
    return {std::min(divided_up(warps * warp, threads), most), threads};
  }
  // On the host machine a block is one thread, the work of a core.
  Shape for_kernel(Index n) const {
    return launch_runs_kernel ? Shape{std::min(divided_up(n, work_of_core), most), 1} : over(n);
  }
};

py::tuple to_tuple(const LaunchLimits::Shape& shape) {
  return py::make_tuple(py::make_tuple(shape.blocks, 1), py::make_tuple(shape.threads, 1, 1));
}

// A kernel as it is compiled for the current device.
struct ElementwiseLauncher {
  PreparedFunction plain;
  std::optional<PreparedFunction> batched;  // made where it is asked for
  std::size_t count;                        // arguments
  Vectors vectors;
  Index many;  // indices, from which on a batched kernel is wanted
  LaunchLimits limits;
};

ElementwiseLauncher make_elementwise(py::handle, const py::object& function, std::size_t count,
                                     const py::sequence& vectors, Index many) {
  return {PreparedFunction(function), std::nullopt, count,
          Vectors(vectors),           many,         LaunchLimits(current_device())};
}

// Was it launched? Not where the arguments must be looked at first. None: a batched kernel is
// wanted, for so many indices.
py::object launch_elementwise(const ElementwiseLauncher& launcher, const py::object& stream,
                              const py::tuple& given, bool is_checked) {
  PyObject* const* const items = items_of(given);
  if (!is_checked && (given.size() != launcher.count || !launcher.vectors.can_launch(items)))
    return py::bool_(false);
  const Index n = launcher.vectors.first(items).layout().size();
  if (n == 0) return py::bool_(true);
  const bool by_batches = n >= launcher.many && launcher.vectors.are_disjoint(items);
  if (by_batches && !launcher.batched) return py::none();
  LaunchArguments arguments;
  arguments.add(given, n);
  if (by_batches) {
    launcher.batched->launch(divided_up(n, batch_threads * batch), batch_threads, stream,
                             arguments);
  } else {
    const auto shape = launcher.limits.for_kernel(n);
    launcher.plain.launch(shape.blocks, shape.threads, stream, arguments);
  }
  return py::bool_(true);
}

// The same for the indices start, start + step ... before stop, at most 2^62 of either sign.
bool launch_over_indices(const ElementwiseLauncher& launcher, const py::object& stream,
                         const py::tuple& given, Index start, Index stop, Index step,
                         bool is_checked) {
  const Index count = step > 0 ? (stop > start ? (stop - start - 1) / step + 1 : 0)
                               : (start > stop ? (start - stop - 1) / -step + 1 : 0);
  const Index last = count ? start + (count - 1) * step : start;
  const Index needed = count ? std::max(start, last) + 1 : 0;
  const bool is_before = count && std::min(start, last) < 0;
  PyObject* const* const items = items_of(given);
  if (!is_checked && ((is_before && launcher.vectors.any_is_always_used()) ||
                      !launcher.vectors.can_launch(items, needed)))
    return false;
  if (count == 0) return true;
  LaunchArguments arguments;
  arguments.add(given, launcher.vectors.first(items).layout().size(), start, stop, step);
  const auto shape = launcher.limits.for_kernel(count);
  launcher.plain.launch(shape.blocks, shape.threads, stream, arguments);
  return true;
}

}  // namespace

void bind_elementwise(py::module_& m) {
  const py::object c = new_class<ElementwiseLauncher>(m, "_ElementwiseLauncher",
                                                      "An ElementwiseKernel on one device.");
  constructor(c, &make_elementwise, {{"function"}, {"count"}, {"vectors"}, {"many"}});
  method(c, "set_batched",
         [](ElementwiseLauncher& launcher, const py::object& function) {
           if (!launcher.batched) launcher.batched.emplace(function);  // else it may be in use
         },
         "The kernel that takes many indices at once.", {{"function"}});
  method(
      c, "launch", &launch_elementwise,
      "Was it launched? False: the arguments must be looked at. None: a batched kernel is wanted.",
      {{"stream"}, {"arguments"}, {"is_checked", false}});
  method(c, "launch_over", &launch_over_indices,
         "Was it launched? Not where the arguments, as many as declared, must be looked at first.",
         {{"stream"}, {"arguments"}, {"start"}, {"stop"}, {"step"}, {"is_checked", false}});
  def(m, "_splay", [](Index n, int device) { return to_tuple(LaunchLimits(device).over(n)); },
      "(grid, block) for `n` elements on a device.", {{"n"}, {"device"}});
  m.attr("_batch") = py::make_tuple(batch_threads, batch);
}

}  // namespace PyGPU::python
