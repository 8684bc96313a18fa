// How to copy between two layouts of the same shape by the runtime's pitched copies.
#pragma once

#include <cstddef>

#include "layout.h"

namespace PyGPU {

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
