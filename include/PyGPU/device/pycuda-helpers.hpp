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
#define PYGPU_FETCH(name, dimensions, coordinates, values)                       \
  template <class T, cudaTextureReadMode mode>                                   \
  __device__ inline auto fp_##name(PyGPU_texture<T, dimensions, mode> reference, \
                                   PYGPU_UNPACK coordinates)                     \
      ->decltype(PyGPU::number_in(name(reference, PYGPU_UNPACK values))) {       \
    return PyGPU::number_in(name(reference, PYGPU_UNPACK values));               \
  }
PYGPU_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x))
PYGPU_FETCH(tex1D, cudaTextureType1D, (float x), (x))
PYGPU_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
PYGPU_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
PYGPU_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
PYGPU_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
#undef PYGPU_FETCH

// The call without "read" or "write"; x is in elements.
#define PYGPU_SURFACE(name, dimensions, coordinates, values)                                     \
  template <class T, class S>                                                                    \
  __device__ inline void fp_##name##read(T* to, PyGPU_surface<S, dimensions> reference,          \
                                         PYGPU_UNPACK coordinates,                               \
                                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    decltype(PyGPU::element_of(*to)) element;                                                    \
    x *= static_cast<int>(sizeof element);                                                       \
    name##read(&element, reference, PYGPU_UNPACK values, mode);                                  \
    *to = PyGPU::number_in(element);                                                             \
  }                                                                                              \
  template <class T, class S>                                                                    \
  __device__ inline void fp_##name##write(T value, PyGPU_surface<S, dimensions> reference,       \
                                          PYGPU_UNPACK coordinates,                              \
                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    const auto element = PyGPU::element_of(value);                                               \
    x *= static_cast<int>(sizeof element);                                                       \
    name##write(element, reference, PYGPU_UNPACK values, mode);                                  \
  }
PYGPU_SURFACE(surf1D, cudaSurfaceType1D, (int x), (x))
PYGPU_SURFACE(surf2D, cudaSurfaceType2D, (int x, int y), (x, y))
PYGPU_SURFACE(surf3D, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
PYGPU_SURFACE(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), (x, layer))
PYGPU_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
#undef PYGPU_SURFACE
#undef PYGPU_UNPACK

}  // extern "C++"
