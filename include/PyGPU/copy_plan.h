// How to copy between two layouts of the same shape by the runtime's pitched copies.
#pragma once

#include <cstddef>

#include "layout.h"
#include "loop_axes.h"

namespace PyGPU {

// The axes of a copy, from the outermost of dst to its innermost, all going up in dst. What is
// contiguous on both sides is no axis, but the `width` in bytes of what an index of the axes means.
struct CopyAxes {
  CopyAxes(const Layout& dst, const Layout& src);

  LoopAxes<2> axes{2};  // strides of dst, of src
  Index dst_offset = 0, src_offset = 0;
  std::size_t width;
};

// Each pitched copy moves `rows` rows of `width` contiguous bytes; from one row to the next it is
// `dst_pitch` and `src_pitch` bytes. The remaining axes are looped over.
struct CopyPlan {
  Axes loop_shape, loop_dst, loop_src;
  Index dst_offset = 0, src_offset = 0;
  std::size_t width = 0, rows = 1;
  Index dst_pitch = 0, src_pitch = 0;

  std::size_t calls() const;  // pitched copies needed
};
CopyPlan plan_copy(const Layout& dst, const Layout& src);

}  // namespace PyGPU
