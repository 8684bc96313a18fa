// CUDA's names of texture and surface objects, and its reads of surfaces, which return the element.
#pragma once

typedef hipTextureObject_t cudaTextureObject_t;
typedef hipSurfaceObject_t cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = hipBoundaryModeZero,
  cudaBoundaryModeClamp = hipBoundaryModeClamp,
  cudaBoundaryModeTrap = hipBoundaryModeTrap
};
enum cudaTextureReadMode {
  cudaReadModeElementType = hipReadModeElementType,
  cudaReadModeNormalizedFloat = hipReadModeNormalizedFloat
};

// Variables of such a class are the device's without __device__ (device/texture_references.h).
#define PYGPU_REFERENCE(kind) __attribute__((device_builtin_##kind##_type))

// From HIP 5.7 on, the reads of most surfaces take no boundary mode: theirs is zero.
extern "C++" {
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_SURFACE(name, coordinates, places)                                  \
  template <class T>                                                              \
  __device__ inline auto pygpu_##name(T* value, cudaSurfaceObject_t surface,      \
                                      PYGPU_UNPACK coordinates, int mode, int)    \
      ->decltype(name(value, surface, PYGPU_UNPACK places, mode)) {               \
    return name(value, surface, PYGPU_UNPACK places, mode);                       \
  }                                                                               \
  template <class T>                                                              \
  __device__ inline void pygpu_##name(T* value, cudaSurfaceObject_t surface,      \
                                      PYGPU_UNPACK coordinates, int, long) {      \
    name(value, surface, PYGPU_UNPACK places);                                    \
  }                                                                               \
  template <class T>                                                              \
  __device__ inline T name(cudaSurfaceObject_t surface, PYGPU_UNPACK coordinates, \
                           int mode = hipBoundaryModeZero) {                      \
    T value;                                                                      \
    pygpu_##name(&value, surface, PYGPU_UNPACK places, mode, 0);                  \
    return value;                                                                 \
  }
PYGPU_SURFACE(surf1Dread, (int x), (x))
PYGPU_SURFACE(surf2Dread, (int x, int y), (x, y))
PYGPU_SURFACE(surf3Dread, (int x, int y, int z), (x, y, z))
PYGPU_SURFACE(surf1DLayeredread, (int x, int layer), (x, layer))
PYGPU_SURFACE(surf2DLayeredread, (int x, int y, int layer), (x, y, layer))
#undef PYGPU_SURFACE
#undef PYGPU_UNPACK
}
