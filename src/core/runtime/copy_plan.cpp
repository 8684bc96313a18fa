// Plans of pitched copies. See copy_plan.h.
#include "PyGPU/runtime/copy_plan.h"

#include <stdexcept>

namespace PyGPU {

std::size_t CopyPlan::calls() const {
  std::size_t count = 1;
  for (Index length : loop_shape) count *= std::size_t(length);
  return count;
}

CopyAxes::CopyAxes(const Layout& dst, const Layout& src) : width(dst.itemsize()) {
  if (dst.shape() != src.shape())
    throw std::invalid_argument("cannot copy shape " + src.shape().text() + " to shape " +
                                dst.shape().text());
  for (int axis : dst.strides().by_falling_size()) {
    const Index length = dst.shape()[axis];
    Index steps[] = {dst.strides()[axis], src.strides()[axis]};
    if (steps[0] < 0 && length != 1) {
      dst_offset += steps[0] * (length - 1);
      src_offset += steps[1] * (length - 1);
      for (Index& step : steps) step = -step;
    }
    axes.append(length, steps);
  }
  const int last = axes.last();
  if (last >= 0 && axes.strides[0][last] == Index(width) && axes.strides[1][last] == Index(width))
    width *= std::size_t(axes.shape[--axes.ndim]);
}

CopyPlan plan_copy(const Layout& dst, const Layout& src) {
  const CopyAxes copy(dst, src);
  CopyPlan plan;
  plan.dst_offset = copy.dst_offset;
  plan.src_offset = copy.src_offset;
  plan.width = copy.width;
  const Index *const shape = copy.axes.shape, *const to = copy.axes.strides[0],
                     *const from = copy.axes.strides[1];
  const int axes = copy.axes.ndim;
  // The rows are the longest axis that pitched copies support.
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
