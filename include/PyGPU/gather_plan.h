// Plans of gathers and scatters: items copied between strided arrays, to or from the places that
// index arrays and masks name. Items are opaque: their bytes are an axis of their own, the fastest,
// so that a thread copies the largest word that lengths, strides and addresses allow. The kernels'
// text is Python's (PyGPU/_kernels/text/gather.py).
#pragma once

#include <vector>

#include "loop_axes.h"

namespace PyGPU {

// Where items are read or written: an address, and bytes from one to the next along each axis.
struct StridedPointer {
  char* address = nullptr;
  Axes strides;
};

// An index array, and the axes that its values count through (in C order).
struct IndexArray {
  const void* address = nullptr;
  int type = 0;           // of its values: a place in index_types
  Axes strides;           // for each axis of the loop
  Axes lengths, steps;    // of the axes counted through, bytes
  bool scatters = false;  // the target's places, else the source's
  Index offset = 0;       // added to each value

  // The same; axes that lie behind each other like those of a C-ordered array are one.
  IndexArray merged() const;
  Index count() const;
};
constexpr const char* index_types[] = {"int32", "uint32", "int64"};

struct Gather {
  Axes shape;  // of the loop: each of its points is an item
  std::size_t itemsize = 0;
  StridedPointer target, source;
  std::vector<IndexArray> indices;
  StridedPointer
      mask;  // of bools, where an address is set: where they are false, nothing is copied
};

struct GatherPlan {
  int word = 1;  // bytes, 1 to 16
  int ndim = 1;
  bool index64 = false;
  Index size = 0;                           // words
  std::vector<Index> loop;                  // size, shape, strides of target, source and mask
  std::vector<std::vector<Index>> indices;  // offset, count, strides, lengths, steps of both
  std::vector<int> counted;                 // axes that each index array counts through
};
GatherPlan plan_gather(const Gather& gather);
// For tests: what is counted in 32 bits; 0: as is best.
void pretend_index32(Index most);

}  // namespace PyGPU
