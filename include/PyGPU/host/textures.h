// CUDA's texture functions for host kernels: tex1D ... tex3D, layered textures, cubemaps, gathers.
//
// The machine has no mipmaps, so levels and gradients have no effect. The sampling code is in
// src/host/sample.cpp.
#pragma once

#include "../vendor/host_arrays.h"
#include "texels.h"

// Sample at the first `axes` coordinates. A handle that is not a texture's ends the kernel.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_fetch(cudaTextureObject_t texture,
                                                                        int axes,
                                                                        const float* coordinates,
                                                                        int layer,
                                                                        PyGPU::host::Registers* to);
// Fetch one element of linear memory by its index.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_fetch_element(
    cudaTextureObject_t texture, int index, PyGPU::host::Registers* to);
// Sample a cubemap in a direction with three components.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_fetch_cube(
    cudaTextureObject_t texture, const float* direction, int layer, PyGPU::host::Registers* to);
// Gather one channel of the four elements that linear filtering would blend.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_gather(
    cudaTextureObject_t texture, float x, float y, int channel, PyGPU::host::Registers* to);

namespace PyGPU {
namespace host {

template <class T>
T fetch(cudaTextureObject_t texture, int axes, float x, float y, float z, int layer) {
  const float coordinates[3] = {x, y, z};
  Registers found;
  PyGPU_host_fetch(texture, axes, coordinates, layer, &found);
  return found.template as<T>();
}

template <class T>
T fetch_element(cudaTextureObject_t texture, int index) {
  Registers found;
  PyGPU_host_fetch_element(texture, index, &found);
  return found.template as<T>();
}

template <class T>
T fetch_cube(cudaTextureObject_t texture, float x, float y, float z, int layer) {
  const float direction[3] = {x, y, z};
  Registers found;
  PyGPU_host_fetch_cube(texture, direction, layer, &found);
  return found.template as<T>();
}

template <class T>
T gather(cudaTextureObject_t texture, float x, float y, int channel) {
  Registers found;
  PyGPU_host_gather(texture, x, y, channel, &found);
  return found.template as<T>();
}

}  // namespace host
}  // namespace PyGPU

// Define two forms of each function: one returns the element, the other stores it in a variable.
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_TEXTURE(name, parameters, arguments, ...)                    \
  template <class T>                                                       \
  T name(cudaTextureObject_t texture, PYGPU_UNPACK parameters) {           \
    return __VA_ARGS__;                                                    \
  }                                                                        \
  template <class T>                                                       \
  void name(T* to, cudaTextureObject_t texture, PYGPU_UNPACK parameters) { \
    *to = name<T>(texture, PYGPU_UNPACK arguments);                        \
  }
PYGPU_TEXTURE(tex1Dfetch, (int x), (x), PyGPU::host::fetch_element<T>(texture, x))
PYGPU_TEXTURE(tex1D, (float x), (x), PyGPU::host::fetch<T>(texture, 1, x, 0, 0, 0))
PYGPU_TEXTURE(tex2D, (float x, float y), (x, y), PyGPU::host::fetch<T>(texture, 2, x, y, 0, 0))
PYGPU_TEXTURE(tex3D, (float x, float y, float z), (x, y, z),
              PyGPU::host::fetch<T>(texture, 3, x, y, z, 0))
PYGPU_TEXTURE(tex1DLayered, (float x, int layer), (x, layer),
              PyGPU::host::fetch<T>(texture, 1, x, 0, 0, layer))
PYGPU_TEXTURE(tex2DLayered, (float x, float y, int layer), (x, y, layer),
              PyGPU::host::fetch<T>(texture, 2, x, y, 0, layer))
PYGPU_TEXTURE(texCubemap, (float x, float y, float z), (x, y, z),
              PyGPU::host::fetch_cube<T>(texture, x, y, z, 0))
PYGPU_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer),
              PyGPU::host::fetch_cube<T>(texture, x, y, z, layer))
PYGPU_TEXTURE(tex2Dgather, (float x, float y, int channel = 0), (x, y, channel),
              PyGPU::host::gather<T>(texture, x, y, channel))

// Define the forms with a mipmap level and with gradients.
#define PYGPU_TEXTURE_LEVELS(name, parameters, arguments, vector)            \
  PYGPU_TEXTURE(name##Lod, (PYGPU_UNPACK parameters, float level),           \
                (PYGPU_UNPACK arguments, level),                             \
                ((void)level, name<T>(texture, PYGPU_UNPACK arguments)))     \
  PYGPU_TEXTURE(name##Grad, (PYGPU_UNPACK parameters, vector dx, vector dy), \
                (PYGPU_UNPACK arguments, dx, dy),                            \
                ((void)dx, (void)dy, name<T>(texture, PYGPU_UNPACK arguments)))
PYGPU_TEXTURE_LEVELS(tex1D, (float x), (x), float)
PYGPU_TEXTURE_LEVELS(tex2D, (float x, float y), (x, y), float2)
PYGPU_TEXTURE_LEVELS(tex3D, (float x, float y, float z), (x, y, z), float4)
PYGPU_TEXTURE_LEVELS(tex1DLayered, (float x, int layer), (x, layer), float)
PYGPU_TEXTURE_LEVELS(tex2DLayered, (float x, float y, int layer), (x, y, layer), float2)
PYGPU_TEXTURE_LEVELS(texCubemap, (float x, float y, float z), (x, y, z), float4)
PYGPU_TEXTURE_LEVELS(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer),
                     float4)
#undef PYGPU_TEXTURE_LEVELS
#undef PYGPU_TEXTURE
#undef PYGPU_UNPACK
