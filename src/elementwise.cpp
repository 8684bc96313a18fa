// Loops of elementwise kernels. See elementwise.h.
#include "PyGPU/elementwise.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace PyGPU {
namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::uint64_t items) {
  const std::uint64_t blocks = (items + threads - 1) / threads;
  return unsigned(std::min<std::uint64_t>(std::max<std::uint64_t>(blocks, 1), 0x7fffffff));
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

Layout result_layout(const Axes& shape, const std::vector<const Layout*>& operands,
                     std::size_t itemsize) {
  bool c = true, f = true;
  for (const Layout* operand : operands) {
    if (operand->shape() != shape) continue;
    c = c && operand->c_contiguous();
    f = f && operand->f_contiguous();
  }
  if (c) return Layout(shape, itemsize, Order::c);
  if (f) return Layout(shape, itemsize, Order::f);
  for (const Layout* operand : operands)  // the first of full shape decides
    if (operand->shape() == shape) return operand->packed(itemsize);
  return Layout(shape, itemsize, Order::c);
}

Loop Loop::over(const std::vector<Layout>& layouts) {
  Loop loop;
  const std::size_t count = layouts.size();
  loop.strides.resize(count);
  const Layout& first = layouts.front();
  const auto is_packed = [&](const Layout& l) {
    return (first.c_contiguous() && l.c_contiguous()) ||
           (first.f_contiguous() && l.f_contiguous() && !first.c_contiguous());
  };
  if (std::all_of(layouts.begin(), layouts.end(), is_packed)) {
    loop.linear = true;
    loop.shape.push_back(first.size());
    for (std::size_t i = 0; i < count; ++i) loop.strides[i].push_back(Index(layouts[i].itemsize()));
    loop.wide = first.size() > std::numeric_limits<std::int32_t>::max() - 4096;
    return loop;
  }
  for (int axis : first.strides().by_falling_size()) {
    const Index length = first.shape()[axis];
    if (length == 1) continue;
    const int last = loop.shape.size() - 1;
    bool merges = last >= 0;
    for (std::size_t i = 0; merges && i < count; ++i)
      merges = loop.strides[i][last] == layouts[i].strides()[axis] * length;
    if (merges) {
      loop.shape[last] *= length;
      for (std::size_t i = 0; i < count; ++i) loop.strides[i][last] = layouts[i].strides()[axis];
    } else {
      loop.shape.push_back(length);
      for (std::size_t i = 0; i < count; ++i) loop.strides[i].push_back(layouts[i].strides()[axis]);
    }
  }
  if (loop.shape.empty()) {
    loop.shape.push_back(1);
    for (Axes& strides : loop.strides) strides.push_back(0);
  }
  Index reach = loop.size();
  for (const Layout& layout : layouts) {
    const auto [low, high] = layout.extent();
    reach = std::max({reach, high, -low});
  }
  loop.wide = reach > std::numeric_limits<std::int32_t>::max() - 4096;
  return loop;
}

Index Loop::size() const {
  Index size = 1;
  for (Index length : shape) size *= length;
  return size;
}

int vector_width(const std::vector<const void*>& addresses,
                 const std::vector<std::size_t>& itemsizes) {
  const std::size_t widest = *std::max_element(itemsizes.begin(), itemsizes.end());
  const std::size_t width = std::max<std::size_t>(1, std::min<std::size_t>(8, 16 / widest));
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (reinterpret_cast<std::uintptr_t>(addresses[i]) % (width * itemsizes[i]) != 0) return 1;
  return int(width);
}

void launch_elementwise(const Kernel& kernel, const Loop& loop, int width,
                        const std::vector<void*>& arguments, cudaStream_t stream) {
  std::vector<void*> pointers;
  pointers.reserve(arguments.size() + 1);
  const Index size = loop.size();
  std::int64_t wide_size = size;
  std::int32_t narrow_size = std::int32_t(size);
  std::vector<std::int64_t> wide;
  std::vector<std::int32_t> narrow;
  if (loop.linear) {
    pointers.push_back(loop.wide ? static_cast<void*>(&wide_size) : &narrow_size);
  } else {  // struct { index size, shape[ndim], strides[arrays][ndim]; }
    wide.push_back(size);
    for (Index length : loop.shape) wide.push_back(length);
    for (const Axes& strides : loop.strides)
      for (Index stride : strides) wide.push_back(stride);
    narrow.assign(wide.begin(), wide.end());
    pointers.push_back(loop.wide ? static_cast<void*>(wide.data()) : narrow.data());
  }
  pointers.insert(pointers.end(), arguments.begin(), arguments.end());
  LaunchShape shape;
  shape.block = dim3(threads, 1, 1);
  shape.grid = dim3(blocks_for(std::uint64_t(size + width - 1) / std::uint64_t(width)), 1, 1);
  const cudaError_t error = kernel.launch(shape, pointers.data(), stream);
  if (error) check("cudaLaunchKernel", {error, kernel.why_refused(shape)});
}

}  // namespace PyGPU
