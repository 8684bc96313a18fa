// Copies between a dense array and host memory of any layout, cut into pieces. A piece is
// contiguous in the dense array, so that one copy transfers it. On the host its elements are
// gathered or scattered.
#pragma once

#include <cstddef>

#include "copy_plan.h"

namespace PyGPU {

class Pieces {
 public:
  // `dense` must be dense, have the shape of `host` and not be empty. No piece exceeds
  // `most_bytes`.
  Pieces(const Layout& dense, const Layout& host, std::size_t most_bytes);

  std::size_t count() const { return outer_count_ * cuts_; }
  // Return whether the host memory has the dense array's order. Pieces are then contiguous there,
  // too.
  bool contiguous() const { return copy_.axes.ndim == 0; }
  // Offsets from the first elements to the lowest addresses.
  Index dense_offset() const { return copy_.dst_offset; }
  Index host_offset() const { return copy_.src_offset; }

  struct Piece {
    std::size_t at, nbytes;  // in the dense array, from its lowest address
    Index host_at;           // from the element at host_offset()
    Index length;            // along the axis that is cut
  };
  Piece piece(std::size_t number) const;

  // Copy a piece between `chunk`, which holds only this piece, and the host memory, whose element
  // at host_offset() is `host`.
  void gather(const Piece& piece, char* chunk, const char* host) const;
  void scatter(const Piece& piece, const char* chunk, char* host) const;

 private:
  // Two axes that `copy_plane` traverses; each_plane loops over the others.
  struct Plane {
    Index rows = 1, columns;
    Index dense_row = 0, dense_column, host_row = 0, host_column;
  };
  template <class CopyPlane>
  void each_plane(const Piece& piece, CopyPlane copy_plane) const;
  Index length(int axis) const {  // the last axis is that of the contiguous bytes
    return axis < copy_.axes.ndim ? copy_.axes.shape[axis] : Index(copy_.width);
  }

  CopyAxes copy_;  // dst: the dense array; src: the host memory
  // Axis that is cut. A piece has one index of the axes before it, and all indices of those after.
  int cut_ = 0;
  Index step_ = 1;  // length of pieces along that axis, except the last
  std::size_t cuts_ = 1, outer_count_ = 1;
  std::size_t inner_bytes_ = 1;  // of one index of that axis
};

}  // namespace PyGPU
