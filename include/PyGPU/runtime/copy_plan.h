// Plans of copies between two layouts of one shape by the runtime's pitched copies.
#pragma once

#include <cstddef>

#include "layout.h"
#include "loop_axes.h"

namespace PyGPU {

// Axes of a copy, from the outermost of dst to the innermost, with positive strides in dst. Axes
// that are contiguous on both sides are not listed: they form the `width`, the number of contiguous
// bytes at each index.
struct CopyAxes {
  CopyAxes(const Layout& dst, const Layout& src);

  LoopAxes<2> axes{2};  // strides of dst and of src
  Index dst_offset = 0, src_offset = 0;
  std::size_t width;
};

// Plan of pitched copies: each copies `rows` rows of `width` contiguous bytes, whose starts are
// `dst_pitch` and `src_pitch` bytes apart. The copies loop over the remaining axes.
struct CopyPlan {
  Axes loop_shape, loop_dst, loop_src;
  Index dst_offset = 0, src_offset = 0;
  std::size_t width = 0, rows = 1;
  Index dst_pitch = 0, src_pitch = 0;

  std::size_t calls() const;  // number of pitched copies
};
CopyPlan plan_copy(const Layout& dst, const Layout& src);

}  // namespace PyGPU
