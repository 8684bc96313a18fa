// Texture and surface references, which compilers dropped with CUDA 12: each is a variable of the
// module, into which PyGPU/_driver/references.py writes the handle of a texture or surface object
// before a launch. Put before the texts that declare some (PyGPU/_compile/headers.py).
#pragma once

#include "texel_types.h"

// Compilers that still have references have these names, too, and HIP has some of them.
#define texture PyGPU_texture
#define surface PyGPU_surface

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC
#endif

#ifndef PYGPU_REFERENCE  // what makes variables of a class the device's, where nothing else does
#define PYGPU_REFERENCE(kind)
#endif

extern "C++" {

// References may be written before the launch of any function of a module with this symbol.
extern "C" {
__attribute__((weak)) __device__ char PyGPU_has_references;
}

// What Python reads of a reference, in this order (_driver/references.py).
template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct PYGPU_REFERENCE(texture) PyGPU_texture {
  cudaTextureObject_t object;
  unsigned short mark;
  unsigned char dimensions, reading, bits, channels, kind, unused;

  constexpr PyGPU_texture()
      : object(0),
        mark(0x5478),
        dimensions(type),
        reading(mode),
        bits(8 * sizeof(typename PyGPU::Texel<T>::Number)),
        channels(PyGPU::Texel<T>::count),
        kind(PyGPU::kind_of_channel<typename PyGPU::Texel<T>::Number>()),
        unused(0) {}
};

template <class T, int type = cudaSurfaceType1D>
struct PYGPU_REFERENCE(surface) PyGPU_surface {
  cudaSurfaceObject_t object;
  unsigned short mark;
  unsigned char dimensions, unused[5];

  constexpr PyGPU_surface() : object(0), mark(0x5378), dimensions(type), unused{0, 0, 0, 0, 0} {}
};

namespace PyGPU {

// What a fetch gives: the texture's type, or as many floats.
template <class T, cudaTextureReadMode mode, int channels = Texel<T>::count>
struct Fetched {
  using type = T;
  using gathered = typename Texel<T>::Four;
};
#define PYGPU_FRACTIONS(count, floats)                    \
  template <class T>                                      \
  struct Fetched<T, cudaReadModeNormalizedFloat, count> { \
    using type = floats;                                  \
    using gathered = float4;                              \
  };
PYGPU_FRACTIONS(1, float)
PYGPU_FRACTIONS(2, float2)
PYGPU_FRACTIONS(4, float4)
#undef PYGPU_FRACTIONS

}  // namespace PyGPU

// A function of references by the one of objects: its name, the references' type, the coordinates.
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_FETCH_AS(result, name, dimensions, coordinates, values)                             \
  template <class T, cudaTextureReadMode mode>                                                    \
  __device__ inline typename PyGPU::Fetched<T, mode>::result name(                                \
      PyGPU_texture<T, dimensions, mode> reference, PYGPU_UNPACK coordinates) {                   \
    return name<typename PyGPU::Fetched<T, mode>::result>(reference.object, PYGPU_UNPACK values); \
  }
#define PYGPU_FETCH(...) PYGPU_FETCH_AS(type, __VA_ARGS__)
PYGPU_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x))
PYGPU_FETCH(tex1D, cudaTextureType1D, (float x), (x))
PYGPU_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
PYGPU_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
PYGPU_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
PYGPU_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
PYGPU_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z))
PYGPU_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered,
            (float x, float y, float z, int layer), (x, y, z, layer))
PYGPU_FETCH_AS(gathered, tex2Dgather, cudaTextureType2D, (float x, float y, int channel = 0),
               (x, y, channel))

// Levels and gradients choose among mipmaps.
PYGPU_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), (x, level))
PYGPU_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), (x, y, level))
PYGPU_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), (x, y, z, level))
PYGPU_FETCH(tex1DLayeredLod, cudaTextureType1DLayered, (float x, int layer, float level),
            (x, layer, level))
PYGPU_FETCH(tex2DLayeredLod, cudaTextureType2DLayered, (float x, float y, int layer, float level),
            (x, y, layer, level))
PYGPU_FETCH(texCubemapLod, cudaTextureTypeCubemap, (float x, float y, float z, float level),
            (x, y, z, level))
PYGPU_FETCH(texCubemapLayeredLod, cudaTextureTypeCubemapLayered,
            (float x, float y, float z, int layer, float level), (x, y, z, layer, level))
PYGPU_FETCH(tex1DGrad, cudaTextureType1D, (float x, float dx, float dy), (x, dx, dy))
PYGPU_FETCH(tex2DGrad, cudaTextureType2D, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
PYGPU_FETCH(tex3DGrad, cudaTextureType3D, (float x, float y, float z, float4 dx, float4 dy),
            (x, y, z, dx, dy))
PYGPU_FETCH(tex1DLayeredGrad, cudaTextureType1DLayered, (float x, int layer, float dx, float dy),
            (x, layer, dx, dy))
PYGPU_FETCH(tex2DLayeredGrad, cudaTextureType2DLayered,
            (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy))
PYGPU_FETCH(texCubemapGrad, cudaTextureTypeCubemap,
            (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy))
PYGPU_FETCH(texCubemapLayeredGrad, cudaTextureTypeCubemapLayered,
            (float x, float y, float z, int layer, float4 dx, float4 dy), (x, y, z, layer, dx, dy))
#undef PYGPU_FETCH
#undef PYGPU_FETCH_AS

// The call without "read" or "write"; x is in bytes.
#define PYGPU_SURFACE(name, dimensions, coordinates, values)                                       \
  template <class T, class S>                                                                      \
  __device__ inline T name##read(PyGPU_surface<S, dimensions> reference, PYGPU_UNPACK coordinates, \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
    return name##read<T>(reference.object, PYGPU_UNPACK values, mode);                             \
  }                                                                                                \
  template <class T, class S>                                                                      \
  __device__ inline void name##read(T* to, PyGPU_surface<S, dimensions> reference,                 \
                                    PYGPU_UNPACK coordinates,                                      \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {         \
    name##read(to, reference.object, PYGPU_UNPACK values, mode);                                   \
  }                                                                                                \
  template <class T, class S>                                                                      \
  __device__ inline void name##write(T value, PyGPU_surface<S, dimensions> reference,              \
                                     PYGPU_UNPACK coordinates,                                     \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {        \
    name##write(value, reference.object, PYGPU_UNPACK values, mode);                               \
  }
PYGPU_SURFACE(surf1D, cudaSurfaceType1D, (int x), (x))
PYGPU_SURFACE(surf2D, cudaSurfaceType2D, (int x, int y), (x, y))
PYGPU_SURFACE(surf3D, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
PYGPU_SURFACE(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), (x, layer))
PYGPU_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
#undef PYGPU_SURFACE
#undef PYGPU_UNPACK

}  // extern "C++"
