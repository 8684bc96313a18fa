// Launches of ElementwiseKernel over all elements of its arrays, from the arguments of a call to
// the launch.
#include <algorithm>
#include <optional>

#include "python/binders.h"
#include "python/operations/prepared.h"
#include "python/operations/vectors.h"

namespace PyGPU::python {
namespace {

constexpr Index max_threads = 128;          // per block
constexpr Index blocks_per_processor = 32;  // enough to keep a multiprocessor busy
constexpr Index work_per_core = 1 << 14;    // indices for which another core of the host pays off
constexpr Index batch_threads = 256, batch = 4;

// Limits of a device for kernels that loop over indices.
struct LaunchLimits {
  explicit LaunchLimits(int device) {
    const auto ask = [&](cudaDeviceAttr attribute) {
      int number = 0;
      check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&number, attribute, device));
      return Index(number);
    };
    warp = ask(cudaDevAttrWarpSize);
    max_blocks = blocks_per_processor * ask(cudaDevAttrMultiProcessorCount);
  }
  Index warp, max_blocks;  // lanes per warp; blocks per grid

  struct Shape {
    Index blocks, threads;
  };
  // Return a launch of full warps, with no more blocks than keep the device busy.
  Shape over(Index n) const {
    const Index warps = std::max<Index>(divided_up(n, warp), 1);
    const Index threads = std::min(divided_up(warps, max_blocks) * warp, max_threads);
    return {std::min(divided_up(warps * warp, threads), max_blocks), threads};
  }
  // On the host machine a block has one thread, and enough work for a core.
  Shape for_kernel(Index n) const {
    return capabilities.launch_runs_kernel
               ? Shape{std::min(divided_up(n, work_per_core), max_blocks), 1}
               : over(n);
  }
};

py::tuple to_tuple(const LaunchLimits::Shape& shape) {
  return py::make_tuple(py::make_tuple(shape.blocks, 1), py::make_tuple(shape.threads, 1, 1));
}

// A kernel compiled for the current device.
struct ElementwiseLauncher {
  PreparedFunction plain;
  std::optional<PreparedFunction> batched;  // compiled at its first use
  std::size_t count;                        // number of arguments
  Vectors vectors;
  Index many;  // smallest number of indices for the batched kernel
  LaunchLimits limits;
};

ElementwiseLauncher make_elementwise(py::handle, const py::object& function, std::size_t count,
                                     const py::sequence& vectors, Index many) {
  return {PreparedFunction(function), std::nullopt, count,
          Vectors(vectors),           many,         LaunchLimits(current_device())};
}

// Launch the kernel and return True. Return False if Python must check the arguments first, and
// None if the call needs the batched kernel, which is not compiled yet.
py::object launch_elementwise(const ElementwiseLauncher& launcher, const py::object& stream,
                              const py::tuple& given, bool is_checked) {
  PyObject* const* const items = items_of(given);
  if (!is_checked && (given.size() != launcher.count || !launcher.vectors.can_launch(items)))
    return py::bool_(false);
  const Index n = launcher.vectors.first(items).layout().size();
  if (n == 0) return py::bool_(true);
  const bool by_batches = n >= launcher.many && launcher.vectors.are_disjoint(items);
  if (by_batches && !launcher.batched) return py::none();
  const auto add_all = [&](auto& arguments) {
    add_items(arguments, given);
    arguments.add(n);
  };
  const LaunchLimits::Shape shape =
      by_batches ? LaunchLimits::Shape{divided_up(n, batch_threads * batch), batch_threads}
                 : launcher.limits.for_kernel(n);
  (by_batches ? *launcher.batched : launcher.plain)
      .launch(shape.blocks, shape.threads, stream, add_all);
  return py::bool_(true);
}

// Launch over the indices start, start + step ... before stop, whose absolute values must not
// exceed 2^62. Return false if Python must check the arguments first.
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
  const auto shape = launcher.limits.for_kernel(count);
  launcher.plain.launch(shape.blocks, shape.threads, stream, [&](auto& arguments) {
    add_items(arguments, given);
    for (const Index number : {launcher.vectors.first(items).layout().size(), start, stop, step})
      arguments.add(number);
  });
  return true;
}

}  // namespace

void bind_elementwise(module_& m) {
  const py::object c = new_class<ElementwiseLauncher>(
      m, "_ElementwiseLauncher", "Launcher of an ElementwiseKernel on one device.");
  constructor(c, &make_elementwise, {{"function"}, {"count"}, {"vectors"}, {"many"}});
  method(c, "set_batched",
         [](ElementwiseLauncher& launcher, const py::object& function) {
           if (!launcher.batched)
             launcher.batched.emplace(function);  // an existing kernel may be in use
         },
         "Set the kernel that processes several indices per thread.", {{"function"}});
  method(c, "launch", &launch_elementwise,
         "Launch and return True. False: check the arguments first. None: set the batched kernel "
         "first.",
         {{"stream"}, {"arguments"}, {"is_checked", false}});
  method(
      c, "launch_over", &launch_over_indices,
      "Launch over a range of indices and return True. False: check the arguments first. Pass as "
      "many arguments as declared.",
      {{"stream"}, {"arguments"}, {"start"}, {"stop"}, {"step"}, {"is_checked", false}});
  def(m, "_launch_shape",
      [](Index n, int device) { return to_tuple(LaunchLimits(device).over(n)); },
      "Return (grid, block) for `n` elements on a device.", {{"n"}, {"device"}});
  m.attr("_batch") = py::make_tuple(batch_threads, batch);
}

}  // namespace PyGPU::python
