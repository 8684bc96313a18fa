// PyCUDA's texture helpers: double and complex numbers through texture and surface references, of
// which they are parts of 32 bits. References of other types are read as they are.
#pragma once

#include <pycuda-complex.hpp>

#include "texture_references.h"

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

namespace PyGPU {

__device__ inline double double_of(int low, int high) { return __hiloint2double(high, low); }

// The number that a texture's element stands for.
template <class T>
__device__ inline T number_in(T element) {
  return element;
}
__device__ inline double number_in(int2 v) { return double_of(v.x, v.y); }
__device__ inline pycuda::complex<float> number_in(uint2 v) {
  return pycuda::complex<float>(__int_as_float(static_cast<int>(v.x)),
                                __int_as_float(static_cast<int>(v.y)));
}
__device__ inline pycuda::complex<double> number_in(int4 v) {
  return pycuda::complex<double>(double_of(v.x, v.y), double_of(v.z, v.w));
}

// The element that stands for a number.
template <class T>
__device__ inline T element_of(T number) {
  return number;
}
__device__ inline int2 element_of(double number) {
  return make_int2(__double2loint(number), __double2hiint(number));
}
__device__ inline uint2 element_of(pycuda::complex<float> number) {
  return make_uint2(static_cast<unsigned>(__float_as_int(number.real())),
                    static_cast<unsigned>(__float_as_int(number.imag())));
}
__device__ inline int4 element_of(pycuda::complex<double> number) {
  const int2 real = element_of(number.real()), imag = element_of(number.imag());
  return make_int4(real.x, real.y, imag.x, imag.y);
}

}  // namespace PyGPU

#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_FETCH(name, plain, dimensions, coordinates, values)           \
  template <class T, cudaTextureReadMode mode>                              \
  __device__ inline auto name(PyGPU_texture<T, dimensions, mode> reference, \
                              PYGPU_UNPACK coordinates)                     \
      ->decltype(PyGPU::number_in(plain(reference, PYGPU_UNPACK values))) { \
    return PyGPU::number_in(plain(reference, PYGPU_UNPACK values));         \
  }
PYGPU_FETCH(fp_tex1Dfetch, tex1Dfetch, cudaTextureType1D, (int x), (x))
PYGPU_FETCH(fp_tex1D, tex1D, cudaTextureType1D, (float x), (x))
PYGPU_FETCH(fp_tex2D, tex2D, cudaTextureType2D, (float x, float y), (x, y))
PYGPU_FETCH(fp_tex3D, tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
PYGPU_FETCH(fp_tex1DLayered, tex1DLayered, cudaTextureType1DLayered, (float x, int layer),
            (x, layer))
PYGPU_FETCH(fp_tex2DLayered, tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer),
            (x, y, layer))
#undef PYGPU_FETCH

// x is in elements.
#define PYGPU_READ(name, plain, dimensions, coordinates, values)                     \
  template <class T, class S>                                                        \
  __device__ inline void name(T* to, PyGPU_surface<S, dimensions> reference,         \
                              PYGPU_UNPACK coordinates,                              \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    decltype(PyGPU::element_of(*to)) element;                                        \
    x *= static_cast<int>(sizeof element);                                           \
    plain(&element, reference, PYGPU_UNPACK values, mode);                           \
    *to = PyGPU::number_in(element);                                                 \
  }
#define PYGPU_WRITE(name, plain, dimensions, coordinates, values)                    \
  template <class T, class S>                                                        \
  __device__ inline void name(T value, PyGPU_surface<S, dimensions> reference,       \
                              PYGPU_UNPACK coordinates,                              \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    const auto element = PyGPU::element_of(value);                                   \
    x *= static_cast<int>(sizeof element);                                           \
    plain(element, reference, PYGPU_UNPACK values, mode);                            \
  }
PYGPU_READ(fp_surf1Dread, surf1Dread, cudaSurfaceType1D, (int x), (x))
PYGPU_WRITE(fp_surf1Dwrite, surf1Dwrite, cudaSurfaceType1D, (int x), (x))
PYGPU_READ(fp_surf2Dread, surf2Dread, cudaSurfaceType2D, (int x, int y), (x, y))
PYGPU_WRITE(fp_surf2Dwrite, surf2Dwrite, cudaSurfaceType2D, (int x, int y), (x, y))
PYGPU_READ(fp_surf3Dread, surf3Dread, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
PYGPU_WRITE(fp_surf3Dwrite, surf3Dwrite, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
PYGPU_READ(fp_surf1DLayeredread, surf1DLayeredread, cudaSurfaceType1DLayered, (int x, int layer),
           (x, layer))
PYGPU_WRITE(fp_surf1DLayeredwrite, surf1DLayeredwrite, cudaSurfaceType1DLayered, (int x, int layer),
            (x, layer))
PYGPU_READ(fp_surf2DLayeredread, surf2DLayeredread, cudaSurfaceType2DLayered,
           (int x, int y, int layer), (x, y, layer))
PYGPU_WRITE(fp_surf2DLayeredwrite, surf2DLayeredwrite, cudaSurfaceType2DLayered,
            (int x, int y, int layer), (x, y, layer))
#undef PYGPU_READ
#undef PYGPU_WRITE
#undef PYGPU_UNPACK

}  // extern "C++"
