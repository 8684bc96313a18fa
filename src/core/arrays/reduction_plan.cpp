// Plans of reductions. See reduction_plan.h.
#include "PyGPU/arrays/reduction_plan.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace PyGPU {
namespace {

constexpr std::size_t shared_bytes = 32768;
constexpr Index most_rows = 65535;  // of blocks
constexpr Index least_run = 32;     // outputs whose totals a host thread keeps

// Round up to a power of two.
Index next_power_of_two(Index number) {
  Index power = 1;
  while (power < number) power *= 2;
  return power;
}

std::optional<DeviceProperties> overridden;

}  // namespace

void override_properties(const DeviceProperties* properties) {
  overridden = properties ? std::optional<DeviceProperties>(*properties) : std::nullopt;
}

DeviceProperties properties_of(int device) {
  if (overridden) return *overridden;
  static DeviceProperties known[max_devices];
  static unsigned epochs[max_devices];
  const bool kept = is_device_number(device);
  if (kept && epochs[device] == device_epoch(device)) return known[device];
  DeviceProperties properties;
  const auto ask = [&](int& number, cudaDeviceAttr attribute) {
    check("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&number, attribute, device));
  };
  ask(properties.multiprocessors, cudaDevAttrMultiProcessorCount);
  ask(properties.resident_threads, cudaDevAttrMaxThreadsPerMultiProcessor);
  ask(properties.registers, cudaDevAttrMaxRegistersPerMultiprocessor);
  if (kept) {
    known[device] = properties;
    epochs[device] = device_epoch(device);
  }
  return properties;
}

Index blocks_at_once(const DeviceProperties& properties, dim3 block, int registers) {
  registers = (std::max(registers, 1) + 7) / 8 * 8;  // the granularity of register allocation
  const Index threads = Index(block.x) * block.y;
  const Index resident =
      std::min(properties.resident_threads, properties.registers / registers) / threads;
  return std::max<Index>(resident, 1) * properties.multiprocessors;
}

unsigned reduction_block(std::size_t itemsize) {
  unsigned threads = capabilities.reduction.block_threads;
  while (threads > 1 && threads * itemsize > shared_bytes) threads /= 2;
  return threads;
}

LinearReduction::LinearReduction(const DeviceProperties& properties, std::size_t itemsize,
                                 int registers, int unroll)
    : threads_(std::min(unsigned(properties.threads), reduction_block(itemsize))) {
  resident_ = blocks_at_once(properties, dim3(threads_, 1, 1), registers);
  most_ = properties.waves * resident_;
  tile_ = Index(unroll) * threads_;
  few_ = threads_ == 1 ? 4096 : 2 * tile_;
}

LinearReduction::Launch LinearReduction::over(Index vectors) const {
  if (vectors <= few_) return {1, std::max<Index>(vectors, 1)};
  if (threads_ == 1) {
    const Index blocks = std::min<Index>(divided_up(vectors, few_), 512);
    return {blocks, divided_up(vectors, blocks)};
  }
  return {std::min(divided_up(vectors, tile_), most_), tile_};
}

AxisReduction::AxisReduction(const Layout& layout, const bool* is_folded, const void* address,
                             const DeviceProperties& properties)
    : itemsize_(Index(layout.itemsize())) {
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
  Axes kept = shape;
  for (int axis : by_stride)
    if (is_folded[axis]) kept[axis] = 1;
  result_steps = strides_in_order(kept, 1, [&](int i) { return by_stride.rbegin()[i]; });
  Index nearest = std::numeric_limits<Index>::max();
  for (int axis = 0; axis < outputs.ndim; ++axis)
    if (const Index stride = std::abs(outputs.strides[0][axis]))
      nearest = std::min(nearest, stride);
  by_output = nearest < folded.strides[0][folded.last()];
  const LoopAxes<1>&along = by_output ? outputs : folded, &across = by_output ? folded : outputs;
  const int last = along.last();
  by_runs = properties.threads == 1 && along.shape[last] >= (by_output ? least_run : 1);
  if (by_runs || along.strides[0][last] != itemsize_) return;
  auto bits = reinterpret_cast<std::uintptr_t>(address) + std::uintptr_t(offset);
  for (int axis = 0; axis < last; ++axis) bits |= std::uintptr_t(along.strides[0][axis]);
  for (int axis = 0; axis < across.ndim; ++axis) bits |= std::uintptr_t(across.strides[0][axis]);
  Index width = 16 % itemsize_ == 0 ? 16 / itemsize_ : 1;
  while (width > 1 && (along.shape[last] % width || bits % std::uintptr_t(width * itemsize_)))
    width /= 2;
  vector_width = int(width);
}

LoopAxes<1> AxisReduction::in_vectors(LoopAxes<1> axes, int width) {
  axes.shape[axes.last()] /= width;
  axes.strides[0][axes.last()] *= width;
  return axes;
}

bool AxisReduction::index64(const DeviceProperties& properties) const {
  return std::max(outputs.size(), folded.size()) > properties.index32;
}

AxisReduction::Launch AxisReduction::launch(const DeviceProperties& properties) const {
  if (by_runs) return in_runs(properties);
  const Index results = kept_vectors().size(), length = folded_vectors().size();
  const Index most = std::min<Index>(axis_threads, properties.threads);
  const Index vector = vector_width * itemsize_;
  constexpr Index unroll = capabilities.reduction.unroll;
  const Index line = std::max<Index>(128 / vector, 1);  // threads that read 128 bytes together
  const Index blocks = 8 * properties.multiprocessors;  // enough to occupy all multiprocessors
  Launch found;
  Index many, lanes;
  if (by_output) {
    many = std::min({next_power_of_two(results), most, std::max<Index>(32, line)});
    if (results >= 4 * most * properties.multiprocessors) many = most;
    lanes = std::min(most / many, next_power_of_two(length));
  } else {
    // No thread is left without elements. Elements as wide as a load are not exchanged between
    // threads.
    const Index few = next_power_of_two(length) == length && itemsize_ < 16 ? length : 1;
    const Index least =
        length <= unroll ? few : std::min({line, next_power_of_two(length / 2 + 1), most});
    lanes = std::clamp(next_power_of_two(divided_up(length, 2 * unroll)), least, most);
    const Index at_once = std::clamp<Index>(64 / vector, unroll, 2 * unroll);
    if (most > 1 && length <= unroll * lanes && results >= at_once * most / lanes * blocks / 2)
      found.outputs = int(at_once);
    many = std::min(most / lanes, next_power_of_two(results));
  }
  const Index columns = std::max<Index>(divided_up(results, many * found.outputs), 1);
  Index rows;
  if (most == 1) {  // only a few columns
    rows = length / 4096;
  } else {
    rows = std::min(blocks / columns, length / (4 * unroll * lanes));
    rows = std::max(rows, length / (16384 * lanes));
  }
  found.share =
      std::max<Index>(divided_up(length, std::max<Index>(std::min(rows, most_rows), 1)), 1);
  rows = std::max<Index>(divided_up(length, found.share), 1);
  const auto size = [](Index number) { return unsigned(number); };
  found.grid = dim3(size(columns), size(rows), 1);
  found.block = by_output ? dim3(size(many), size(lanes), 1) : dim3(size(lanes), size(many), 1);
  return found;
}

// Launch of one-thread blocks. Each block has enough work to be worth its launch, and no total is a
// sum of more than a few thousand numbers in sequence.
AxisReduction::Launch AxisReduction::in_runs(const DeviceProperties& properties) const {
  constexpr Index worth_it = 1 << 14, most_columns = 4096;
  const Index results = outputs.size(), length = folded.size();
  const Index run =
      by_output ? most_columns : std::max<Index>(worth_it / std::max<Index>(length, 1), 1);
  const Index columns = std::max<Index>(divided_up(results, run), 1);
  const Index busy = divided_up(properties.multiprocessors, columns);  // rows that occupy all cores
  const Index rows =
      std::clamp<Index>(std::max(busy, length / (4 * worth_it)), 1,
                        std::max<Index>(length * std::min(run, results) / worth_it, 1));
  Launch found;
  found.outputs = 0;
  found.share = std::max<Index>(divided_up(length, std::min(rows, most_rows)), 1);
  found.grid =
      dim3(unsigned(columns), unsigned(std::max<Index>(divided_up(length, found.share), 1)), 1);
  found.block = dim3(1, 1, 1);
  return found;
}

LastLaunch fold_parts(const DeviceProperties& properties, Index rows, Index outputs) {
  const Index most = properties.threads == 1 ? 1 : Index(capabilities.reduction.last_threads);
  const Index many = std::min({next_power_of_two(outputs), Index(32), most});
  const Index lanes = std::min(most / many, next_power_of_two(rows));
  return {dim3(unsigned(divided_up(outputs, many)), 1, 1),
          dim3(unsigned(many), unsigned(lanes), 1)};
}

}  // namespace PyGPU
