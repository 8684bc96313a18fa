// Arrays of the host machine, for the files that copy them and read them through textures.
#pragma once

#include <memory>
#include <optional>

#include "PyGPU/vendor/host_arrays.h"
#include "machine.h"

// Elements lie row after row, slice after slice, without gaps.
struct PyGPUHostArray {
  int device;
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as requested: 0 along axes that it does not have
  unsigned flags;
  std::size_t element_bytes, charge;
  std::shared_ptr<char> data;

  std::size_t rows() const { return extent.height ? extent.height : 1; }
  std::size_t slices() const { return extent.depth ? extent.depth : 1; }  // or layers
  std::size_t row_bytes() const { return extent.width * element_bytes; }
};

namespace PyGPU::host {

// Bytes of an element; 0 for a format that textures do not have.
std::size_t bytes_of(const cudaChannelFormatDesc& format);

// The array of a handle, kept alive by the caller's copy; empty if the handle is not an array's.
std::optional<PyGPUHostArray> array_of(cudaArray_t handle);

// cudaDeviceReset: with the machine's lock held.
void forget_arrays(int device);
void forget_textures(int device);

}  // namespace PyGPU::host
