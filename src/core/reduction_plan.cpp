// Plans of reductions. See reduction_plan.h.
#include "PyGPU/reduction_plan.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace PyGPU {
namespace {

constexpr std::size_t shared_bytes = 32768;
constexpr Index most_rows = 65535;  // of blocks

// The power of two that is not below a number.
Index up(Index number) {
  Index power = 1;
  while (power < number) power *= 2;
  return power;
}

Index divided(Index number, Index by) { return (number + by - 1) / by; }

}  // namespace

namespace {
std::optional<DeviceFigures> pretended;
}

void pretend_figures(const DeviceFigures* figures) {
  pretended = figures ? std::optional<DeviceFigures>(*figures) : std::nullopt;
}

DeviceFigures figures_of(int device) {
  if (pretended) return *pretended;
  static DeviceFigures known[max_devices];
  static unsigned epochs[max_devices];  // of the device, plus one
  const bool kept = device >= 0 && device < max_devices;
  if (kept && epochs[device] == device_epoch(device) + 1) return known[device];
  DeviceFigures figures;
  const auto ask = [&](int& number, cudaDeviceAttr attribute) {
    check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&number, attribute, device));
  };
  ask(figures.multiprocessors, cudaDevAttrMultiProcessorCount);
  ask(figures.resident_threads, cudaDevAttrMaxThreadsPerMultiProcessor);
  ask(figures.registers, cudaDevAttrMaxRegistersPerMultiprocessor);
  if (kept) {
    known[device] = figures;
    epochs[device] = device_epoch(device) + 1;
  }
  return figures;
}

unsigned reduction_block(std::size_t itemsize) {
  unsigned threads = reduction_tuning::block_threads;
  while (threads > 1 && threads * itemsize > shared_bytes) threads /= 2;
  return threads;
}

LinearReduction::LinearReduction(const DeviceFigures& figures, std::size_t itemsize, int registers,
                                 int unroll)
    : threads_(std::min(unsigned(figures.threads), reduction_block(itemsize))) {
  registers = (std::max(registers, 1) + 7) / 8 * 8;  // how they are given out
  const Index resident =
      std::min(figures.resident_threads, figures.registers / registers) / Index(threads_);
  resident_ = std::max<Index>(resident, 1) * figures.multiprocessors;
  most_ = figures.waves * resident_;
  tile_ = Index(unroll) * threads_;
  few_ = threads_ == 1 ? 4096 : 2 * tile_;
}

LinearReduction::Launch LinearReduction::over(Index vectors) const {
  if (vectors <= few_) return {1, std::max<Index>(vectors, 1)};
  if (threads_ == 1) {
    const Index blocks = std::min<Index>(divided(vectors, few_), 4096);
    return {blocks, divided(vectors, blocks)};
  }
  return {std::min(divided(vectors, tile_), most_), tile_};
}

AxisReduction::AxisReduction(const Layout& layout, const bool* is_folded, const void* address) {
  const Axes &shape = layout.shape(), &strides = layout.strides();
  const auto by_stride = strides.by_falling_size();
  for (int axis : by_stride) {
    const Index length = shape[axis];
    Index stride = strides[axis];
    if (!is_folded[axis]) {
      outputs.append(length, &stride);
      continue;
    }
    if (stride < 0 && length) {
      offset += stride * (length - 1);
      stride = -stride;
    }
    folded.append(length, &stride);
  }
  outputs.complete();
  folded.complete();
  result_steps = shape;
  Index step = 1;
  for (auto axis = by_stride.rbegin(); axis != by_stride.rend(); ++axis) {
    result_steps[*axis] = step;
    if (!is_folded[*axis]) step *= std::max<Index>(shape[*axis], 1);
  }
  const auto itemsize = Index(layout.itemsize());
  const Index width = 16 % itemsize == 0 ? 16 / itemsize : 1;
  auto bits = reinterpret_cast<std::uintptr_t>(address) + std::uintptr_t(offset);
  for (int axis = 0; axis < folded.last(); ++axis) bits |= std::uintptr_t(folded.strides[0][axis]);
  for (int axis = 0; axis < outputs.ndim; ++axis) bits |= std::uintptr_t(outputs.strides[0][axis]);
  const int last = folded.last();
  if (folded.strides[0][last] == itemsize && folded.shape[last] % width == 0 &&
      bits % std::uintptr_t(width * itemsize) == 0)
    vector_width = int(width);
}

bool AxisReduction::index64(const DeviceFigures& figures) const {
  return std::max(outputs.size(), folded.size()) > figures.index32;
}

AxisReduction::Launch AxisReduction::launch(const DeviceFigures& figures,
                                            std::size_t itemsize) const {
  const Index results = outputs.size(), length = folded.size() / vector_width;
  Index nearest = std::numeric_limits<Index>::max();
  for (int axis = 0; axis < outputs.ndim; ++axis)
    if (const Index stride = std::abs(outputs.strides[0][axis]))
      nearest = std::min(nearest, stride);
  const bool by_output = nearest < folded.strides[0][folded.last()];
  const Index most = figures.threads;
  constexpr Index unroll = reduction_tuning::unroll;
  Index many, lanes;
  if (by_output) {
    many = std::min({up(results), most, std::max<Index>(32, 128 / Index(itemsize))});
    if (results >= 4 * most * figures.multiprocessors) many = most;
    lanes = std::min(most / many, up(length));
  } else {
    lanes = std::min(most, std::max(up(divided(length, unroll)), std::min<Index>(32, up(length))));
    many = std::min(most / lanes, up(results));
  }
  const Index columns = std::max<Index>(divided(results, many), 1);
  Index rows;
  if (most == 1) {  // one output after the other: by columns, as many elements as stay in the cache
    rows = length / (by_output ? 512 : 4096);
  } else {
    rows = std::min(8 * figures.multiprocessors / columns, length / (4 * unroll * lanes));
    rows = std::max(rows, length / (16384 * lanes));
  }
  const Index share =
      std::max<Index>(divided(length, std::max<Index>(std::min(rows, most_rows), 1)), 1);
  rows = std::max<Index>(divided(length, share), 1);
  const auto size = [](Index number) { return unsigned(number); };
  return {dim3(size(columns), size(rows), 1),
          by_output ? dim3(size(many), size(lanes), 1) : dim3(size(lanes), size(many), 1), share,
          by_output};
}

LastLaunch fold_parts(const DeviceFigures& figures, Index rows, Index outputs) {
  const Index most = figures.threads == 1 ? 1 : Index(reduction_tuning::last_threads);
  const Index many = std::min({up(outputs), Index(32), most});
  const Index lanes = std::min(most / many, up(rows));
  return {dim3(unsigned(divided(outputs, many)), 1, 1), dim3(unsigned(many), unsigned(lanes), 1)};
}

}  // namespace PyGPU
