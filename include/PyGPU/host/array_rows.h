// Copies of rows to and from arrays in a stream's order, and between arrays, on the `host` target.
#pragma once

#include "../vendor/host_arrays.h"

// Set `nbytes` to the size of an array's elements: boxes in arrays are counted in elements.
inline cudaError_t PyGPU_element_size(cudaArray_t array, std::size_t* nbytes) {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 0;
  if (const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, array)) return error;
  *nbytes = std::size_t(format.x + format.y + format.z + format.w) / 8;
  return cudaSuccess;
}

// Describe a box of `height` rows of `width` bytes, without its memory.
inline cudaError_t PyGPU_box_of_rows(std::size_t element, std::size_t x, std::size_t width,
                                     std::size_t height, cudaMemcpyKind kind,
                                     cudaMemcpy3DParms* box) {
  if (element == 0 || x % element || width % element) return cudaErrorInvalidValue;
  *box = cudaMemcpy3DParms();
  box->extent = {width / element, height, 1};
  box->kind = kind;
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, std::size_t x, std::size_t y,
                                            const void* src, std::size_t pitch, std::size_t width,
                                            std::size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream = nullptr) {
  std::size_t element = 0;
  cudaMemcpy3DParms box;
  if (pitch < width) return cudaErrorInvalidPitchValue;
  if (const cudaError_t error = PyGPU_element_size(dst, &element)) return error;
  if (const cudaError_t error = PyGPU_box_of_rows(element, x, width, height, kind, &box))
    return error;
  box.srcPtr = {const_cast<void*>(src), pitch, width, height};
  box.dstArray = dst;
  box.dstPos = {x / element, y, 0};
  return cudaMemcpy3DAsync(&box, stream);
}

inline cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, std::size_t pitch, cudaArray_t src,
                                              std::size_t x, std::size_t y, std::size_t width,
                                              std::size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream = nullptr) {
  std::size_t element = 0;
  cudaMemcpy3DParms box;
  if (pitch < width) return cudaErrorInvalidPitchValue;
  if (const cudaError_t error = PyGPU_element_size(src, &element)) return error;
  if (const cudaError_t error = PyGPU_box_of_rows(element, x, width, height, kind, &box))
    return error;
  box.srcArray = src;
  box.srcPos = {x / element, y, 0};
  box.dstPtr = {dst, pitch, width, height};
  return cudaMemcpy3DAsync(&box, stream);
}

inline cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, std::size_t to_x, std::size_t to_y,
                                            cudaArray_t src, std::size_t x, std::size_t y,
                                            std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToDevice) {
  std::size_t element = 0;
  cudaMemcpy3DParms box;
  if (const cudaError_t error = PyGPU_element_size(src, &element)) return error;
  if (const cudaError_t error = PyGPU_box_of_rows(element, x, width, height, kind, &box))
    return error;
  if (to_x % element) return cudaErrorInvalidValue;
  box.srcArray = src;
  box.srcPos = {x / element, y, 0};
  box.dstArray = dst;
  box.dstPos = {to_x / element, to_y, 0};
  return cudaMemcpy3D(&box);
}
