// Pitched copies between two layouts. See copy_plan.h.
#include "PyGPU/copy_plan.h"

#include <stdexcept>

namespace PyGPU {

std::size_t CopyPlan::calls() const {
  std::size_t count = 1;
  for (Index length : loop_shape) count *= std::size_t(length);
  return count;
}

CopyPlan plan_copy(const Layout& dst, const Layout& src) {
  if (dst.shape() != src.shape())
    throw std::invalid_argument("cannot copy shape " + src.shape().text() + " to shape " +
                                dst.shape().text());
  // Axes from the outermost of dst to its innermost, all going up in dst, neighbours merged where
  // both layouts allow.
  CopyPlan plan;
  Axes shape, to, from;
  for (int axis : dst.strides().by_falling_size()) {
    const Index length = dst.shape()[axis];
    if (length == 1) continue;
    Index d = dst.strides()[axis], s = src.strides()[axis];
    if (d < 0) {
      plan.dst_offset += d * (length - 1);
      plan.src_offset += s * (length - 1);
      d = -d, s = -s;
    }
    const int last = shape.size() - 1;
    if (last >= 0 && to[last] == d * length && from[last] == s * length) {
      shape[last] *= length;
      to[last] = d;
      from[last] = s;
    } else {
      shape.push_back(length);
      to.push_back(d);
      from.push_back(s);
    }
  }
  int axes = shape.size();
  plan.width = dst.itemsize();
  if (axes > 0 && to[axes - 1] == Index(plan.width) && from[axes - 1] == Index(plan.width)) {
    plan.width *= std::size_t(shape[--axes]);
  }
  // The longest remaining axis that pitched copies can take becomes the rows.
  int rows = -1;
  for (int axis = 0; axis < axes; ++axis) {
    const bool pitched = to[axis] >= Index(plan.width) && from[axis] >= Index(plan.width);
    if (pitched && (rows < 0 || shape[axis] > shape[rows])) rows = axis;
  }
  plan.dst_pitch = plan.src_pitch = Index(plan.width);
  for (int axis = 0; axis < axes; ++axis) {
    if (axis == rows) {
      plan.rows = std::size_t(shape[axis]);
      plan.dst_pitch = to[axis];
      plan.src_pitch = from[axis];
    } else {
      plan.loop_shape.push_back(shape[axis]);
      plan.loop_dst.push_back(to[axis]);
      plan.loop_src.push_back(from[axis]);
    }
  }
  return plan;
}

}  // namespace PyGPU
