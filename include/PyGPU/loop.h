// Plans of elementwise kernels: the loop over operands and results, how its elements are shared out
// among threads, and its launch. The kernels' text is Python's
// (PyGPU/_kernels/text/elementwise.py); both sides agree on the parameters below.
#pragma once

#include <cstddef>

#include "array.h"
#include "kernel.h"
#include "loop_axes.h"

namespace PyGPU {

constexpr int max_operands = 8, max_results = 4;
constexpr int max_arrays = max_operands + max_results;
constexpr int loop_tile = 32;

// The shape that NumPy's broadcasting gives. Throws ShapeMismatch.
class ShapeMismatch : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};
Axes broadcast(const Axes& a, const Axes& b);

bool stretches_to(const Axes& own, const Axes& shape);

// A layout broadcast to a shape: axes of length one are repeated by a stride of zero.
Layout broadcast_to(const Layout& layout, const Axes& shape);

// The layout of a result: contiguous, its axes in the order of the operands' (NumPy's order "K").
Layout result_layout(const Axes& shape, const Layout* const* operands, int count,
                     std::size_t itemsize);

// Do all elements lie at multiples of what their dtype needs? `part` is the size of an element, or
// of a complex number's part. A GPU cannot read others.
bool is_aligned(const Layout& layout, const void* address, std::size_t part);

// Must an offset or a count of this size, and a block more, have 64 bits?
bool needs_index64(Index reach);

// A vector is `vector_width` elements that neighbour on the last axis and lie aligned for one
// access; a thread takes `vectors` of them, a whole block apart.
struct LoopPlan {
  LoopAxes<max_arrays> axes{0};  // results first; strides are not set where all are contiguous
  bool contiguous = false;       // in one order: elements are counted, not addressed
  bool index64 = false;
  int vector_width = 1;  // 0: single elements that are not aligned for an access
  int vectors = 1;
  unsigned broadcast = 0;  // bits: operands that have one element for a whole vector
  // Bits: operands whose neighbours lie along the last axis but one. A block does a tile of the
  // last two axes, and transposes these on their way. A tile is `loop_tile` squares wide and high,
  // a square is a vector wide, and has as many rows; `vectors` rows of squares are a thread's.
  unsigned transposed = 0;

  bool transposes(int operand) const { return operand >= 0 && (transposed >> operand & 1); }
  int in_vector() const { return vector_width ? vector_width : 1; }
};
// So many vectors a thread, at least `vectors`, that a grid of at most so many threads takes all.
constexpr int enough_vectors(int vectors, Index all, Index most_threads) {
  while (all / vectors >= most_threads) vectors *= 2;
  return vectors;
}
// The arrays have one shape; the first `results` are written.
LoopPlan plan_loop(const Layout* const* layouts, void* const* addresses, int count, int results);

// arguments[0] is set here: the size, or the loop's shape and strides. The others point to an
// address or to a scalar's bytes each.
Status launch_loop(const Kernel& kernel, const LoopPlan& plan, void** arguments,
                   cudaStream_t stream);

}  // namespace PyGPU
