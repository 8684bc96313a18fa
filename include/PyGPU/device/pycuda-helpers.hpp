// PyCUDA's texture helpers: texture references are gone from CUDA 12 on, and HIP has none. Each
// name is an error that says so, but only where it is used; everything else of a program compiles.
#pragma once

extern "C++" {

// Reported only when a function that mentions it is instantiated, that is, called.
template <class T>
struct PyGPUTextureReferences {
  static_assert(sizeof(T) == 0,
                "texture references do not exist in CUDA >= 12 and in HIP: pass the array as a "
                "pointer instead, or use a texture object");
};

// The types that texture references of emulated elements had.
typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

#define PYGPU_NO_TEXTURE(name)                                  \
  template <class T, class... More>                             \
  __device__ inline int name(T, More...) {                      \
    return static_cast<int>(sizeof(PyGPUTextureReferences<T>)); \
  }
PYGPU_NO_TEXTURE(fp_tex1Dfetch)
PYGPU_NO_TEXTURE(fp_tex1D)
PYGPU_NO_TEXTURE(fp_tex2D)
PYGPU_NO_TEXTURE(fp_tex3D)
PYGPU_NO_TEXTURE(fp_tex1DLayered)
PYGPU_NO_TEXTURE(fp_tex2DLayered)
PYGPU_NO_TEXTURE(fp_surf1DLayeredread)
PYGPU_NO_TEXTURE(fp_surf1DLayeredwrite)
PYGPU_NO_TEXTURE(fp_surf2DLayeredread)
PYGPU_NO_TEXTURE(fp_surf2DLayeredwrite)
PYGPU_NO_TEXTURE(fp_surf2Dread)
PYGPU_NO_TEXTURE(fp_surf2Dwrite)
PYGPU_NO_TEXTURE(fp_surf3Dread)
PYGPU_NO_TEXTURE(fp_surf3Dwrite)
PYGPU_NO_TEXTURE(fp_surf1Dread)
PYGPU_NO_TEXTURE(fp_surf1Dwrite)
#undef PYGPU_NO_TEXTURE
}
