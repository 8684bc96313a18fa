// Plans of reductions: the axes that are folded, and the distribution of elements over blocks.
// Python generates the kernels (PyGPU/_kernels/text/reduction.py and axis_reduction.py).
#pragma once

#include <cstddef>

#include "PyGPU/runtime/device.h"
#include "PyGPU/runtime/layout.h"
#include "PyGPU/runtime/loop_axes.h"

namespace PyGPU {

// Properties of a device that plans depend on.
struct DeviceProperties {
  int threads = int(capabilities.reduction.threads);             // maximum per block
  int multiprocessors = 1, resident_threads = 1, registers = 1;  // the last two per multiprocessor
  Index waves = 8;             // number of blocks, in multiples of those that run at once
  Index index32 = 0x7ff00000;  // largest count for 32-bit indices, with a margin for one step
};
// Return the properties of a device. Throws DeviceError.
DeviceProperties properties_of(int device);
// For tests: plan for these properties on every device; null restores each device's own.
void override_properties(const DeviceProperties* properties);

constexpr int axis_threads = 128;  // maximum threads of a block that folds axes

// Return the number of blocks that run at once, for a number of registers per thread.
Index blocks_at_once(const DeviceProperties& properties, dim3 block, int registers);

// Return the largest block whose threads each have a value of this size in shared memory.
unsigned reduction_block(std::size_t itemsize);

// Launches over contiguous operands of one order, in vectors of at most 16 bytes. On a GPU, the
// blocks traverse adjacent parts of the memory at the same time. There are several times as many
// blocks as run at once, so that a slow multiprocessor does not delay the others. It is a whole
// multiple, so that the last blocks do not run alone.
class LinearReduction {
 public:
  // `itemsize` is the size of the accumulator; `registers` are per thread; `unroll` is the number
  // of vectors that a thread loads at once.
  LinearReduction(const DeviceProperties& properties, std::size_t itemsize, int registers,
                  int unroll);

  struct Launch {
    Index blocks;
    Index chunk;  // vectors that each block processes at once
  };
  Launch over(Index vectors) const;
  unsigned threads() const { return threads_; }
  Index resident_blocks() const { return resident_; }  // number of blocks that run at once

 private:
  unsigned threads_;
  Index resident_, most_, tile_, few_;
};

// Reduction over some axes of an array with any strides.
struct AxisReduction {
  LoopAxes<1> outputs{1}, folded{1};
  Index offset = 0;   // bytes to the first element in the loops' order
  Axes result_steps;  // elements between results along each kept axis; results are contiguous in
                      // the order of the kept axes' strides
  // Neighboring threads fold neighboring outputs instead of elements of one output.
  bool by_output = false;
  int vector_width = 1;  // elements loaded at once along the last folded axis; if by_output, along
                         // the last kept axis, one for each output

  bool by_runs = false;  // a thread folds many outputs, element by element; fastest on a CPU core

  AxisReduction(const Layout& layout, const bool* is_folded, const void* address,
                const DeviceProperties& properties);
  bool index64(const DeviceProperties& properties) const;
  LoopAxes<1> kept_vectors() const { return in_vectors(outputs, by_output ? vector_width : 1); }
  LoopAxes<1> folded_vectors() const { return in_vectors(folded, by_output ? 1 : vector_width); }

  // Shape of a launch. For few outputs, or very long ones, rows of blocks share the elements of an
  // output. So no thread adds more than a few thousand numbers in sequence.
  struct Launch {
    dim3 grid, block;
    Index share;      // vectors of an output per row of blocks
    int outputs = 1;  // outputs that a thread folds at once if each has few vectors; 0: runs
  };
  Launch launch(const DeviceProperties& properties) const;

 private:
  static LoopAxes<1> in_vectors(LoopAxes<1> axes, int width);
  Launch in_runs(const DeviceProperties& properties) const;
  Index itemsize_;
};

// Shape of the kernel that folds `rows` partial results of each of `outputs`.
struct LastLaunch {
  dim3 grid, block;
};
LastLaunch fold_parts(const DeviceProperties& properties, Index rows, Index outputs);

}  // namespace PyGPU
