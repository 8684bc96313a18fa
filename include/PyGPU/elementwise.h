// Elementwise kernels: how a loop over several arrays is told to a kernel, and its launch. The text
// of the kernels is Python's (PyGPU/_kernels.py); both sides agree on the parameters below.
#pragma once

#include <cstddef>
#include <vector>

#include "array.h"
#include "kernel.h"

namespace PyGPU {

// The shape that NumPy's broadcasting gives. Throws ShapeMismatch.
class ShapeMismatch : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};
Axes broadcast(const Axes& a, const Axes& b);

// A layout stretched to a shape: axes of length one are repeated by a stride of zero.
Layout stretched(const Layout& layout, const Axes& shape);

// The layout of a result: packed, its axes in the order of the operands' (NumPy's order "K").
Layout result_layout(const Axes& shape, const std::vector<const Layout*>& operands,
                     std::size_t itemsize);

// A loop over arrays of one shape, neighbouring axes merged, slowest first.
struct Loop {
  Axes shape;
  std::vector<Axes> strides;  // bytes, one for each array
  bool linear = false;        // one axis, every array packed: elements are counted, not addressed
  bool wide = false;          // an offset needs 64 bits

  static Loop over(const std::vector<Layout>& layouts);
  Index size() const;
};

// Elements that a thread of a linear kernel takes at once: as many as fit into 16 bytes of the
// widest, where all arrays are aligned for it.
int vector_width(const std::vector<const void*>& addresses,
                 const std::vector<std::size_t>& itemsizes);

// Launch over `loop`. Parameters: the size or the loop's shape and strides, then `arguments`, which
// point to an address or to a scalar's bytes each.
void launch_elementwise(const Kernel& kernel, const Loop& loop, int width,
                        const std::vector<void*>& arguments, cudaStream_t stream);

}  // namespace PyGPU
