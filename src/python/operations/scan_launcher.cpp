// Launches of scan kernels on a GPU: one pass over tiles (PyGPU/_kernels/text/scan_tiles.py).
#include "python/binders.h"
#include "python/launch/launch.h"
#include "python/operations/map.h"
#include "python/operations/prepared.h"

namespace PyGPU::python {
namespace {

// The kernel compiled for the current device.
struct ScanLauncher {
  PreparedFunction function;
  py::object dtype;
  std::size_t alignment;
  Index tile, words;  // elements of a tile; 8-byte words that publish a tile's total
  Index threads;      // per block
  // Delay in nanoseconds before a block polls the tiles before its own: none up to `few` tiles, the
  // full `delay` above `many` tiles, a third of it in between.
  Index few, many, delay;

  Index delay_of(Index tiles) const { return tiles <= few ? 0 : tiles > many ? delay : delay / 3; }
};

ScanLauncher make_scan(py::handle, const py::object& function, const py::object& dtype, Index tile,
                       Index words, Index threads, const py::tuple& delays) {
  return {PreparedFunction(function),
          dtype,
          dtype.attr("alignment").cast<std::size_t>(),
          tile,
          words,
          threads,
          delays[0].cast<Index>(),
          delays[1].cast<Index>(),
          delays[2].cast<Index>()};
}

// Return true for an aligned one-dimensional array of the kernel's dtype on the current device.
bool is_row(const ScanLauncher& launcher, const GPUArray& array) {
  const Layout& layout = array.layout();
  return array.dtype.is(launcher.dtype) && layout.ndim() == 1 && layout.size() > 0 &&
         is_aligned(layout, array.core.address(), launcher.alignment) &&
         array.core.device() == current_device();
}

// Return true if each result has its own bytes, which no other block still has to read.
bool are_disjoint(const GPUArray& source, const GPUArray& target) {
  const Layout& to = target.layout();
  return source.layout().shape() == to.shape() &&
         std::size_t(std::abs(to.strides()[0])) >= to.itemsize() &&
         !is_overwritten(source.core, target.core);
}

// Launch the scan and return true. Return false if Python must check the arrays first.
bool launch_scan(const ScanLauncher& launcher, const py::object& stream, const py::object& from,
                 const py::object& to, bool is_checked) {
  const GPUArray *const source = find<GPUArray>(from.ptr()), *const target =
                                                                 find<GPUArray>(to.ptr());
  if (!is_checked && !(source && target && is_row(launcher, *source) && is_row(launcher, *target) &&
                       are_disjoint(*source, *target)))
    return false;
  const Index n = source->layout().size(), tiles = divided_up(n, launcher.tile);
  const auto scan = [&](const void* states) {
    launcher.function.launch(tiles, launcher.threads, stream, [&](auto& arguments) {
      arguments.add(n);
      arguments.add(from.ptr());
      arguments.add(source->layout().strides()[0]);
      arguments.add(to.ptr());
      arguments.add(target->layout().strides()[0]);
      arguments.add_address(states);
      arguments.add(launcher.delay_of(tiles));
    });
  };
  if (tiles == 1) {
    scan(nullptr);
    return true;
  }
  const StreamRef queue = stream_of(stream);
  const Index nbytes = 8 * (2 + tiles * launcher.words);
  const GPUArray states = scratch_array(Layout({nbytes}, 1), py::none(), queue);
  Launch launch(queue, current_device());
  for (const GPUArray* const array : {source, target, &states}) launch.reads(*array);
  launch.run([&] {
    check("cudaMemsetAsync", call_that_enqueues([&] {
            return cudaMemsetAsync(states.core.address(), 0, std::size_t(nbytes), queue.handle);
          }));
    scan(states.core.address());
  });
  return true;
}

}  // namespace

void bind_scan(module_& m) {
  const py::object c = new_class<ScanLauncher>(
      m, "_ScanLauncher", "Launcher of a scan in one pass over tiles, on one device.");
  constructor(c, &make_scan,
              {{"function"}, {"dtype"}, {"tile"}, {"words"}, {"threads"}, {"delays"}});
  method(c, "launch", &launch_scan, "Launch and return True. False: check the arrays first.",
         {{"stream"}, {"source"}, {"target"}, {"is_checked", false}});
}

}  // namespace PyGPU::python
