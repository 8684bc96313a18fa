// What the handles of texture and surface objects refer to.
//
// A handle is the address of one of these. The machine never frees their memory, so that the use of
// a destroyed one is detected.
#pragma once

#include <cstddef>

#include "PyGPU/vendor/host_arrays.h"

struct PyGPUHostTexture {
  const char* data;                    // null: destroyed
  std::size_t row_bytes, slice_bytes;  // from one row, one slice or layer, to the next
  long long lengths[3];                // elements, at least 1; the last may count layers
  int channels, channel_bytes;
  cudaChannelFormatKind kind;
  cudaTextureAddressMode modes[3];
  bool linear, normalized, as_float;  // as_float: integers stand for 0 ... 1 or -1 ... 1
  bool srgb;                          // such fractions are sRGB's
  float border[4];
};

struct PyGPUHostSurface {
  char* data;  // null: destroyed
  std::size_t row_bytes, slice_bytes;
  long long lengths[3];  // bytes of a row, rows, slices or layers
};
