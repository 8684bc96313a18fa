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

// From HIP 5.7 on, most functions of surfaces take no boundary mode: theirs is zero. Such are given
// one here that counts for nothing.
extern "C++" {
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_WITH_MODE(name, Value, sample, coordinates, places, zeros)                           \
  namespace PyGPU_hip {                                                                            \
  using ::name;                                                                                    \
  Missing name(...);                                                                               \
  constexpr bool name##_lacks_mode =                                                               \
      IsMissing<decltype(name(sample, hipSurfaceObject_t(), PYGPU_UNPACK zeros, 0))>::value;       \
  }                                                                                                \
  template <class T, bool lacks = PyGPU_hip::name##_lacks_mode,                                    \
            typename PyGPU_hip::If<lacks>::Type = 0>                                               \
  __device__ inline void name(Value, cudaSurfaceObject_t surface, PYGPU_UNPACK coordinates, int) { \
    name(data, surface, PYGPU_UNPACK places);                                                      \
  }
#define PYGPU_SURFACE(name, coordinates, places, zeros)                                          \
  PYGPU_WITH_MODE(name##read, T* data, static_cast<float*>(nullptr), coordinates, places, zeros) \
  PYGPU_WITH_MODE(name##write, T data, 0.0f, coordinates, places, zeros)                         \
  template <class T>                                                                             \
  __device__ inline T name##read(cudaSurfaceObject_t surface, PYGPU_UNPACK coordinates,          \
                                 int mode = hipBoundaryModeZero) {                               \
    T value;                                                                                     \
    name##read(&value, surface, PYGPU_UNPACK places, mode);                                      \
    return value;                                                                                \
  }
namespace PyGPU_hip {
struct Missing {};
template <class T>
struct IsMissing {
  static constexpr bool value = false;
};
template <>
struct IsMissing<Missing> {
  static constexpr bool value = true;
};
template <bool>
struct If {};
template <>
struct If<true> {
  typedef int Type;
};
}  // namespace PyGPU_hip
PYGPU_SURFACE(surf1D, (int x), (x), (0))
PYGPU_SURFACE(surf2D, (int x, int y), (x, y), (0, 0))
PYGPU_SURFACE(surf3D, (int x, int y, int z), (x, y, z), (0, 0, 0))
PYGPU_SURFACE(surf1DLayered, (int x, int layer), (x, layer), (0, 0))
PYGPU_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), (0, 0, 0))
#undef PYGPU_SURFACE
#undef PYGPU_WITH_MODE
#undef PYGPU_UNPACK
}
