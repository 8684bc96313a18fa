// Short lists of numbers, one per axis: shapes, strides, permutations. A pure value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace PyGPU {

using Index = std::int64_t;

constexpr Index divided_up(Index number, Index by) { return (number + by - 1) / by; }

// Short list of numbers, one per axis, without an allocation. Default constructors are not
// "= default", here and in classes with such a member: that would zero the array.
class Axes {
 public:
  static constexpr int capacity = 32;

  Axes() {}
  Axes(std::initializer_list<Index> values) {
    for (Index value : values) push_back(value);
  }
  Axes(const Axes& other) { *this = other; }
  Axes& operator=(const Axes& other) {
    size_ = other.size_;
    for (int i = 0; i < size_; ++i) values_[i] = other.values_[i];
    return *this;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Index operator[](int i) const { return values_[i]; }
  Index& operator[](int i) { return values_[i]; }
  const Index* begin() const { return values_; }
  const Index* end() const { return values_ + size_; }
  bool operator==(const Axes& other) const;
  bool operator!=(const Axes& other) const { return !(*this == other); }

  void push_back(Index value);
  // Return the positions of the values, by falling absolute value; equal values keep their order.
  std::vector<int> by_falling_size() const;
  std::string text() const;  // "(2, 3)"

 private:
  int size_ = 0;
  Index values_[capacity];
};

// Return the strides of dense axes, of which `axis_at(i)` is the i-th fastest.
template <class AxisAt>
Axes strides_in_order(const Axes& shape, Index itemsize, AxisAt axis_at) {
  Axes strides = shape;
  for (int i = 0; i < shape.size(); ++i) {
    const int axis = axis_at(i);
    strides[axis] = itemsize;
    if (shape[axis] > 1) itemsize *= shape[axis];
  }
  return strides;
}

}  // namespace PyGPU
