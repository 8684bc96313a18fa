// CUDA's header of this name, for kernels on the `host` target: complex numbers as pairs.
#pragma once

#include "../../cuda_on_host.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Quotients are scaled by the divisor's size, so that no square overflows on the way.
#define PYGPU_COMPLEX(C, T, name, f)                                                  \
  inline C make_cu##name##Complex(T P_x, T P_y) { return C{P_x, P_y}; }               \
  inline T cuCreal##f(C P_z) { return P_z.x; }                                        \
  inline T cuCimag##f(C P_z) { return P_z.y; }                                        \
  inline C cuConj##f(C P_z) { return C{P_z.x, -P_z.y}; }                              \
  inline C cuCadd##f(C P_a, C P_b) { return C{P_a.x + P_b.x, P_a.y + P_b.y}; }        \
  inline C cuCsub##f(C P_a, C P_b) { return C{P_a.x - P_b.x, P_a.y - P_b.y}; }        \
  inline C cuCmul##f(C P_a, C P_b) {                                                  \
    return C{P_a.x * P_b.x - P_a.y * P_b.y, P_a.x * P_b.y + P_a.y * P_b.x};           \
  }                                                                                   \
  inline C cuCdiv##f(C P_a, C P_b) {                                                  \
    const T P_size = ::fabs(P_b.x) + ::fabs(P_b.y);                                   \
    const C P_p{P_a.x / P_size, P_a.y / P_size}, P_q{P_b.x / P_size, P_b.y / P_size}; \
    const T P_square = P_q.x * P_q.x + P_q.y * P_q.y;                                 \
    return C{(P_p.x * P_q.x + P_p.y * P_q.y) / P_square,                              \
             (P_p.y * P_q.x - P_p.x * P_q.y) / P_square};                             \
  }                                                                                   \
  inline T cuCabs##f(C P_z) { return ::hypot(P_z.x, P_z.y); }                         \
  inline C cuCfma##f(C P_a, C P_b, C P_c) { return cuCadd##f(cuCmul##f(P_a, P_b), P_c); }
PYGPU_COMPLEX(cuFloatComplex, float, Float, f)
PYGPU_COMPLEX(cuDoubleComplex, double, Double, )
#undef PYGPU_COMPLEX

inline cuComplex make_cuComplex(float P_x, float P_y) { return cuComplex{P_x, P_y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex P_z) {
  return cuDoubleComplex{P_z.x, P_z.y};
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex P_z) {
  return cuFloatComplex{float(P_z.x), float(P_z.y)};
}
