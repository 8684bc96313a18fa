// CUDA arrays (cudaArray_t) of the host machine, as copies and textures use them.
#pragma once

#include <memory>
#include <optional>

#include "PyGPU/vendor/host_arrays.h"
#include "machine.h"

// A CUDA array. Elements are stored row by row, then slice by slice, without gaps.
struct PyGPUHostArray {
  int device;
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as requested: 0 for an axis that the array does not have
  unsigned flags;
  std::size_t element_bytes, charge;
  std::shared_ptr<char> data;

  std::size_t rows() const { return extent.height ? extent.height : 1; }
  std::size_t slices() const { return extent.depth ? extent.depth : 1; }  // or layers
  std::size_t row_bytes() const { return extent.width * element_bytes; }
};

namespace PyGPU::host {

// Return the bytes of an element, or 0 for a format that textures do not support.
std::size_t bytes_of(const cudaChannelFormatDesc& format);

// Return the array behind `handle`, or nothing if `handle` is invalid. The returned copy keeps the
// elements alive.
std::optional<PyGPUHostArray> array_of(cudaArray_t handle);

// Release the arrays of a device, for cudaDeviceReset. Call with the machine's lock held.
void release_arrays(int device);
// Return the number of live arrays. Call with the machine's lock held.
std::size_t live_arrays();

}  // namespace PyGPU::host
