// CUDA's C complex numbers for targets without its toolkit: float2 and double2 with functions for
// their arithmetic. The targets' headers of this name define PYGPU_OVER(a, b), the quotient of two
// parts.
#pragma once

extern "C++" {

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define PYGPU_C_COMPLEX(type, part, suffix)                                                     \
  __device__ inline type make_##type(part P_re, part P_im) {                                    \
    type P_z;                                                                                   \
    P_z.x = P_re;                                                                               \
    P_z.y = P_im;                                                                               \
    return P_z;                                                                                 \
  }                                                                                             \
  __device__ inline part cuCreal##suffix(type P_z) { return P_z.x; }                            \
  __device__ inline part cuCimag##suffix(type P_z) { return P_z.y; }                            \
  __device__ inline type cuConj##suffix(type P_z) { return make_##type(P_z.x, -P_z.y); }        \
  __device__ inline type cuCadd##suffix(type P_a, type P_b) {                                   \
    return make_##type(P_a.x + P_b.x, P_a.y + P_b.y);                                           \
  }                                                                                             \
  __device__ inline type cuCsub##suffix(type P_a, type P_b) {                                   \
    return make_##type(P_a.x - P_b.x, P_a.y - P_b.y);                                           \
  }                                                                                             \
  __device__ inline type cuCmul##suffix(type P_a, type P_b) {                                   \
    return make_##type(P_a.x * P_b.x - P_a.y * P_b.y, P_a.x * P_b.y + P_a.y * P_b.x);           \
  }                                                                                             \
  __device__ inline type cuCfma##suffix(type P_a, type P_b, type P_c) {                         \
    return make_##type(P_a.x * P_b.x - P_a.y * P_b.y + P_c.x,                                   \
                       P_a.x * P_b.y + P_a.y * P_b.x + P_c.y);                                  \
  }                                                                                             \
  __device__ inline part cuCabs##suffix(type P_z) { return ::hypot(part(P_z.x), part(P_z.y)); } \
  /* Scaled by the divisor's size, so that its square neither overflows nor vanishes. */        \
  __device__ inline type cuCdiv##suffix(type P_a, type P_b) {                                   \
    const part P_size = ::fabs(part(P_b.x)) + ::fabs(part(P_b.y));                              \
    const part P_ax = PYGPU_OVER(P_a.x, P_size), P_ay = PYGPU_OVER(P_a.y, P_size),              \
               P_bx = PYGPU_OVER(P_b.x, P_size), P_by = PYGPU_OVER(P_b.y, P_size);              \
    const part P_square = P_bx * P_bx + P_by * P_by;                                            \
    return make_##type(PYGPU_OVER(P_ax * P_bx + P_ay * P_by, P_square),                         \
                       PYGPU_OVER(P_ay * P_bx - P_ax * P_by, P_square));                        \
  }
PYGPU_C_COMPLEX(cuFloatComplex, float, f)
PYGPU_C_COMPLEX(cuDoubleComplex, double, )
#undef PYGPU_C_COMPLEX

__device__ inline cuComplex make_cuComplex(float P_re, float P_im) {
  return make_cuFloatComplex(P_re, P_im);
}
__device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex P_z) {
  return make_cuDoubleComplex(P_z.x, P_z.y);
}
__device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex P_z) {
  return make_cuFloatComplex(static_cast<float>(P_z.x), static_cast<float>(P_z.y));
}
}
