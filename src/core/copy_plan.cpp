// Pitched copies between two layouts. See copy_plan.h.
#include "PyGPU/copy_plan.h"

#include <stdexcept>

#include "PyGPU/loop_axes.h"

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
  // Axes from the outermost of dst to its innermost, all going up in dst.
  CopyPlan plan;
  LoopAxes<2> merged(2);
  for (int axis : dst.strides().by_falling_size()) {
    const Index length = dst.shape()[axis];
    Index steps[] = {dst.strides()[axis], src.strides()[axis]};
    if (steps[0] < 0 && length != 1) {
      plan.dst_offset += steps[0] * (length - 1);
      plan.src_offset += steps[1] * (length - 1);
      for (Index& step : steps) step = -step;
    }
    merged.append(length, steps);
  }
  const Index *const shape = merged.shape, *const to = merged.strides[0],
                     *const from = merged.strides[1];
  int axes = merged.ndim;
  plan.width = dst.itemsize();
  if (axes > 0 && to[axes - 1] == Index(plan.width) && from[axes - 1] == Index(plan.width))
    plan.width *= std::size_t(shape[--axes]);
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
