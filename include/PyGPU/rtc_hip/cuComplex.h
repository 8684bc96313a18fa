// CUDA's C complex numbers: float2 and double2 with functions for their arithmetic.
#pragma once

extern "C++" {

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define PYGPU_C_COMPLEX(type, part, suffix, make)                                        \
  __device__ inline type make_##make(part re, part im) {                                 \
    type z;                                                                              \
    z.x = re;                                                                            \
    z.y = im;                                                                            \
    return z;                                                                            \
  }                                                                                      \
  __device__ inline part cuCreal##suffix(type z) { return z.x; }                         \
  __device__ inline part cuCimag##suffix(type z) { return z.y; }                         \
  __device__ inline type cuConj##suffix(type z) { return make_##make(z.x, -z.y); }       \
  __device__ inline type cuCadd##suffix(type a, type b) {                                \
    return make_##make(a.x + b.x, a.y + b.y);                                            \
  }                                                                                      \
  __device__ inline type cuCsub##suffix(type a, type b) {                                \
    return make_##make(a.x - b.x, a.y - b.y);                                            \
  }                                                                                      \
  __device__ inline type cuCmul##suffix(type a, type b) {                                \
    return make_##make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                    \
  }                                                                                      \
  __device__ inline type cuCfma##suffix(type a, type b, type c) {                        \
    return make_##make(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);        \
  }                                                                                      \
  __device__ inline part cuCabs##suffix(type z) { return hypot(part(z.x), part(z.y)); }  \
  /* Scaled by the divisor's size, so that its square neither overflows nor vanishes. */ \
  __device__ inline type cuCdiv##suffix(type a, type b) {                                \
    const part scale = 1 / (fabs(part(b.x)) + fabs(part(b.y)));                          \
    const part ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;   \
    const part over = 1 / (bx * bx + by * by);                                           \
    return make_##make((ax * bx + ay * by) * over, (ay * bx - ax * by) * over);          \
  }
PYGPU_C_COMPLEX(cuFloatComplex, float, f, cuFloatComplex)
PYGPU_C_COMPLEX(cuDoubleComplex, double, , cuDoubleComplex)
#undef PYGPU_C_COMPLEX

__device__ inline cuComplex make_cuComplex(float re, float im) {
  return make_cuFloatComplex(re, im);
}
__device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return make_cuDoubleComplex(z.x, z.y);
}
__device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex(static_cast<float>(z.x), static_cast<float>(z.y));
}
}
