// Plans of elementwise kernels. See loop.h.
#include "PyGPU/arrays/loop.h"

#include <algorithm>
#include <limits>

namespace PyGPU {
namespace {

// Most elements of a block. 32-bit indices must reach that far past the end.
constexpr Index most_in_block =
    Index(capabilities.loop_threads) * 8 * (2 * capabilities.loop_vectors);

using LoopArrays = LoopAxes<max_arrays>;

}  // namespace

Axes broadcast(const Axes& a, const Axes& b) {
  const int ndim = std::max(a.size(), b.size());
  Axes shape;
  for (int axis = 0; axis < ndim; ++axis) {
    const int in_a = axis - (ndim - a.size()), in_b = axis - (ndim - b.size());
    const Index x = in_a < 0 ? 1 : a[in_a], y = in_b < 0 ? 1 : b[in_b];
    if (x != y && x != 1 && y != 1)
      throw ShapeMismatch("operands could not be broadcast together with shapes " + a.text() +
                          " and " + b.text());
    shape.push_back(x == 1 ? y : x);
  }
  return shape;
}

bool is_broadcastable_to(const Axes& own, const Axes& shape) {
  const int missing = shape.size() - own.size();
  for (int axis = 0; axis < own.size(); ++axis)
    if (missing < 0 || (own[axis] != 1 && own[axis] != shape[missing + axis])) return false;
  return true;
}

Layout broadcast_to(const Layout& layout, const Axes& shape) {
  if (layout.shape() == shape) return layout;
  Axes strides;
  const int missing = shape.size() - layout.ndim();
  for (int axis = 0; axis < shape.size(); ++axis) {
    const int own = axis - missing;
    const bool repeated = own < 0 || layout.shape()[own] == 1;
    strides.push_back(repeated ? 0 : layout.strides()[own]);
  }
  return Layout(shape, strides, layout.itemsize());
}

Layout result_layout(const Axes& shape, const Layout* const* operands, int count,
                     std::size_t itemsize) {
  bool c = true, f = true;
  const Layout* full = nullptr;  // the first operand of full shape
  for (int i = 0; i < count; ++i) {
    const Layout& operand = *operands[i];
    if (operand.shape() != shape) continue;
    c = c && operand.c_contiguous();
    f = f && operand.f_contiguous();
    if (!full) full = &operand;
  }
  if (c || !full) return Layout(shape, itemsize, Order::c);
  return f ? Layout(shape, itemsize, Order::f) : full->k_order(itemsize);
}

bool is_aligned(const Layout& layout, const void* address, std::size_t part) {
  auto bits = reinterpret_cast<std::uintptr_t>(address);
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (layout.shape()[axis] > 1) bits |= std::uintptr_t(layout.strides()[axis]);
  return bits % part == 0;
}

bool needs_index64(Index reach) {
  return reach > std::numeric_limits<std::int32_t>::max() - most_in_block;
}

namespace {

// Set the axes of a loop over layouts of one shape: a single axis if all are contiguous in one
// order.
void merge(LoopPlan& plan, const Layout* const* layouts) {
  const int count = plan.axes.arrays;
  const Layout& first = *layouts[0];
  const auto all = [=](bool (Layout::*is_so)() const) {
    return std::all_of(layouts, layouts + count, [=](auto* one) { return (one->*is_so)(); });
  };
  if (all(&Layout::c_contiguous) || all(&Layout::f_contiguous)) {
    plan.contiguous = true;
    plan.axes.ndim = 1;
    plan.axes.shape[0] = first.size();
    plan.index64 = needs_index64(first.size());
    return;
  }
  Index steps[max_arrays], reach = first.size();
  for (int axis : first.strides().by_falling_size()) {
    for (int i = 0; i < count; ++i) steps[i] = layouts[i]->strides()[axis];
    plan.axes.append(first.shape()[axis], steps);
  }
  plan.axes.complete();
  for (int i = 0; i < count; ++i) {
    const auto [low, high] = layouts[i]->extent();
    reach = std::max({reach, high, -low});
  }
  plan.index64 = needs_index64(reach);
}

// Return whether the array repeats its elements along the last axis.
bool repeats(const LoopPlan& plan, int array) {
  return !plan.contiguous && plan.axes.strides[array][plan.axes.last()] == 0;
}

// Return whether an array can be accessed in vectors of `width` elements along the axis, or by one
// element per vector.
bool fits(const LoopPlan& plan, int array, const void* address, Index itemsize, Index width,
          int along) {
  auto bits = reinterpret_cast<std::uintptr_t>(address);
  if (plan.contiguous) return bits % std::uintptr_t(width * itemsize) == 0;
  const Index* const strides = plan.axes.strides[array];
  const bool repeats = strides[along] == 0;
  if (width > 1 && !repeats && strides[along] != itemsize) return false;
  for (int axis = 0; axis < plan.axes.ndim; ++axis)
    if (axis != along || width == 1) bits |= std::uintptr_t(strides[axis]);
  return bits % std::uintptr_t(repeats ? itemsize : width * itemsize) == 0;
}

// Return the axis along which an operand's neighbors are, if it is not the last axis; -1: none.
int neighbours_axis(const LoopArrays& axes, int array, Index itemsize) {
  const Index* const strides = axes.strides[array];
  int axis = axes.last();
  if (strides[axis] == 0 || strides[axis] == itemsize) return -1;
  do --axis;
  while (axis >= 0 && strides[axis] != itemsize);
  return axis;
}

// Bytes of shared memory that a tile may use per square.
constexpr std::size_t room_in_tile = (46 << 10) / (loop_tile * (loop_tile + 1));

// Return the operands to transpose in tiles, all along the same axis, which becomes the second to
// last.
unsigned transpose(LoopArrays& axes, int results, const Layout* const* layouts) {
  constexpr Index worth_it = loop_tile / 2;
  const int last = axes.last();
  const auto itemsize = [=](int array) { return layouts[array]->itemsize(); };
  for (int i = 0; i < results; ++i)
    if (axes.strides[i][last] != Index(itemsize(i))) return 0;
  unsigned transposed = 0;
  int axis = -1;
  std::size_t nbytes = 0;
  for (int i = results; i < axes.arrays; ++i) {
    const int own = neighbours_axis(axes, i, Index(itemsize(i)));
    if (own < 0 || (axis >= 0 && own != axis) || nbytes + itemsize(i) > room_in_tile) continue;
    axis = own;
    nbytes += itemsize(i);
    transposed |= 1u << (i - results);
  }
  if (!transposed || axes.shape[axis] < worth_it || axes.shape[last] < worth_it) return 0;
  axes.move(axis, last - 1);
  return transposed;
}

// Return the width of the squares of a tile. Wider squares make longer accesses, but squares of
// more than 16 bytes are slower again, and small arrays need all their tiles to occupy the device.
// 0: single elements, which need not be aligned for an access.
int width_of_squares(const LoopPlan& plan, const Layout* const* layouts, void* const* addresses,
                     int results) {
  constexpr std::size_t most_in_square = 16;
  constexpr Index enough_tiles = 256;
  const LoopArrays& axes = plan.axes;
  const int last = axes.last();
  const auto itemsize = [=](int array) { return layouts[array]->itemsize(); };
  std::size_t widest = 1, nbytes = 0;
  for (int i = 0; i < axes.arrays; ++i) {
    widest = std::max(widest, itemsize(i));
    if (plan.transposes(i - results)) nbytes += itemsize(i);
  }
  const auto all_fit = [&](Index width) {
    const Index side = loop_tile * width;
    const std::size_t square = std::size_t(width * width);
    if (widest * square > most_in_square || nbytes * square > room_in_tile ||
        axes.shape[last] % width || axes.shape[last - 1] % width ||
        axes.size() / (side * side) < enough_tiles)
      return false;
    for (int i = 0; i < axes.arrays; ++i) {
      const int along = plan.transposes(i - results) ? last - 1 : last;
      if (!fits(plan, i, addresses[i], Index(itemsize(i)), width, along)) return false;
    }
    return true;
  };
  for (const int width : {4, 2})
    if (all_fit(width)) return width;
  return 0;
}

// Return the operands that have one element for a whole vector along the last axis.
unsigned broadcast_operands(const LoopPlan& plan, int results) {
  unsigned found = 0;
  for (int i = results; plan.vector_width > 1 && i < plan.axes.arrays; ++i)
    if (repeats(plan, i)) found |= 1u << (i - results);
  return found;
}

}  // namespace

LoopPlan plan_loop(const Layout* const* layouts, void* const* addresses, int count, int results) {
  LoopPlan plan;
  plan.axes.arrays = count;
  merge(plan, layouts);
  if (capabilities.loop_bytes == 0) {
    plan.vectors = capabilities.loop_vectors;
    return plan;
  }
  constexpr int in_tile = loop_tile * loop_tile / int(capabilities.loop_threads);
  if (!plan.contiguous &&
      enough_vectors(in_tile, plan.axes.size(), capabilities.most_grid_threads) == in_tile &&
      (plan.transposed = transpose(plan.axes, results, layouts))) {
    plan.vector_width = width_of_squares(plan, layouts, addresses, results);
    plan.vectors = in_tile;
    plan.broadcast = broadcast_operands(plan, results);
    return plan;
  }
  std::size_t widest = 1;
  for (int i = 0; i < count; ++i) widest = std::max(widest, layouts[i]->itemsize());
  const auto all_fit = [&](int width) {
    if (!plan.contiguous && plan.axes.shape[plan.axes.last()] % width != 0) return false;
    for (int i = 0; i < count; ++i)
      if (!fits(plan, i, addresses[i], Index(layouts[i]->itemsize()), width, plan.axes.last()) ||
          (width > 1 && i < results && repeats(plan, i)))
        return false;
    return true;
  };
  // The width is the number of the widest array's elements in `capabilities.loop_bytes`, if all
  // arrays are aligned for it.
  int& width = plan.vector_width;
  width = std::max(1, int(std::min<std::size_t>(8, capabilities.loop_bytes / widest)));
  while (width > 0 && !all_fit(width)) width /= 2;
  const std::size_t nbytes = std::size_t(plan.in_vector()) * widest;
  plan.vectors =
      std::clamp(int(capabilities.loop_vectors * capabilities.loop_bytes / nbytes),
                 capabilities.loop_vectors, (nbytes < 4 ? 4 : 2) * capabilities.loop_vectors);
  plan.vectors = enough_vectors(plan.vectors, plan.axes.size() / plan.in_vector(),
                                capabilities.most_grid_threads);
  plan.broadcast = broadcast_operands(plan, results);
  return plan;
}

Status launch_loop(const Kernel& kernel, const LoopPlan& plan, void** arguments,
                   cudaStream_t stream) {
  const LoopArrays& axes = plan.axes;
  const Index size = axes.size(), in_vector = plan.transposed ? 1 : plan.in_vector();
  // The kernel's parameter: struct { index size, shape[ndim], strides[arrays][ndim]; }. Contiguous
  // loops have only the size. The last axis is counted in vectors.
  constexpr int most = 1 + LoopArrays::most * (1 + max_arrays);
  Index index64[most];
  std::int32_t index32[most];
  int count = 0;
  index64[count++] = plan.contiguous ? size : size / in_vector;
  if (!plan.contiguous) {
    const auto put = [&](const Index* numbers) {
      for (int axis = 0; axis < axes.ndim; ++axis) index64[count++] = numbers[axis];
    };
    put(axes.shape);
    index64[count - 1] /= in_vector;
    for (int i = 0; i < axes.arrays; ++i) {
      put(axes.strides[i]);
      index64[count - 1] *= in_vector;
    }
  }
  for (int i = 0; !plan.index64 && i < count; ++i) index32[i] = std::int32_t(index64[i]);
  arguments[0] = plan.index64 ? static_cast<void*>(index64) : index32;
  const Index in_block = Index(capabilities.loop_threads) * in_vector * plan.vectors;
  Index blocks = divided_up(size, in_block);
  if (plan.transposed) {
    const Index side = loop_tile * plan.in_vector();
    const auto tiles = [&](int axis) { return divided_up(axes.shape[axis], side); };
    blocks = tiles(axes.last()) * tiles(axes.last() - 1);
    for (int axis = 0; axis < axes.last() - 1; ++axis) blocks *= axes.shape[axis];
  }
  return kernel.launch_blocks(blocks, capabilities.loop_threads, arguments, stream);
}

}  // namespace PyGPU
