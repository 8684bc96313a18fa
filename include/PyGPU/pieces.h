// A copy between a dense array and host memory of any layout, cut into pieces. A piece is
// contiguous in the dense array, so that one copy moves it to the device or from there; on the host
// its elements are gathered from, or scattered to, where they lie.
#pragma once

#include <cstddef>

#include "copy_plan.h"

namespace PyGPU {

class Pieces {
 public:
  // `dense` has no gaps, the shape of `host`, and elements. No piece has more than `most_bytes`.
  Pieces(const Layout& dense, const Layout& host, std::size_t most_bytes);

  std::size_t count() const { return outer_count_ * cuts_; }
  // Does the host's memory look like the dense array's? A piece is then contiguous there, too.
  bool contiguous() const { return copy_.axes.ndim == 0; }
  // From the first elements to the lowest addresses.
  Index dense_offset() const { return copy_.dst_offset; }
  Index host_offset() const { return copy_.src_offset; }

  struct Piece {
    std::size_t at, nbytes;  // in the dense array, from its lowest address
    Index host_at;           // from the element at host_offset()
    Index length;            // along the axis that is cut
  };
  Piece piece(std::size_t number) const;

  // Between `chunk`, which holds the piece alone, and the host's element at host_offset().
  void gather(const Piece& piece, char* chunk, const char* host) const;
  void scatter(const Piece& piece, const char* chunk, char* host) const;

 private:
  // The other elements of a piece, once the two axes of each plane are gone through by
  // `copy_plane`.
  struct Plane {
    Index rows = 1, columns;
    Index dense_row = 0, dense_column, host_row = 0, host_column;
  };
  template <class CopyPlane>
  void each_plane(const Piece& piece, CopyPlane copy_plane) const;
  Index length(int axis) const {  // the last axis is that of the bytes side by side
    return axis < copy_.axes.ndim ? copy_.axes.shape[axis] : Index(copy_.width);
  }

  CopyAxes copy_;   // of the dense array and of the host's
  int cut_ = 0;     // this axis is cut; those before are fixed in a piece, those after are whole
  Index step_ = 1;  // the length of pieces along it, but for the last
  std::size_t cuts_ = 1, outer_count_ = 1;
  std::size_t inner_bytes_ = 1;  // of one index of the axis
};

}  // namespace PyGPU
