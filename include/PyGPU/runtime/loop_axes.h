// Axes of a loop over several arrays at once, slowest first. Adjacent axes that one counter can
// traverse are merged into one. This is the only place where axes are merged.
#pragma once

#include <utility>

#include "axes.h"

namespace PyGPU {

// Byte stride of each array along one axis.
using Steps = const Index*;

template <int capacity>
struct LoopAxes {
  static constexpr int most = Axes::capacity + 1;  // axes of an array, and one inside its items

  int arrays, ndim = 0;
  Index shape[most];
  Index strides[capacity][most];

  explicit LoopAxes(int arrays_) : arrays(arrays_) {}

  // Append the next, faster axis. An axis of length 1 is dropped.
  void append(Index length, Steps steps) {
    if (length == 1) return;
    bool merges = ndim > 0;
    for (int i = 0; merges && i < arrays; ++i) merges = strides[i][ndim - 1] == steps[i] * length;
    if (!merges) {
      shape[ndim] = length;
      for (int i = 0; i < arrays; ++i) strides[i][ndim] = steps[i];
      ++ndim;
    } else {
      shape[ndim - 1] *= length;
      for (int i = 0; i < arrays; ++i) strides[i][ndim - 1] = steps[i];
    }
  }

  // Ensure that there is at least one axis.
  void complete() {
    if (ndim > 0) return;
    shape[0] = 1;
    for (int i = 0; i < arrays; ++i) strides[i][0] = 0;
    ndim = 1;
  }

  Index size() const {
    Index size = 1;
    for (int axis = 0; axis < ndim; ++axis) size *= shape[axis];
    return size;
  }
  int last() const { return ndim - 1; }

  // Move an axis to another position; the axes between shift by one.
  void move(int axis, int to) {
    for (; axis < to; ++axis) swap(axis, axis + 1);
    for (; axis > to; --axis) swap(axis, axis - 1);
  }

 private:
  void swap(int a, int b) {
    std::swap(shape[a], shape[b]);
    for (int i = 0; i < arrays; ++i) std::swap(strides[i][a], strides[i][b]);
  }
};

}  // namespace PyGPU
