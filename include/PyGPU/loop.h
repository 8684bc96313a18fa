// Elementwise kernels: how a loop over several arrays is told to a kernel, and its launch. The text
// of the kernels is Python's (PyGPU/_kernels/elementwise.py); both sides agree on the parameters
// below.
#pragma once

#include <cstddef>

#include "array.h"
#include "kernel.h"

namespace PyGPU {

constexpr int max_operands = 4, max_results = 2;
constexpr int max_arrays = max_operands + max_results;
constexpr int loop_tile = 32;

// The shape that NumPy's broadcasting gives. Throws ShapeMismatch.
class ShapeMismatch : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};
Axes broadcast(const Axes& a, const Axes& b);

// A layout stretched to a shape: axes of length one are repeated by a stride of zero.
Layout stretched(const Layout& layout, const Axes& shape);

// The layout of a result: packed, its axes in the order of the operands' (NumPy's order "K").
Layout result_layout(const Axes& shape, const Layout* const* operands, int count,
                     std::size_t itemsize);

// A loop over arrays of one shape, neighbouring axes merged, slowest first.
struct Loop {
  Axes shape;
  Axes strides[max_arrays];  // bytes; not set where the loop is linear
  int arrays = 0;
  bool linear = false;  // one axis, every array packed: elements are counted, not addressed
  bool wide = false;    // an offset needs 64 bits

  static Loop over(const Layout* const* layouts, int count);
  Index size() const;
  void move_next_to_last(int axis);
};

// How the elements are dealt out: a thread takes `vectors` packs, a whole block apart. A pack is
// `width` elements that neighbour on the last axis and lie aligned for one access; where that is
// 0, it is a single element that is not.
struct Deal {
  int width = 1, vectors = 1;
  unsigned repeated = 0;  // bits: operands that have one element for a whole pack
  // Bits: operands whose neighbours lie along the last axis but one. A block does a tile of these
  // two axes, `loop_tile` wide and high, and turns it on its way; `vectors` rows are a thread's.
  unsigned turned = 0;
  int in_pack() const { return width ? width : 1; }
};
// As many elements as fit into 16 bytes of the widest array, where all are aligned for it. The
// results come first among the arrays. For tiles the loop's axes change places.
Deal deal_for(Loop& loop, int results, void* const* addresses, const std::size_t* itemsizes);

// Launch over `loop`. arguments[0] is set here: the size, or the loop's shape and strides. The
// others point to an address or to a scalar's bytes each.
Status launch_elementwise(const Kernel& kernel, const Loop& loop, Deal deal, void** arguments,
                          cudaStream_t stream);

}  // namespace PyGPU
