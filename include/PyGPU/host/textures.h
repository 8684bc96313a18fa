// Texture objects for kernels on the host: tex1D ... tex3D, layered ones, tex1Dfetch. The sampling
// itself is in the machine (src/host/sample.cpp).
#pragma once

#include "../vendor/host_arrays.h"
#include "texels.h"

// The first `axes` coordinates are used. A handle that is not a texture's ends the kernel.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_fetch(cudaTextureObject_t texture,
                                                                        int axes,
                                                                        const float* coordinates,
                                                                        int layer,
                                                                        PyGPU::host::Registers* to);
// One element of memory, by its index.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_fetch_element(
    cudaTextureObject_t texture, int index, PyGPU::host::Registers* to);

namespace PyGPU {
namespace host {

template <class T>
T fetch(cudaTextureObject_t texture, int axes, float x, float y, float z, int layer) {
  const float coordinates[3] = {x, y, z};
  Registers found;
  PyGPU_host_fetch(texture, axes, coordinates, layer, &found);
  return found.template as<T>();
}

}  // namespace host
}  // namespace PyGPU

template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int x) {
  PyGPU::host::Registers found;
  PyGPU_host_fetch_element(texture, x, &found);
  return found.template as<T>();
}
template <class T>
T tex1D(cudaTextureObject_t texture, float x) {
  return PyGPU::host::fetch<T>(texture, 1, x, 0, 0, 0);
}
template <class T>
T tex2D(cudaTextureObject_t texture, float x, float y) {
  return PyGPU::host::fetch<T>(texture, 2, x, y, 0, 0);
}
template <class T>
T tex3D(cudaTextureObject_t texture, float x, float y, float z) {
  return PyGPU::host::fetch<T>(texture, 3, x, y, z, 0);
}
template <class T>
T tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
  return PyGPU::host::fetch<T>(texture, 1, x, 0, 0, layer);
}
template <class T>
T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
  return PyGPU::host::fetch<T>(texture, 2, x, y, 0, layer);
}

// The same, into a variable.
template <class T>
void tex1Dfetch(T* to, cudaTextureObject_t texture, int x) {
  *to = tex1Dfetch<T>(texture, x);
}
template <class T>
void tex1D(T* to, cudaTextureObject_t texture, float x) {
  *to = tex1D<T>(texture, x);
}
template <class T>
void tex2D(T* to, cudaTextureObject_t texture, float x, float y) {
  *to = tex2D<T>(texture, x, y);
}
template <class T>
void tex3D(T* to, cudaTextureObject_t texture, float x, float y, float z) {
  *to = tex3D<T>(texture, x, y, z);
}
template <class T>
void tex1DLayered(T* to, cudaTextureObject_t texture, float x, int layer) {
  *to = tex1DLayered<T>(texture, x, layer);
}
template <class T>
void tex2DLayered(T* to, cudaTextureObject_t texture, float x, float y, int layer) {
  *to = tex2DLayered<T>(texture, x, y, layer);
}
