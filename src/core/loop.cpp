// Loops of elementwise kernels. See loop.h.
#include "PyGPU/loop.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace PyGPU {
namespace {

// The most elements that a block takes: indices of 32 bits must reach so far beyond the end.
constexpr Index most_in_block = Index(loop_threads) * 8 * (2 * loop_vectors);

bool needs_wide(Index reach) {
  return reach > std::numeric_limits<std::int32_t>::max() - most_in_block;
}

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

Layout stretched(const Layout& layout, const Axes& shape) {
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
  const Layout* full = nullptr;  // the first of full shape decides
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

Loop Loop::over(const Layout* const* layouts, int count) {
  Loop loop;
  loop.arrays = count;
  const Layout& first = *layouts[0];
  const bool c = std::all_of(layouts, layouts + count, [](auto* l) { return l->c_contiguous(); });
  if (c || std::all_of(layouts, layouts + count, [](auto* l) { return l->f_contiguous(); })) {
    loop.linear = true;
    loop.shape.push_back(first.size());
    loop.wide = needs_wide(first.size());
    return loop;
  }
  for (int axis : first.strides().by_falling_size()) {
    const Index length = first.shape()[axis];
    if (length == 1) continue;
    const int last = loop.shape.size() - 1;
    bool merges = last >= 0;
    for (int i = 0; merges && i < count; ++i)
      merges = loop.strides[i][last] == layouts[i]->strides()[axis] * length;
    if (merges) {
      loop.shape[last] *= length;
      for (int i = 0; i < count; ++i) loop.strides[i][last] = layouts[i]->strides()[axis];
    } else {
      loop.shape.push_back(length);
      for (int i = 0; i < count; ++i) loop.strides[i].push_back(layouts[i]->strides()[axis]);
    }
  }
  if (loop.shape.empty()) {
    loop.shape.push_back(1);
    for (int i = 0; i < count; ++i) loop.strides[i].push_back(0);
  }
  Index reach = loop.size();
  for (int i = 0; i < count; ++i) {
    const auto [low, high] = layouts[i]->extent();
    reach = std::max({reach, high, -low});
  }
  loop.wide = needs_wide(reach);
  return loop;
}

Index Loop::size() const {
  Index size = 1;
  for (Index length : shape) size *= length;
  return size;
}

void Loop::move_next_to_last(int axis) {
  for (const int end = shape.size() - 2; axis < end; ++axis) {
    std::swap(shape[axis], shape[axis + 1]);
    for (int i = 0; i < arrays; ++i) std::swap(strides[i][axis], strides[i][axis + 1]);
  }
}

namespace {

// Does the array repeat its elements along the last axis?
bool repeats(const Loop& loop, int array) {
  return !loop.linear && loop.strides[array][loop.shape.size() - 1] == 0;
}

// Can an array be gone through in packs of `width` elements, or by one element for each pack?
bool fits(const Loop& loop, int array, const void* address, Index itemsize, Index width) {
  auto bits = reinterpret_cast<std::uintptr_t>(address);
  if (loop.linear) return bits % std::uintptr_t(width * itemsize) == 0;
  const Axes& strides = loop.strides[array];
  const int last = strides.size() - 1;
  if (width > 1 && !repeats(loop, array) && strides[last] != itemsize) return false;
  for (int axis = 0; axis < last; ++axis) bits |= std::uintptr_t(strides[axis]);
  if (width == 1) bits |= std::uintptr_t(strides[last]);
  return bits % std::uintptr_t(repeats(loop, array) ? itemsize : width * itemsize) == 0;
}

// The axis along which an operand's neighbours lie, if not along the last; -1: none.
int turned_axis(const Loop& loop, int array, Index itemsize) {
  const Axes& strides = loop.strides[array];
  int axis = strides.size() - 1;
  if (strides[axis] == 0 || strides[axis] == itemsize) return -1;
  do --axis;
  while (axis >= 0 && strides[axis] != itemsize);
  return axis;
}

// Which operands should be turned in tiles, along the same axis; that one comes next to the last.
unsigned turn(Loop& loop, int results, const std::size_t* itemsizes) {
  constexpr Index worth_it = loop_tile / 2;
  constexpr std::size_t room = (46 << 10) / (loop_tile * (loop_tile + 1));  // in shared memory
  const int last = loop.shape.size() - 1;
  for (int i = 0; i < results; ++i)
    if (loop.strides[i][last] != Index(itemsizes[i])) return 0;
  unsigned turned = 0;
  int axis = -1;
  std::size_t nbytes = 0;
  for (int i = results; i < loop.arrays; ++i) {
    const int own = turned_axis(loop, i, Index(itemsizes[i]));
    if (own < 0 || (axis >= 0 && own != axis) || nbytes + itemsizes[i] > room) continue;
    axis = own;
    nbytes += itemsizes[i];
    turned |= 1u << (i - results);
  }
  if (!turned || loop.shape[axis] < worth_it || loop.shape[last] < worth_it) return 0;
  loop.move_next_to_last(axis);
  return turned;
}

}  // namespace

Deal deal_for(Loop& loop, int results, void* const* addresses, const std::size_t* itemsizes) {
  if (loop_bytes == 0) return {1, loop_vectors};
  if (!loop.linear)
    if (const unsigned turned = turn(loop, results, itemsizes))
      return {0, loop_tile * loop_tile / int(loop_threads), 0, turned};
  const std::size_t widest = *std::max_element(itemsizes, itemsizes + loop.arrays);
  const auto all_fit = [&](int width) {
    if (!loop.linear && loop.shape[loop.shape.size() - 1] % width != 0) return false;
    for (int i = 0; i < loop.arrays; ++i)
      if (!fits(loop, i, addresses[i], Index(itemsizes[i]), width) ||
          (width > 1 && i < results && repeats(loop, i)))
        return false;
    return true;
  };
  Deal deal;
  deal.width = std::max(1, int(std::min<std::size_t>(8, loop_bytes / widest)));
  while (deal.width > 0 && !all_fit(deal.width)) deal.width /= 2;
  const std::size_t pack = std::size_t(deal.in_pack()) * widest;
  deal.vectors = std::clamp(int(loop_vectors * loop_bytes / pack), loop_vectors, 2 * loop_vectors);
  for (int i = results; deal.width > 1 && i < loop.arrays; ++i)
    if (repeats(loop, i)) deal.repeated |= 1u << (i - results);
  return deal;
}

Status launch_elementwise(const Kernel& kernel, const Loop& loop, Deal deal, void** arguments,
                          cudaStream_t stream) {
  const Index size = loop.size(), in_pack = deal.in_pack();
  // struct { index size, shape[ndim], strides[arrays][ndim]; } of which linear loops have the size.
  Index wide[1 + Axes::capacity * (1 + max_arrays)];
  std::int32_t narrow[1 + Axes::capacity * (1 + max_arrays)];
  int count = 0;
  wide[count++] = size;
  if (!loop.linear) {  // in packs
    wide[0] /= in_pack;
    for (Index length : loop.shape) wide[count++] = length;
    wide[count - 1] /= in_pack;
    for (int i = 0; i < loop.arrays; ++i) {
      for (Index stride : loop.strides[i]) wide[count++] = stride;
      wide[count - 1] *= in_pack;
    }
  }
  for (int i = 0; !loop.wide && i < count; ++i) narrow[i] = std::int32_t(wide[i]);
  arguments[0] = loop.wide ? static_cast<void*>(wide) : narrow;
  const Index in_block = Index(loop_threads) * in_pack * deal.vectors;
  Index blocks = (size + in_block - 1) / in_block;
  if (deal.turned) {
    blocks = 1;
    const int ndim = loop.shape.size();
    for (int axis = 0; axis < ndim; ++axis)
      blocks *= axis < ndim - 2 ? loop.shape[axis] : (loop.shape[axis] + loop_tile - 1) / loop_tile;
  }
  LaunchShape shape;
  shape.block = dim3(loop_threads, 1, 1);
  shape.grid = dim3(unsigned(std::min<Index>(blocks, 0x7fffffff)), 1, 1);
  const cudaError_t error = kernel.launch(shape, arguments, stream);
  return error ? Status{error, kernel.why_refused(shape)} : Status{};
}

}  // namespace PyGPU
