// Plans of gathers and scatters: copies of items between strided arrays, at positions that index
// arrays and masks select. Items are opaque: their bytes are one more axis, the fastest, so that a
// thread copies the largest word that lengths, strides and addresses allow. Python generates the
// kernels (PyGPU/_kernels/text/gather.py).
#pragma once

#include <vector>

#include "PyGPU/runtime/layout.h"
#include "PyGPU/runtime/loop_axes.h"

namespace PyGPU {

// Memory from which items are read, or to which they are written: an address, and byte strides.
struct StridedPointer {
  char* address = nullptr;
  Axes strides;
};

// Index array, and the axes that its values index, in C order.
struct IndexArray {
  const void* address = nullptr;
  int type = 0;           // dtype of the values, as an index into index_types
  Axes strides;           // along each axis of the loop
  Axes lengths, steps;    // of the indexed axes; steps in bytes
  bool scatters = false;  // true: indexes the target; false: indexes the source
  Index offset = 0;       // added to each value

  // Return an equal index array whose indexed axes are merged where they are adjacent in C order.
  IndexArray merged() const;
  Index count() const;
};
constexpr const char* index_types[] = {"int32", "uint32", "int64"};

struct Gather {
  Axes shape;  // of the loop; each point is one item
  std::size_t itemsize = 0;
  StridedPointer target, source;
  std::vector<IndexArray> indices;
  StridedPointer mask;  // bools; items at false are not copied. Address null: no mask
};

struct GatherPlan {
  int word = 1;  // bytes per word, 1 to 16
  int ndim = 1;
  bool index64 = false;
  Index size = 0;           // number of words
  std::vector<Index> loop;  // size; shape; strides of target, source and mask
  // Per index array: offset, count, strides, lengths, steps in the target, steps in the source.
  std::vector<std::vector<Index>> indices;
  std::vector<int> counted;  // number of axes that each index array indexes
};
GatherPlan plan_gather(const Gather& gather);
// For tests: set the largest count for 32-bit indices; 0 restores the default.
void override_index32(Index most);

}  // namespace PyGPU
