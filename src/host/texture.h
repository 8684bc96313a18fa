// Texture and surface objects, as kernels read them.
//
// A handle is the object's address. The machine never frees the memory of an object, so that the
// use of a destroyed one is detected.
#pragma once

#include <cstddef>

#include "PyGPU/vendor/host_arrays.h"

struct PyGPUHostTexture {
  const char* data;  // null after destruction
  // Strides: from one row to the next, from one slice or layer to the next.
  std::size_t row_bytes, slice_bytes;
  long long lengths[3];  // elements, at least 1; the last may count layers
  int channels, channel_bytes;
  cudaChannelFormatKind kind;
  cudaTextureAddressMode modes[3];
  bool linear, normalized, as_float;  // as_float: integers are read as fractions, 0 to 1 or -1 to 1
  bool srgb;                          // these fractions are sRGB-encoded
  float border[4];
};

struct PyGPUHostSurface {
  char* data;  // null after destruction
  std::size_t row_bytes, slice_bytes;
  long long lengths[3];  // bytes in a row, rows, slices or layers
};

namespace PyGPU::host {

// Release the textures and surfaces of a device, for cudaDeviceReset. Call with the machine's lock
// held.
void release_textures(int device);
// Return the number of live textures and surfaces. Call with the machine's lock held.
std::size_t live_textures();

}  // namespace PyGPU::host
