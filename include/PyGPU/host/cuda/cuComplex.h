// CUDA's header of this name, for kernels on the `host` target: complex numbers as pairs.
#pragma once

#include "../../cuda_on_host.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Quotients are scaled by the divisor's size, so that no square overflows on the way.
#define PYGPU_COMPLEX(C, T, name, f)                                                       \
  inline C make_cu##name##Complex(T x, T y) { return C{x, y}; }                            \
  inline T cuCreal##f(C z) { return z.x; }                                                 \
  inline T cuCimag##f(C z) { return z.y; }                                                 \
  inline C cuConj##f(C z) { return C{z.x, -z.y}; }                                         \
  inline C cuCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                         \
  inline C cuCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                         \
  inline C cuCmul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  inline C cuCdiv##f(C a, C b) {                                                           \
    const T size = ::fabs(b.x) + ::fabs(b.y);                                              \
    const C p{a.x / size, a.y / size}, q{b.x / size, b.y / size};                          \
    const T square = q.x * q.x + q.y * q.y;                                                \
    return C{(p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square};          \
  }                                                                                        \
  inline T cuCabs##f(C z) { return ::hypot(z.x, z.y); }                                    \
  inline C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
PYGPU_COMPLEX(cuFloatComplex, float, Float, f)
PYGPU_COMPLEX(cuDoubleComplex, double, Double, )
#undef PYGPU_COMPLEX

inline cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return cuDoubleComplex{z.x, z.y};
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return cuFloatComplex{float(z.x), float(z.y)};
}
