// Texture and surface objects under CUDA's names, for HIPRTC. As in CUDA, reads of surfaces can
// return the element.
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

// Variables of a class with this attribute are device variables also without __device__
// (device/texture_references.h).
#define PYGPU_REFERENCE(kind) __attribute__((device_builtin_##kind##_type))

#if defined(__HIP_NO_IMAGE_SUPPORT) || defined(__gfx942__) || defined(__gfx950__) || \
    defined(__gfx1250__)
#define PYGPU_LACKS_IMAGES
#endif

#if defined(PYGPU_LACKS_IMAGES)
// The GPU has no instructions for textures and surfaces: a call of these functions does not
// compile.
extern "C++" {
template <class P_T = float, class... P_Arguments>
__device__ __attribute__((unavailable("this GPU has no textures and no surfaces"))) P_T
PyGPU_no_images(P_Arguments...);
}
#define tex1Dfetch PyGPU_no_images
#define tex1D PyGPU_no_images
#define tex2D PyGPU_no_images
#define tex3D PyGPU_no_images
#define tex1DLayered PyGPU_no_images
#define tex2DLayered PyGPU_no_images
#define texCubemap PyGPU_no_images
#define texCubemapLayered PyGPU_no_images
#define tex2Dgather PyGPU_no_images
#define tex1DLod PyGPU_no_images
#define tex1DGrad PyGPU_no_images
#define tex2DLod PyGPU_no_images
#define tex2DGrad PyGPU_no_images
#define tex3DLod PyGPU_no_images
#define tex3DGrad PyGPU_no_images
#define tex1DLayeredLod PyGPU_no_images
#define tex1DLayeredGrad PyGPU_no_images
#define tex2DLayeredLod PyGPU_no_images
#define tex2DLayeredGrad PyGPU_no_images
#define texCubemapLod PyGPU_no_images
#define texCubemapGrad PyGPU_no_images
#define texCubemapLayeredLod PyGPU_no_images
#define texCubemapLayeredGrad PyGPU_no_images
#define surf1Dread PyGPU_no_images
#define surf1Dwrite PyGPU_no_images
#define surf2Dread PyGPU_no_images
#define surf2Dwrite PyGPU_no_images
#define surf3Dread PyGPU_no_images
#define surf3Dwrite PyGPU_no_images
#define surf1DLayeredread PyGPU_no_images
#define surf1DLayeredwrite PyGPU_no_images
#define surf2DLayeredread PyGPU_no_images
#define surf2DLayeredwrite PyGPU_no_images
#define surfCubemapread PyGPU_no_images
#define surfCubemapwrite PyGPU_no_images
#define surfCubemapLayeredread PyGPU_no_images
#define surfCubemapLayeredwrite PyGPU_no_images
#else
// From HIP 5.7 on, most surface functions have no parameter for the boundary mode, which is zero.
// The following overloads accept a mode and ignore it. They exist only if HIP's own function has no
// such parameter. The initializer of a __device__ variable tests this: in other initializers, newer
// compilers resolve calls to host functions.
extern "C++" {
#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_WITH_MODE(name, Value, sample, coordinates, places, zeros)                         \
  namespace PyGPU_hip {                                                                          \
  using ::name;                                                                                  \
  __device__ P_Missing name(...);                                                                \
  __device__ constexpr bool name##_lacks_mode =                                                  \
      P_IsMissing<decltype(name(sample, hipSurfaceObject_t(), PYGPU_UNPACK zeros, 0))>::P_value; \
  }                                                                                              \
  template <class P_T, bool P_lacks = PyGPU_hip::name##_lacks_mode,                              \
            typename PyGPU_hip::P_If<P_lacks>::P_Type = 0>                                       \
  __device__ inline void name(Value, cudaSurfaceObject_t P_surface, PYGPU_UNPACK coordinates,    \
                              int) {                                                             \
    name(P_data, P_surface, PYGPU_UNPACK places);                                                \
  }
#define PYGPU_SURFACE(name, coordinates, places, zeros)                                       \
  PYGPU_WITH_MODE(name##read, P_T* P_data, static_cast<float*>(nullptr), coordinates, places, \
                  zeros)                                                                      \
  PYGPU_WITH_MODE(name##write, P_T P_data, 0.0f, coordinates, places, zeros)                  \
  template <class P_T>                                                                        \
  __device__ inline P_T name##read(cudaSurfaceObject_t P_surface, PYGPU_UNPACK coordinates,   \
                                   int P_mode = hipBoundaryModeZero) {                        \
    P_T P_value;                                                                              \
    name##read(&P_value, P_surface, PYGPU_UNPACK places, P_mode);                             \
    return P_value;                                                                           \
  }
namespace PyGPU_hip {
struct P_Missing {};
template <class P_T>
struct P_IsMissing {
  static constexpr bool P_value = false;
};
template <>
struct P_IsMissing<P_Missing> {
  static constexpr bool P_value = true;
};
template <bool>
struct P_If {};
template <>
struct P_If<true> {
  typedef int P_Type;
};
}  // namespace PyGPU_hip
PYGPU_SURFACE(surf1D, (int P_x), (P_x), (0))
PYGPU_SURFACE(surf2D, (int P_x, int P_y), (P_x, P_y), (0, 0))
PYGPU_SURFACE(surf3D, (int P_x, int P_y, int P_z), (P_x, P_y, P_z), (0, 0, 0))
PYGPU_SURFACE(surf1DLayered, (int P_x, int P_layer), (P_x, P_layer), (0, 0))
PYGPU_SURFACE(surf2DLayered, (int P_x, int P_y, int P_layer), (P_x, P_y, P_layer), (0, 0, 0))
#undef PYGPU_SURFACE
#undef PYGPU_WITH_MODE
#undef PYGPU_UNPACK
}

// gfx90a has no instructions for these functions, and AMD's compiler ends the process at a call.
// The macros replace the call by an undeclared name, which is a compile error and states the
// reason.
#if defined(__gfx90a__)
#define PYGPU_LACKS_EXTENDED_IMAGES
#define tex2Dgather gfx90a_has_no_tex2Dgather
#define tex1DLod gfx90a_has_no_tex1DLod
#define tex2DLod gfx90a_has_no_tex2DLod
#define tex3DLod gfx90a_has_no_tex3DLod
#define tex1DLayeredLod gfx90a_has_no_tex1DLayeredLod
#define tex2DLayeredLod gfx90a_has_no_tex2DLayeredLod
#define texCubemapLod gfx90a_has_no_texCubemapLod
#define texCubemapLayeredLod gfx90a_has_no_texCubemapLayeredLod
#define tex1DGrad gfx90a_has_no_tex1DGrad
#define tex2DGrad gfx90a_has_no_tex2DGrad
#define tex3DGrad gfx90a_has_no_tex3DGrad
#define tex1DLayeredGrad gfx90a_has_no_tex1DLayeredGrad
#define tex2DLayeredGrad gfx90a_has_no_tex2DLayeredGrad
#define texCubemapGrad gfx90a_has_no_texCubemapGrad
#define texCubemapLayeredGrad gfx90a_has_no_texCubemapLayeredGrad
#endif
#endif  // PYGPU_LACKS_IMAGES
