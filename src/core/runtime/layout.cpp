// Arithmetic of layouts. See layout.h.
#include "PyGPU/runtime/layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "PyGPU/runtime/loop_axes.h"

namespace PyGPU {
namespace {

[[noreturn]] void invalid(const std::string& text) { throw std::invalid_argument(text); }

Index product(const Axes& shape) {
  Index size = 1;
  for (Index length : shape) size *= length;
  return size;
}

// Return the first index and the length of a slice of an axis, by Python's rules.
std::pair<Index, Index> resolve(const IndexItem& item, Index length) {
  const bool is_reversed = item.step < 0;
  auto clip = [&](Index value, Index low, Index high) {
    if (value < 0) value = value < -length ? low : value + length;
    return std::clamp(value, low, high);
  };
  const Index low = is_reversed ? -1 : 0, high = is_reversed ? length - 1 : length;
  const Index start = item.has_start ? clip(item.start, low, high) : (is_reversed ? high : low);
  const Index stop = item.has_stop ? clip(item.stop, low, high) : (is_reversed ? low : high);
  const Index distance = is_reversed ? start - stop : stop - start;
  if (distance <= 0) return {start, 0};
  const std::uint64_t step = is_reversed ? 0 - std::uint64_t(item.step) : std::uint64_t(item.step);
  return {start, Index((std::uint64_t(distance) - 1) / step) + 1};
}

}  // namespace

Layout::Layout(Axes shape, std::size_t itemsize, Order order) : shape_(shape), itemsize_(itemsize) {
  count();
  const auto axis_at = [&](int i) { return order == Order::c ? ndim() - 1 - i : i; };
  strides_ = strides_in_order(shape_, Index(itemsize_), axis_at);
}

Layout::Layout(Axes shape, Axes strides, std::size_t itemsize)
    : shape_(shape), strides_(strides), itemsize_(itemsize) {
  count();
  if (strides_.size() != shape_.size())
    invalid("strides " + strides_.text() + " do not fit shape " + shape_.text() +
            ": expected one number per axis");
  // -2^63 has no absolute value. Only an axis that reaches no second element can have this stride.
  for (int axis = 0; axis < ndim(); ++axis)
    strides_[axis] = std::max(strides_[axis], -std::numeric_limits<Index>::max());
}

void Layout::count() {
  // Skip lengths of 0: a product of 0 would hide that other lengths are too large.
  Index bytes = std::max<Index>(Index(itemsize_), 1);
  for (Index length : shape_) {
    if (length < 0) invalid("shape " + shape_.text() + ": negative lengths are not allowed");
    if (length > 0 && __builtin_mul_overflow(bytes, length, &bytes))
      invalid("shape " + shape_.text() + " with items of " + std::to_string(itemsize_) +
              " bytes exceeds 2**63 - 1 bytes");
  }
  size_ = product(shape_);
}

bool Layout::contiguous(Order order) const {
  if (size_ == 0) return true;
  Index step = Index(itemsize_);
  for (int i = 0; i < ndim(); ++i) {
    const int axis = order == Order::c ? ndim() - 1 - i : i;
    if (shape_[axis] != 1 && strides_[axis] != step) return false;
    step *= shape_[axis];
  }
  return true;
}

std::pair<Index, Index> Layout::extent() const {
  if (size_ == 0) return {0, 0};
  Index first = 0, last = 0;
  for (int axis = 0; axis < ndim(); ++axis) {
    Index& end = strides_[axis] < 0 ? first : last;
    Index reach = 0;
    if (__builtin_mul_overflow(shape_[axis] - 1, strides_[axis], &reach) ||
        __builtin_add_overflow(end, reach, &end))
      invalid("strides " + strides_.text() + ": the array would span more than 2**61 bytes");
  }
  // No memory has 2^61 bytes. With this limit, the difference of both offsets cannot overflow.
  constexpr Index limit = std::numeric_limits<Index>::max() / 4;
  if (first < -limit || last > limit - Index(itemsize_))
    invalid("strides " + strides_.text() + ": the array would span more than 2**61 bytes");
  return {first, last + Index(itemsize_)};
}

View Layout::index(const std::vector<IndexItem>& items) const {
  using Kind = IndexItem::Kind;
  int used = 0, ellipses = 0;
  for (const IndexItem& item : items) {
    used += item.kind == Kind::integer || item.kind == Kind::slice;
    ellipses += item.kind == Kind::ellipsis;
  }
  if (ellipses > 1) throw std::out_of_range("an index can have only one ellipsis ('...')");
  if (used > ndim())
    throw std::out_of_range("too many indices: the array has " + std::to_string(ndim()) +
                            " axes, but " + std::to_string(used) + " were indexed");

  const int axes = ndim() + int(items.size()) - used - ellipses;
  if (axes > Axes::capacity)
    throw std::out_of_range("too many axes: the result would have " + std::to_string(axes) +
                            ", an array has at most " + std::to_string(Axes::capacity));

  Axes shape, strides;
  std::uint64_t offset = 0;  // wraps around: strides of an empty array are unbounded
  int axis = 0;
  auto keep = [&](int count) {
    for (; count > 0; --count, ++axis) {
      shape.push_back(shape_[axis]);
      strides.push_back(strides_[axis]);
    }
  };
  for (const IndexItem& item : items) {
    switch (item.kind) {
      case Kind::integer: {
        const Index length = shape_[axis];
        const Index at = item.start < 0 ? item.start + length : item.start;
        if (at < 0 || at >= length)
          throw std::out_of_range("index " + std::to_string(item.start) +
                                  " is out of bounds for axis " + std::to_string(axis) +
                                  " of length " + std::to_string(length));
        offset += std::uint64_t(at) * std::uint64_t(strides_[axis++]);
        break;
      }
      case Kind::slice: {
        if (item.step == 0) invalid("slice step cannot be zero");
        const auto [start, length] = resolve(item, shape_[axis]);
        const auto stride = std::uint64_t(strides_[axis]);
        if (length > 0) offset += std::uint64_t(start) * stride;
        shape.push_back(length);
        // A slice of at most one element never uses its step, which may be huge.
        strides.push_back(Index(length > 1 ? stride * std::uint64_t(item.step) : stride));
        ++axis;
        break;
      }
      case Kind::ellipsis: keep(ndim() - used); break;
      case Kind::new_axis:
        shape.push_back(1);
        strides.push_back(0);
        break;
    }
  }
  keep(ndim() - axis);
  Layout layout(shape, strides, itemsize_);
  return {layout, layout.size() == 0 ? 0 : Index(offset)};
}

std::optional<Layout> Layout::reshape_view(Axes shape, Order order) const {
  Index known = 1;
  int free_axis = -1;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == -1) {
      if (free_axis >= 0) invalid("can only specify one unknown dimension: " + shape.text());
      free_axis = axis;
    } else if (shape[axis] < 0 || __builtin_mul_overflow(known, shape[axis], &known)) {
      invalid("shape " + shape.text() + ": a length is negative or the size exceeds 2**63 - 1");
    }
  }
  const std::string mismatch =
      "cannot reshape array of size " + std::to_string(size_) + " into shape " + shape.text();
  if (free_axis >= 0) {
    if (known == 0 || size_ % known != 0) invalid(mismatch);
    shape[free_axis] = size_ / known;
  } else if (known != size_) {
    invalid(mismatch);
  }
  if (shape == shape_) return *this;
  if (contiguous(order)) return Layout(shape, itemsize_, order);
  // Find the shortest runs of old and of new axes that have the same number of elements, as NumPy
  // does. The old axes of a run must be mergeable into one axis. In column-major order, axes are
  // visited from the last to the first.
  Axes old_shape, old_strides;  // in the order of visits, without axes of length 1
  const auto at = [&](int i, int count) { return order == Order::c ? i : count - 1 - i; };
  for (int i = 0; i < ndim(); ++i)
    if (const int axis = at(i, ndim()); shape_[axis] != 1) {
      old_shape.push_back(shape_[axis]);
      old_strides.push_back(strides_[axis]);
    }
  const int count = shape.size();
  Axes strides = shape;
  int old_first = 0, first = 0;
  while (first < count && old_first < old_shape.size()) {
    int old_last = old_first, last = first;
    Index old_size = old_shape[old_first], size = shape[at(first, count)];
    while (size != old_size)
      if (size < old_size)
        size *= shape[at(++last, count)];
      else
        old_size *= old_shape[++old_last];
    for (int i = old_first; i < old_last; ++i)
      if (old_strides[i] != old_shape[i + 1] * old_strides[i + 1]) return std::nullopt;
    Index stride = old_strides[old_last];
    for (int i = last; i >= first; --i) {
      strides[at(i, count)] = stride;
      stride *= shape[at(i, count)];
    }
    first = last + 1;
    old_first = old_last + 1;
  }
  for (; first < count; ++first)  // axes of length 1
    strides[at(first, count)] = first ? strides[at(first - 1, count)] : Index(itemsize_);
  return Layout(shape, strides, itemsize_);
}

Layout Layout::reshape(const Axes& shape, Order order) const {
  if (const std::optional<Layout> view = reshape_view(shape, order)) return *view;
  throw std::runtime_error("a view of shape " + shape.text() +
                           " does not exist: the elements must be copied");
}

Layout Layout::view(std::size_t itemsize) const {
  if (itemsize == itemsize_) return *this;
  if (itemsize == 0 || itemsize_ == 0)
    invalid("cannot view items of " + std::to_string(itemsize_) + " bytes as items of " +
            std::to_string(itemsize) + " bytes: expected at least 1 byte");
  if (ndim() == 0) invalid("a 0-d array can be viewed only as a type of the same size");
  const auto is_contiguous = [&](int axis) {
    return strides_[axis] == Index(itemsize_) || shape_[axis] <= 1 || size_ == 0;
  };
  const auto bytes = [&](int axis) { return shape_[axis] * Index(itemsize_); };
  // Use the last axis if possible, as NumPy does. Otherwise use the axis of smallest stride: an
  // array in another order is contiguous along this axis.
  int axis = ndim() - 1;
  if (!c_contiguous() && (!is_contiguous(axis) || bytes(axis) % Index(itemsize) != 0))
    for (int i = ndim() - 1; i >= 0; --i)
      if (shape_[i] > 1 && (shape_[axis] <= 1 || std::abs(strides_[i]) < std::abs(strides_[axis])))
        axis = i;
  if (!is_contiguous(axis))
    invalid("a view with another item size needs a contiguous axis; take a copy() first");
  if (bytes(axis) % Index(itemsize) != 0)
    invalid("axis " + std::to_string(axis) + " of " + std::to_string(bytes(axis)) +
            " bytes cannot be viewed as items of " + std::to_string(itemsize) + " bytes");
  Axes shape = shape_, strides = strides_;
  shape[axis] = bytes(axis) / Index(itemsize);
  strides[axis] = Index(itemsize);
  return Layout(shape, strides, itemsize);
}

Layout Layout::transpose(const Axes& axes) const {
  if (axes.size() != ndim())
    invalid("axes don't match array: got " + axes.text() + " for " + std::to_string(ndim()) +
            " axes");
  Axes shape, strides;
  std::array<bool, Axes::capacity> seen{};
  for (Index axis : axes) {
    const Index at = axis < 0 ? axis + ndim() : axis;
    if (at < 0 || at >= ndim())
      invalid("axis " + std::to_string(axis) + " is out of bounds for an array of " +
              std::to_string(ndim()) + " axes");
    if (std::exchange(seen[std::size_t(at)], true))
      invalid("repeated axis in transpose: " + axes.text());
    shape.push_back(shape_[int(at)]);
    strides.push_back(strides_[int(at)]);
  }
  return Layout(shape, strides, itemsize_);
}

Layout Layout::transpose() const {
  Axes axes;
  for (int axis = ndim() - 1; axis >= 0; --axis) axes.push_back(axis);
  return transpose(axes);
}

Layout Layout::k_order(std::size_t itemsize) const {
  if (c_contiguous()) return Layout(shape_, itemsize, Order::c);
  if (f_contiguous()) return Layout(shape_, itemsize, Order::f);
  const std::vector<int> axes = strides_.by_falling_size();
  const auto axis_at = [&](int i) { return axes.rbegin()[i]; };
  return Layout(shape_, strides_in_order(shape_, Index(itemsize), axis_at), itemsize);
}

View Layout::dense_layout() const {
  const std::vector<int> axes = strides_.by_falling_size();
  Axes strides =
      strides_in_order(shape_, Index(itemsize_), [&](int i) { return axes.rbegin()[i]; });
  Index offset = 0;
  for (int axis = 0; axis < ndim(); ++axis) {
    if (strides_[axis] >= 0) continue;
    offset += strides[axis] * (shape_[axis] - 1);
    strides[axis] = -strides[axis];
  }
  return {Layout(shape_, strides, itemsize_), size_ ? offset : 0};
}

bool Layout::dense() const {
  return size_ == 0 || contiguous() || same_strides(dense_layout().layout);
}

bool Layout::same_strides(const Layout& other) const {
  for (int axis = 0; axis < ndim(); ++axis)
    if (shape_[axis] != 1 && strides_[axis] != other.strides_[axis]) return false;
  return true;
}

View Layout::canonical() const {
  if (size_ == 0) return {Layout({0}, itemsize_), 0};
  LoopAxes<1> merged(1);
  Index offset = 0;
  for (int axis : strides_.by_falling_size()) {
    const Index stride = std::abs(strides_[axis]);
    if (strides_[axis] < 0) offset -= stride * (shape_[axis] - 1);
    merged.append(shape_[axis], &stride);
  }
  Axes shape, strides;
  for (int axis = 0; axis < merged.ndim; ++axis) {
    shape.push_back(merged.shape[axis]);
    strides.push_back(merged.strides[0][axis]);
  }
  return {Layout(shape, strides, itemsize_), offset};
}

}  // namespace PyGPU
