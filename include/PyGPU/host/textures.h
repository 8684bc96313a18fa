// Texture objects for kernels on the host: tex1D ... tex3D, layered ones, cubes, gathers. There are
// no mipmaps, so that levels and gradients have no effect. The sampling itself is in the machine
// (src/host/sample.cpp).
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
// Where a direction of three coordinates meets the cube.
extern "C" __attribute__((visibility("default"))) void PyGPU_host_fetch_cube(
    cudaTextureObject_t texture, const float* direction, int layer, PyGPU::host::Registers* to);
// A channel of the four elements that LINEAR would mix.
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

// Each function returns the element, or puts it into a variable.
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

// The same with a level, and with gradients.
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
