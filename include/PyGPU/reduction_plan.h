// Plans of reductions: which axes are folded, how elements are shared out among blocks. The
// kernels' text is Python's (PyGPU/_kernels/text/reduction.py and axis_reduction.py).
#pragma once

#include <cstddef>

#include "device.h"
#include "loop_axes.h"

namespace PyGPU {

// What plans go by.
struct DeviceFigures {
  int threads = int(reduction_tuning::threads);                  // the most of a block
  int multiprocessors = 1, resident_threads = 1, registers = 1;  // the last two of a multiprocessor
  Index waves = 8;             // so many times as many blocks as run at once
  Index index32 = 0x7ff00000;  // what 32 bits count, with room for a step
};
// Throws DeviceError.
DeviceFigures figures_of(int device);
// For tests: every device is planned for as if it had these, or its own again.
void pretend_figures(const DeviceFigures* figures);

constexpr int axis_threads = 128;  // the most of a block that folds axes

// The blocks that run at once, with so many registers for a thread.
Index blocks_at_once(const DeviceFigures& figures, dim3 block, int registers);

// The most threads of a block that have a place each in shared memory for a value of that size.
unsigned reduction_block(std::size_t itemsize);

// Launches over operands that are contiguous alike, in vectors of at most 16 bytes. On a GPU the
// blocks go through the memory side by side. There are several times as many as run at once, so
// that a slow multiprocessor does not keep the others waiting; a whole number of times, so that the
// last ones do not run alone.
class LinearReduction {
 public:
  // `itemsize`: of what is accumulated; `registers` of a thread; `unroll`: vectors that a thread
  // has on their way at once.
  LinearReduction(const DeviceFigures& figures, std::size_t itemsize, int registers, int unroll);

  struct Launch {
    Index blocks;
    Index chunk;  // vectors that each block takes at once
  };
  Launch over(Index vectors) const;
  unsigned threads() const { return threads_; }
  Index resident_blocks() const { return resident_; }  // that run at once

 private:
  unsigned threads_;
  Index resident_, most_, tile_, few_;
};

// A reduction over some axes of an array of any strides.
struct AxisReduction {
  LoopAxes<1> outputs{1}, folded{1};
  Index offset = 0;   // bytes to the first element in the order of the loops
  Axes result_steps;  // elements from one result to the next, for each axis that is kept; results
                      // are contiguous in the order of the kept axes' strides
  bool by_output = false;  // neighbouring threads have neighbouring outputs, not elements of one
  int vector_width = 1;    // elements that are loaded at once along the last folded axis or, by
                           // output, along the last one kept: each is another output's

  bool by_runs = false;  // a thread folds many outputs, element by element: as a core likes it

  AxisReduction(const Layout& layout, const bool* is_folded, const void* address,
                const DeviceFigures& figures);
  bool index64(const DeviceFigures& figures) const;
  LoopAxes<1> kept_vectors() const { return in_vectors(outputs, by_output ? vector_width : 1); }
  LoopAxes<1> folded_vectors() const { return in_vectors(folded, by_output ? 1 : vector_width); }

  // Few outputs have their elements shared among rows of blocks, and so have the very long: no
  // thread adds more than some thousand numbers one to another.
  struct Launch {
    dim3 grid, block;
    Index share;      // vectors of an output for each row of blocks
    int outputs = 1;  // that a thread folds at once, where few vectors make one; 0: runs
  };
  Launch launch(const DeviceFigures& figures) const;

 private:
  static LoopAxes<1> in_vectors(LoopAxes<1> axes, int width);
  Launch in_runs(const DeviceFigures& figures) const;
  Index itemsize_;
};

// The kernel that folds `rows` parts of each of `outputs`.
struct LastLaunch {
  dim3 grid, block;
};
LastLaunch fold_parts(const DeviceFigures& figures, Index rows, Index outputs);

}  // namespace PyGPU
