// CUDA's half-precision numbers (__half) and pairs of them (__half2).
#pragma once

#include "float16_formats.h"
#include "vector_types.h"

namespace PyGPU {
namespace host {

// Conversion of rows between half and float, for PyGPU's own kernels. The code uses the processor's
// vector conversions explicitly, because compilers do not select them.
#define PYGPU_HALF_ROWS
#if defined __AVX512F__ && PYGPU_LIBMVEC_BYTES == 64
typedef short Halves __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(64)));
inline Floats widened(Halves x) { return __builtin_ia32_vcvtph2ps512_mask(x, Floats{}, -1, 4); }
inline Halves narrowed(Floats x) { return __builtin_ia32_vcvtps2ph512_mask(x, 0, Halves{}, -1); }
#elif defined __F16C__
typedef short Halves __attribute__((vector_size(16)));
typedef float Floats __attribute__((vector_size(32)));
inline Floats widened(Halves x) { return __builtin_ia32_vcvtph2ps256(x); }
inline Halves narrowed(Floats x) { return __builtin_ia32_vcvtps2ph256(x, 0); }
#endif
inline void P_widen(float* to, const void* from, long long count) {
  const auto* const halves = static_cast<const unsigned short*>(from);
  long long i = 0;
#ifdef __F16C__
  constexpr long long many = sizeof(Halves) / sizeof(short);
  for (; i + many <= count; i += many) {
    Halves some;
    __builtin_memcpy(&some, halves + i, sizeof some);
    const Floats made = widened(some);
    __builtin_memcpy(to + i, &made, sizeof made);
  }
#endif
  for (; i < count; ++i) to[i] = Half::widen(halves[i]);
}
inline void P_narrow(void* to, const float* from, long long count) {
  auto* const halves = static_cast<unsigned short*>(to);
  long long i = 0;
#ifdef __F16C__
  constexpr long long many = sizeof(Halves) / sizeof(short);
  for (; i + many <= count; i += many) {
    Floats some;
    __builtin_memcpy(&some, from + i, sizeof some);
    const Halves made = narrowed(some);
    __builtin_memcpy(halves + i, &made, sizeof made);
  }
#endif
  for (; i < count; ++i) halves[i] = Half::narrow(from[i]);
}

}  // namespace host
}  // namespace PyGPU

#define PYGPU_F16 __half
#define PYGPU_F16X2 __half2
#define PYGPU_F16_RAW __half_raw
#define PYGPU_F16X2_RAW __half2_raw
#define PYGPU_F16_NAME(before, after) before##half##after
#define PYGPU_F16_FORMAT PyGPU::host::Half
#define PYGPU_F16_INFINITY 0x7c00u
#ifdef __CUDA_NO_HALF_OPERATORS__
#define PYGPU_F16_OPERATORS 0
#else
#define PYGPU_F16_OPERATORS 1
#endif
#ifdef __CUDA_NO_HALF2_OPERATORS__
#define PYGPU_F16X2_OPERATORS 0
#else
#define PYGPU_F16X2_OPERATORS 1
#endif
#include "float16.h"

using __nv_half = __half;
using __nv_half_raw = __half_raw;
using __nv_half2 = __half2;
using __nv_half2_raw = __half2_raw;
inline __half2 __half2half2(__half h) { return __half2(h, h); }
