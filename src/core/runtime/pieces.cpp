// Pieces of a copy between a dense array and host memory. See pieces.h.
#include "PyGPU/runtime/pieces.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace PyGPU {
namespace {

constexpr Index page = 4096;

// Copy elements of one row. A constant width is faster where they are contiguous in `to`.
template <std::size_t fixed_width>
void copy_row(char* to, Index to_step, const char* from, Index from_step, Index count,
              std::size_t width) {
  constexpr auto dense_step = Index(fixed_width);
  if (fixed_width && to_step == dense_step) {
    for (Index i = 0; i < count; ++i)
      std::memcpy(to + i * dense_step, from + i * from_step, fixed_width);
  } else {
    for (Index i = 0; i < count; ++i)
      std::memcpy(to + i * to_step, from + i * from_step, fixed_width ? fixed_width : width);
  }
}

// Copy rows and columns of elements in tiles that fit into the cache. If a column's elements are
// contiguous in `from`, each cache line is used completely while it is cached.
template <std::size_t fixed_width>
void copy_plane(char* to, Index to_row, Index to_column, const char* from, Index from_row,
                Index from_column, Index rows, Index columns, std::size_t width) {
  constexpr Index tile = 32;
  const Index tile_columns = rows > 1 ? tile : columns;
  for (Index top = 0; top < rows; top += tile)
    for (Index left = 0; left < columns; left += tile_columns)
      for (Index row = top; row < std::min(rows, top + tile); ++row)
        copy_row<fixed_width>(to + row * to_row + left * to_column, to_column,
                              from + row * from_row + left * from_column, from_column,
                              std::min(columns - left, tile_columns), width);
}

auto plane_copier(std::size_t width) {
  switch (width) {
    case 1: return &copy_plane<1>;
    case 2: return &copy_plane<2>;
    case 4: return &copy_plane<4>;
    case 8: return &copy_plane<8>;
    case 16: return &copy_plane<16>;
    default: return &copy_plane<0>;
  }
}

}  // namespace

Pieces::Pieces(const Layout& dense, const Layout& host, std::size_t most_bytes)
    : copy_(dense, host), cut_(copy_.axes.ndim) {
  while (cut_ > 0 && inner_bytes_ * std::size_t(length(cut_)) <= most_bytes)
    inner_bytes_ *= std::size_t(length(cut_--));
  const Index whole = length(cut_);
  const auto most = std::max<Index>(Index(most_bytes / inner_bytes_), 1);
  const auto pieces = [&] { return divided_up(whole, step_); };
  step_ = std::min(whole, most);
  step_ = divided_up(whole, pieces());  // pieces of about equal length
  if (cut_ == copy_.axes.ndim && step_ > page)
    step_ = std::min(most, divided_up(step_, page) * page);
  cuts_ = std::size_t(pieces());
  for (int axis = 0; axis < cut_; ++axis) outer_count_ *= std::size_t(length(axis));
}

Pieces::Piece Pieces::piece(std::size_t number) const {
  const Index start = Index(number % cuts_) * step_;
  std::size_t outer = number / cuts_;
  Piece piece;
  piece.length = std::min(step_, length(cut_) - start);
  piece.nbytes = std::size_t(piece.length) * inner_bytes_;
  piece.at = (outer * std::size_t(length(cut_)) + std::size_t(start)) * inner_bytes_;
  const Index* const steps = copy_.axes.strides[1];
  piece.host_at = start * (cut_ < copy_.axes.ndim ? steps[cut_] : 1);
  for (int axis = cut_ - 1; axis >= 0; --axis) {
    const auto lengths = std::size_t(length(axis));
    piece.host_at += Index(outer % lengths) * steps[axis];
    outer /= lengths;
  }
  return piece;
}

template <class CopyPlane>
void Pieces::each_plane(const Piece& piece, CopyPlane copy) const {
  const Index *const dense = copy_.axes.strides[0], *const host = copy_.axes.strides[1];
  const int last = copy_.axes.last();
  const auto size = [&](int axis) { return axis == cut_ ? piece.length : length(axis); };
  // Columns follow the innermost axis of the dense array; rows follow the host's innermost axis, if
  // that is a different one.
  int rows = last;
  for (int axis = last - 1; axis >= cut_; --axis)
    if (std::abs(host[axis]) < std::abs(host[rows])) rows = axis;
  Plane plane{1, size(last), 0, dense[last], 0, host[last]};
  if (rows != last) {
    plane.rows = size(rows);
    plane.dense_row = dense[rows];
    plane.host_row = host[rows];
  }
  Axes at;
  for (int axis = 0; axis < last; ++axis) at.push_back(0);
  Index dense_at = 0, host_at = piece.host_at;
  for (;;) {
    copy(plane, dense_at, host_at);
    int axis = last - 1;  // count up like an odometer
    for (; axis >= cut_; --axis) {
      if (axis == rows) continue;
      dense_at += dense[axis];
      host_at += host[axis];
      if (++at[axis] < size(axis)) break;
      dense_at -= dense[axis] * size(axis);
      host_at -= host[axis] * size(axis);
      at[axis] = 0;
    }
    if (axis < cut_) return;
  }
}

void Pieces::gather(const Piece& piece, char* chunk, const char* host) const {
  if (cut_ == copy_.axes.ndim) {
    std::memcpy(chunk, host + piece.host_at, piece.nbytes);
    return;
  }
  const auto copy = plane_copier(copy_.width);
  each_plane(piece, [&](const Plane& p, Index dense_at, Index host_at) {
    copy(chunk + dense_at, p.dense_row, p.dense_column, host + host_at, p.host_row, p.host_column,
         p.rows, p.columns, copy_.width);
  });
}

void Pieces::scatter(const Piece& piece, const char* chunk, char* host) const {
  if (cut_ == copy_.axes.ndim) {
    std::memcpy(host + piece.host_at, chunk, piece.nbytes);
    return;
  }
  const auto copy = plane_copier(copy_.width);
  each_plane(piece, [&](const Plane& p, Index dense_at, Index host_at) {
    char* const to = host + host_at;
    const char* const from = chunk + dense_at;
    if (p.rows == 1)
      copy(to, 0, p.host_column, from, 0, p.dense_column, 1, p.columns, copy_.width);
    else  // write adjacent elements one after another
      copy(to, p.host_column, p.host_row, from, p.dense_column, p.dense_row, p.columns, p.rows,
           copy_.width);
  });
}

}  // namespace PyGPU
