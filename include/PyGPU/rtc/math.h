// Constants of math.h, and nvcc's pow of mixed types; the functions are built into the compiler.
#pragma once

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

// Infinity and NaN as constant expressions. A literal out of range is an error, and NVRTC before
// CUDA 12.3 has no __builtin_bit_cast, but folds the quotients.
#ifdef __has_builtin
#if __has_builtin(__builtin_bit_cast)
#define PYGPU_INFINITY __builtin_bit_cast(float, 0x7f800000)
#define PYGPU_NAN __builtin_bit_cast(float, 0x7fc00000)
#endif
#endif
#ifndef PYGPU_INFINITY
#define PYGPU_INFINITY (1.0f / 0.0f)
#define PYGPU_NAN (-(0.0f / 0.0f))  // x86 processors set the sign of the quotient
#endif
#ifndef INFINITY
#define INFINITY PYGPU_INFINITY
#endif
#ifndef NAN
#define NAN PYGPU_NAN
#endif
#define HUGE_VALF PYGPU_INFINITY
#define HUGE_VAL static_cast<double>(PYGPU_INFINITY)
#define HUGE_VALL HUGE_VAL
#define MAXFLOAT 3.40282347e+38F

#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)

typedef float float_t;
typedef double double_t;

#ifdef __CUDACC_RTC__
// Under nvcc, pow accepts any two arithmetic types; here unequal types would be ambiguous.
extern "C++" {
template <bool>
struct PyGPUDouble {};
template <>
struct PyGPUDouble<true> {
  typedef double type;
};
template <class P_A, class P_B>
__device__ __forceinline__
    typename PyGPUDouble<!__is_class(P_A) && !__is_class(P_B) && __is_convertible_to(P_A, double) &&
                         __is_convertible_to(P_B, double)>::type
    pow(P_A P_base, P_B P_exponent) {
  return pow(static_cast<double>(P_base), static_cast<double>(P_exponent));
}

// NVRTC before CUDA 12.2 declares these two, and calls functions that it does not have.
#if __CUDACC_VER_MAJOR__ < 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 2)
__device__ __forceinline__ float pow(float P_base, int P_exponent) {
  return powf(P_base, static_cast<float>(P_exponent));
}
__device__ __forceinline__ double pow(double P_base, int P_exponent) {
  return pow(P_base, static_cast<double>(P_exponent));
}
#endif
}
#endif
