// Texture and surface references, which compilers dropped with CUDA 12. Each reference is a
// variable of the module; PyGPU/_driver/references.py writes the handle of a texture or surface
// object into it before a launch. This header precedes texts that declare references
// (PyGPU/_compile/source/headers.py).
#pragma once

#include "texel_types.h"

// Compilers that still have references use these names, too, and HIP uses some of them.
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

#ifndef PYGPU_REFERENCE  // makes variables of a class device variables, where nothing else does
#define PYGPU_REFERENCE(kind)
#endif

extern "C++" {

// Marks modules whose references are written before each launch of their functions.
extern "C" {
__attribute__((weak)) __device__ char PyGPU_has_references;
}

// Members of a reference that Python reads, in this order (_driver/references.py).
template <class P_T, int P_type = cudaTextureType1D,
          cudaTextureReadMode P_mode = cudaReadModeElementType>
struct PYGPU_REFERENCE(texture) PyGPU_texture {
  cudaTextureObject_t P_object;
  unsigned short P_mark;
  unsigned char P_dimensions, P_reading, P_bits, P_channels, P_kind, P_unused;

  constexpr PyGPU_texture()
      : P_object(0),
        P_mark(0x5478),
        P_dimensions(P_type),
        P_reading(P_mode),
        P_bits(8 * sizeof(typename PyGPU::P_Texel<P_T>::P_Number)),
        P_channels(PyGPU::P_Texel<P_T>::P_count),
        P_kind(PyGPU::P_kind_of_channel<typename PyGPU::P_Texel<P_T>::P_Number>()),
        P_unused(0) {}
};

template <class P_T, int P_type = cudaSurfaceType1D>
struct PYGPU_REFERENCE(surface) PyGPU_surface {
  cudaSurfaceObject_t P_object;
  unsigned short P_mark;
  unsigned char P_dimensions, P_unused[5];

  constexpr PyGPU_surface()
      : P_object(0), P_mark(0x5378), P_dimensions(P_type), P_unused{0, 0, 0, 0, 0} {}
};

namespace PyGPU {

// Result of a fetch: the texture's type, or as many floats.
template <class P_T, cudaTextureReadMode P_mode, int P_channels = P_Texel<P_T>::P_count>
struct P_Fetched {
  using P_type = P_T;
  using P_gathered = typename P_Texel<P_T>::P_Four;
};
#define PYGPU_FRACTIONS(count, floats)                        \
  template <class P_T>                                        \
  struct P_Fetched<P_T, cudaReadModeNormalizedFloat, count> { \
    using P_type = floats;                                    \
    using P_gathered = float4;                                \
  };
PYGPU_FRACTIONS(1, float)
PYGPU_FRACTIONS(2, float2)
PYGPU_FRACTIONS(4, float4)
#undef PYGPU_FRACTIONS

}  // namespace PyGPU

// Define a function of references by that of objects: its name, the references' type, the
// coordinates. Without images, the names of the functions are errors that say so.
#if !defined(PYGPU_LACKS_IMAGES)
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_FETCH_AS(result, name, dimensions, coordinates, values)                 \
  template <class P_T, cudaTextureReadMode P_mode>                                    \
  __device__ inline typename PyGPU::P_Fetched<P_T, P_mode>::result name(              \
      PyGPU_texture<P_T, dimensions, P_mode> P_reference, PYGPU_UNPACK coordinates) { \
    return name<typename PyGPU::P_Fetched<P_T, P_mode>::result>(P_reference.P_object, \
                                                                PYGPU_UNPACK values); \
  }
#define PYGPU_FETCH(...) PYGPU_FETCH_AS(P_type, __VA_ARGS__)
PYGPU_FETCH(tex1Dfetch, cudaTextureType1D, (int P_x), (P_x))
#if !defined(PYGPU_LACKS_EXTENDED_IMAGES)
PYGPU_FETCH_AS(P_gathered, tex2Dgather, cudaTextureType2D,
               (float P_x, float P_y, int P_channel = 0), (P_x, P_y, P_channel))

// Levels and gradients select among mipmaps.
#define PYGPU_FETCH_LEVELS(name, dimensions, coordinates, values, vector)                   \
  PYGPU_FETCH(name##Lod, dimensions, (PYGPU_UNPACK coordinates, float P_level),             \
              (PYGPU_UNPACK values, P_level))                                               \
  PYGPU_FETCH(name##Grad, dimensions, (PYGPU_UNPACK coordinates, vector P_dx, vector P_dy), \
              (PYGPU_UNPACK values, P_dx, P_dy))
#else
#define PYGPU_FETCH_LEVELS(...)
#endif

#define PYGPU_FETCHES(name, dimensions, coordinates, values, vector) \
  PYGPU_FETCH(name, dimensions, coordinates, values)                 \
  PYGPU_FETCH_LEVELS(name, dimensions, coordinates, values, vector)
PYGPU_FETCHES(tex1D, cudaTextureType1D, (float P_x), (P_x), float)
PYGPU_FETCHES(tex2D, cudaTextureType2D, (float P_x, float P_y), (P_x, P_y), float2)
PYGPU_FETCHES(tex3D, cudaTextureType3D, (float P_x, float P_y, float P_z), (P_x, P_y, P_z), float4)
PYGPU_FETCHES(tex1DLayered, cudaTextureType1DLayered, (float P_x, int P_layer), (P_x, P_layer),
              float)
PYGPU_FETCHES(tex2DLayered, cudaTextureType2DLayered, (float P_x, float P_y, int P_layer),
              (P_x, P_y, P_layer), float2)
PYGPU_FETCHES(texCubemap, cudaTextureTypeCubemap, (float P_x, float P_y, float P_z),
              (P_x, P_y, P_z), float4)
PYGPU_FETCHES(texCubemapLayered, cudaTextureTypeCubemapLayered,
              (float P_x, float P_y, float P_z, int P_layer), (P_x, P_y, P_z, P_layer), float4)
#undef PYGPU_FETCHES
#undef PYGPU_FETCH_LEVELS
#undef PYGPU_FETCH
#undef PYGPU_FETCH_AS

// Name of the call without "read" or "write"; x is in bytes.
#define PYGPU_SURFACE(name, dimensions, coordinates, values)                                  \
  template <class P_T, class P_S>                                                             \
  __device__ inline P_T name##read(PyGPU_surface<P_S, dimensions> P_reference,                \
                                   PYGPU_UNPACK coordinates,                                  \
                                   cudaSurfaceBoundaryMode P_mode = cudaBoundaryModeTrap) {   \
    return name##read<P_T>(P_reference.P_object, PYGPU_UNPACK values, P_mode);                \
  }                                                                                           \
  template <class P_T, class P_S>                                                             \
  __device__ inline void name##read(P_T* P_to, PyGPU_surface<P_S, dimensions> P_reference,    \
                                    PYGPU_UNPACK coordinates,                                 \
                                    cudaSurfaceBoundaryMode P_mode = cudaBoundaryModeTrap) {  \
    name##read(P_to, P_reference.P_object, PYGPU_UNPACK values, P_mode);                      \
  }                                                                                           \
  template <class P_T, class P_S>                                                             \
  __device__ inline void name##write(P_T P_value, PyGPU_surface<P_S, dimensions> P_reference, \
                                     PYGPU_UNPACK coordinates,                                \
                                     cudaSurfaceBoundaryMode P_mode = cudaBoundaryModeTrap) { \
    name##write(P_value, P_reference.P_object, PYGPU_UNPACK values, P_mode);                  \
  }
PYGPU_SURFACE(surf1D, cudaSurfaceType1D, (int P_x), (P_x))
PYGPU_SURFACE(surf2D, cudaSurfaceType2D, (int P_x, int P_y), (P_x, P_y))
PYGPU_SURFACE(surf3D, cudaSurfaceType3D, (int P_x, int P_y, int P_z), (P_x, P_y, P_z))
PYGPU_SURFACE(surf1DLayered, cudaSurfaceType1DLayered, (int P_x, int P_layer), (P_x, P_layer))
PYGPU_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, (int P_x, int P_y, int P_layer),
              (P_x, P_y, P_layer))
#undef PYGPU_SURFACE
#undef PYGPU_UNPACK
#endif  // PYGPU_LACKS_IMAGES

}  // extern "C++"
