// PyCUDA's texture helpers: double and complex numbers through texture and surface references, as
// parts of 32 bits. References of other types are read unchanged.
#pragma once

#include <pycuda-complex.hpp>

#include "texture_references.h"

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

namespace PyGPU {

__device__ inline double P_double_of(int P_low, int P_high) {
  return __hiloint2double(P_high, P_low);
}

// Convert a texture's element to the number that it encodes.
template <class P_T>
__device__ inline P_T P_number_in(P_T P_element) {
  return P_element;
}
__device__ inline double P_number_in(int2 P_v) { return P_double_of(P_v.x, P_v.y); }
__device__ inline pycuda::complex<float> P_number_in(uint2 P_v) {
  return pycuda::complex<float>(__int_as_float(static_cast<int>(P_v.x)),
                                __int_as_float(static_cast<int>(P_v.y)));
}
__device__ inline pycuda::complex<double> P_number_in(int4 P_v) {
  return pycuda::complex<double>(P_double_of(P_v.x, P_v.y), P_double_of(P_v.z, P_v.w));
}

// Convert a number to the element that encodes it.
template <class P_T>
__device__ inline P_T P_element_of(P_T P_number) {
  return P_number;
}
__device__ inline int2 P_element_of(double P_number) {
  return make_int2(__double2loint(P_number), __double2hiint(P_number));
}
__device__ inline uint2 P_element_of(pycuda::complex<float> P_number) {
  return make_uint2(static_cast<unsigned>(__float_as_int(P_number.real())),
                    static_cast<unsigned>(__float_as_int(P_number.imag())));
}
__device__ inline int4 P_element_of(pycuda::complex<double> P_number) {
  const int2 real = P_element_of(P_number.real()), imag = P_element_of(P_number.imag());
  return make_int4(real.x, real.y, imag.x, imag.y);
}

}  // namespace PyGPU

#define PYGPU_UNPACK(...) __VA_ARGS__
#define PYGPU_FETCH(name, plain, dimensions, coordinates, values)                 \
  template <class P_T, cudaTextureReadMode P_mode>                                \
  __device__ inline auto name(PyGPU_texture<P_T, dimensions, P_mode> P_reference, \
                              PYGPU_UNPACK coordinates)                           \
      ->decltype(PyGPU::P_number_in(plain(P_reference, PYGPU_UNPACK values))) {   \
    return PyGPU::P_number_in(plain(P_reference, PYGPU_UNPACK values));           \
  }
PYGPU_FETCH(fp_tex1Dfetch, tex1Dfetch, cudaTextureType1D, (int P_x), (P_x))
PYGPU_FETCH(fp_tex1D, tex1D, cudaTextureType1D, (float P_x), (P_x))
PYGPU_FETCH(fp_tex2D, tex2D, cudaTextureType2D, (float P_x, float P_y), (P_x, P_y))
PYGPU_FETCH(fp_tex3D, tex3D, cudaTextureType3D, (float P_x, float P_y, float P_z), (P_x, P_y, P_z))
PYGPU_FETCH(fp_tex1DLayered, tex1DLayered, cudaTextureType1DLayered, (float P_x, int P_layer),
            (P_x, P_layer))
PYGPU_FETCH(fp_tex2DLayered, tex2DLayered, cudaTextureType2DLayered,
            (float P_x, float P_y, int P_layer), (P_x, P_y, P_layer))
#undef PYGPU_FETCH

// x is in elements.
#define PYGPU_READ(name, plain, dimensions, coordinates, values)                       \
  template <class P_T, class P_S>                                                      \
  __device__ inline void name(P_T* P_to, PyGPU_surface<P_S, dimensions> P_reference,   \
                              PYGPU_UNPACK coordinates,                                \
                              cudaSurfaceBoundaryMode P_mode = cudaBoundaryModeTrap) { \
    decltype(PyGPU::P_element_of(*P_to)) P_element;                                    \
    P_x *= static_cast<int>(sizeof P_element);                                         \
    plain(&P_element, P_reference, PYGPU_UNPACK values, P_mode);                       \
    *P_to = PyGPU::P_number_in(P_element);                                             \
  }
#define PYGPU_WRITE(name, plain, dimensions, coordinates, values)                      \
  template <class P_T, class P_S>                                                      \
  __device__ inline void name(P_T P_value, PyGPU_surface<P_S, dimensions> P_reference, \
                              PYGPU_UNPACK coordinates,                                \
                              cudaSurfaceBoundaryMode P_mode = cudaBoundaryModeTrap) { \
    const auto P_element = PyGPU::P_element_of(P_value);                               \
    P_x *= static_cast<int>(sizeof P_element);                                         \
    plain(P_element, P_reference, PYGPU_UNPACK values, P_mode);                        \
  }
PYGPU_READ(fp_surf1Dread, surf1Dread, cudaSurfaceType1D, (int P_x), (P_x))
PYGPU_WRITE(fp_surf1Dwrite, surf1Dwrite, cudaSurfaceType1D, (int P_x), (P_x))
PYGPU_READ(fp_surf2Dread, surf2Dread, cudaSurfaceType2D, (int P_x, int P_y), (P_x, P_y))
PYGPU_WRITE(fp_surf2Dwrite, surf2Dwrite, cudaSurfaceType2D, (int P_x, int P_y), (P_x, P_y))
PYGPU_READ(fp_surf3Dread, surf3Dread, cudaSurfaceType3D, (int P_x, int P_y, int P_z),
           (P_x, P_y, P_z))
PYGPU_WRITE(fp_surf3Dwrite, surf3Dwrite, cudaSurfaceType3D, (int P_x, int P_y, int P_z),
            (P_x, P_y, P_z))
PYGPU_READ(fp_surf1DLayeredread, surf1DLayeredread, cudaSurfaceType1DLayered,
           (int P_x, int P_layer), (P_x, P_layer))
PYGPU_WRITE(fp_surf1DLayeredwrite, surf1DLayeredwrite, cudaSurfaceType1DLayered,
            (int P_x, int P_layer), (P_x, P_layer))
PYGPU_READ(fp_surf2DLayeredread, surf2DLayeredread, cudaSurfaceType2DLayered,
           (int P_x, int P_y, int P_layer), (P_x, P_y, P_layer))
PYGPU_WRITE(fp_surf2DLayeredwrite, surf2DLayeredwrite, cudaSurfaceType2DLayered,
            (int P_x, int P_y, int P_layer), (P_x, P_y, P_layer))
#undef PYGPU_READ
#undef PYGPU_WRITE
#undef PYGPU_UNPACK

}  // extern "C++"
