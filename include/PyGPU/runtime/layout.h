// Layout of an array: shape, byte strides, and the arithmetic of views. A pure value without memory
// or device. Semantics are NumPy's unless a function says otherwise. Errors are
// std::invalid_argument (ValueError) and std::out_of_range (IndexError).
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "axes.h"

namespace PyGPU {

enum class Order { c, f };

// One item of an index expression: a[3, 1:5, ..., None].
struct IndexItem {
  enum class Kind { integer, slice, ellipsis, new_axis } kind;
  Index start = 0, stop = 0, step = 1;  // for an integer, start is its value
  bool has_start = false, has_stop = false;
};

class Layout;
struct View;  // a Layout and the offset of its first element

class Layout {
 public:
  Layout() {}                                                        // 0-d, one element of 0 bytes
  Layout(Axes shape, std::size_t itemsize, Order order = Order::c);  // contiguous
  Layout(Axes shape, Axes strides, std::size_t itemsize);

  const Axes& shape() const { return shape_; }
  const Axes& strides() const { return strides_; }
  std::size_t itemsize() const { return itemsize_; }
  int ndim() const { return shape_.size(); }
  Index size() const { return size_; }
  std::size_t nbytes() const { return std::size_t(size_) * itemsize_; }

  // Strides of axes of length 1 are ignored. An array without elements is C and F contiguous.
  bool contiguous(Order order) const;
  bool c_contiguous() const { return contiguous(Order::c); }
  bool f_contiguous() const { return contiguous(Order::f); }
  bool contiguous() const { return c_contiguous() || f_contiguous(); }

  // Return the extent in bytes: the offsets of the lowest element and of the end of the highest
  // element, relative to the first element.
  std::pair<Index, Index> extent() const;

  View index(const std::vector<IndexItem>& items) const;

  // Return the layout of the same elements in another shape. As in NumPy's reshape, `order` is the
  // order in which elements are read and written, and one length may be -1. If the elements must be
  // copied, `reshape_view` returns nothing, and `reshape` throws std::runtime_error.
  std::optional<Layout> reshape_view(Axes shape, Order order) const;
  Layout reshape(const Axes& shape, Order order) const;
  // Reinterpret the bytes as items of another size; the length of the axis of smallest stride
  // changes.
  Layout view(std::size_t itemsize) const;
  Layout transpose(const Axes& axes) const;
  Layout transpose() const;  // all axes reversed

  // Contiguous layout with the axes in the same order in memory and positive strides (NumPy's "K").
  Layout k_order(std::size_t itemsize) const;
  Layout k_order() const { return k_order(itemsize_); }

  // Dense layout that keeps the order and directions of the axes. A layout equal to its
  // dense_layout is dense: one linear copy moves all its elements.
  View dense_layout() const;
  bool dense() const;
  // Return true if each element has the same offset from the first element in both layouts. The
  // layouts must have the same shape.
  bool same_strides(const Layout& other) const;

  // Layout of the same elements with as few axes as possible: positive strides in decreasing order,
  // with adjacent axes merged. A dense array has one axis.
  View canonical() const;

 private:
  void count();

  Axes shape_, strides_;
  std::size_t itemsize_ = 0;
  Index size_ = 1;
};

struct View {
  Layout layout;
  Index offset;  // bytes from the old first element to the new one
};

}  // namespace PyGPU
