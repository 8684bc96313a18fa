// What the tests of the core compare with: an array's elements one by one, without any cleverness.
#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "PyGPU/runtime/layout.h"

namespace naive {

using PyGPU::Axes;
using PyGPU::Index;
using PyGPU::Layout;

// Every index of a shape, the last axis fastest.
inline std::vector<Axes> indices(const Axes& shape) {
  std::vector<Axes> all{Axes{}};
  for (Index length : shape) {
    std::vector<Axes> longer;
    for (const Axes& head : all)
      for (Index i = 0; i < length; ++i) {
        longer.push_back(head);
        longer.back().push_back(i);
      }
    all = longer;
  }
  return all;
}

// Where each element begins, in that order.
inline std::vector<Index> offsets(const Layout& layout, Index first = 0) {
  std::vector<Index> found;
  for (const Axes& index : indices(layout.shape())) {
    Index offset = first;
    for (int axis = 0; axis < layout.ndim(); ++axis) offset += index[axis] * layout.strides()[axis];
    found.push_back(offset);
  }
  return found;
}

// All layouts of up to three axes with these lengths and strides (in items).
inline std::vector<Layout> layouts(int ndim, std::vector<Index> lengths, std::vector<Index> strides,
                                   Index itemsize) {
  std::vector<Axes> shapes{Axes{}}, steps{Axes{}};
  const auto extend = [](std::vector<Axes>& lists, const std::vector<Index>& values, Index scale) {
    std::vector<Axes> longer;
    for (const Axes& list : lists)
      for (Index value : values) {
        longer.push_back(list);
        longer.back().push_back(value * scale);
      }
    lists = longer;
  };
  for (int axis = 0; axis < ndim; ++axis) {
    extend(shapes, lengths, 1);
    extend(steps, strides, itemsize);
  }
  std::vector<Layout> all;
  for (const Axes& shape : shapes)
    for (const Axes& step : steps) all.emplace_back(shape, step, std::size_t(itemsize));
  return all;
}

}  // namespace naive
