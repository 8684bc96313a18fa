// Plans of elementwise kernels: the loop over operands and results, its distribution over threads,
// and its launch. Python generates the kernels (PyGPU/_kernels/text/elementwise.py); both sides
// agree on the parameters below.
#pragma once

#include <cstddef>

#include "PyGPU/runtime/kernel.h"
#include "PyGPU/runtime/loop_axes.h"
#include "array.h"

namespace PyGPU {

constexpr int max_operands = 8, max_results = 4;
constexpr int max_arrays = max_operands + max_results;
constexpr int loop_tile = 32;
constexpr int max_vector_width = 16;  // elements of one access

// Shape by NumPy's broadcasting rules. Throws ShapeMismatch.
class ShapeMismatch : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};
Axes broadcast(const Axes& a, const Axes& b);

bool is_broadcastable_to(const Axes& own, const Axes& shape);

// Layout broadcast to a shape: axes of length 1 repeat their element by a stride of 0.
Layout broadcast_to(const Layout& layout, const Axes& shape);

// Layout of a result: contiguous, with the axes in the operands' order (NumPy's order "K").
Layout result_layout(const Axes& shape, const Layout* const* operands, int count,
                     std::size_t itemsize);

// Return whether all elements are aligned as their dtype requires. `part` is the size of an
// element, or of a complex number's part. A GPU cannot read unaligned elements.
bool is_aligned(const Layout& layout, const void* address, std::size_t part);

// Return whether offsets or counts up to `reach`, plus one block, need 64 bits.
bool needs_index64(Index reach);

// Plan of an elementwise loop. A vector is `vector_width` neighboring elements along the last axis,
// aligned for one access. A thread processes `vectors` vectors, spaced one block apart.
struct LoopPlan {
  LoopAxes<max_arrays> axes{0};  // results first; strides are unset if all arrays are contiguous
  bool contiguous = false;       // all in one order: elements are counted, not addressed
  bool index64 = false;
  int vector_width = 1;  // 0: single elements that are not aligned for an access
  int vectors = 1;
  unsigned broadcast = 0;  // bit per operand: one element for a whole vector
  // Bit per operand whose neighbors are along the second to last axis. A block processes a tile of
  // the last two axes and transposes these operands on the way. A tile is `loop_tile` squares wide
  // and high. A square is one vector wide and as many rows high. A thread processes `vectors` rows
  // of squares.
  unsigned transposed = 0;

  bool transposes(int operand) const { return operand >= 0 && (transposed >> operand & 1); }
  int in_vector() const { return vector_width ? vector_width : 1; }
};
// Return the vectors per thread, at least `vectors`, with which a grid of at most `most_threads`
// threads processes `all` vectors.
constexpr int enough_vectors(int vectors, Index all, Index most_threads) {
  while (all / vectors >= most_threads) vectors *= 2;
  return vectors;
}
// Plan a loop over arrays of one shape; the first `results` arrays are written.
LoopPlan plan_loop(const Layout* const* layouts, void* const* addresses, int count, int results);

// Launch a planned loop. arguments[0] is set here: the size, or the loop's shape and strides. Each
// other argument points to an address or to the bytes of a scalar.
Status launch_loop(const Kernel& kernel, const LoopPlan& plan, void** arguments,
                   cudaStream_t stream);

}  // namespace PyGPU
