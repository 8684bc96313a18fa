// Vectorized math functions for loops in PyGPU's own kernels.
//
// The functions come from glibc's libmvec and are within four units in the last place. The C
// library's functions are used instead without libmvec (glibc before 2.35, other processors,
// clang++) and in users' kernels.
#pragma once

#include "intrinsics.h"  // also includes the C library, whose version is tested below
#include "qualifiers.h"

#if defined __GLIBC_PREREQ && defined __x86_64__ && !defined __clang__
#if __GLIBC_PREREQ(2, 35)
#define PYGPU_HAS_LIBMVEC
#endif
#endif

#ifdef PYGPU_HAS_LIBMVEC
// Vector width of the functions in bytes. PyGPU._compile.compilers.processor may set 64. Kernels
// with complex numbers then use the same functions, though their own vectors are shorter.
#if !defined PYGPU_LIBMVEC_BYTES && defined __AVX2__
#define PYGPU_LIBMVEC_BYTES 32
#elif !defined PYGPU_LIBMVEC_BYTES
#define PYGPU_LIBMVEC_BYTES 16
#endif
#if PYGPU_LIBMVEC_BYTES == 64 && !defined __AVX512F__
#define PYGPU_LOOP_BYTES 32
#define PYGPU_LIBMVEC_TARGET __attribute__((target("avx512f")))
#else
#define PYGPU_LOOP_BYTES PYGPU_LIBMVEC_BYTES
#define PYGPU_LIBMVEC_TARGET
#endif

// Name prefixes of libmvec's functions: instruction set, no mask, number of elements.
#if PYGPU_LIBMVEC_BYTES == 64
#define PYGPU_LIBMVEC_float "_ZGVeN16"
#define PYGPU_LIBMVEC_double "_ZGVeN8"
#elif PYGPU_LIBMVEC_BYTES == 32
#define PYGPU_LIBMVEC_float "_ZGVdN8"
#define PYGPU_LIBMVEC_double "_ZGVdN4"
#else
#define PYGPU_LIBMVEC_float "_ZGVbN4"
#define PYGPU_LIBMVEC_double "_ZGVbN2"
#endif
// Name prefixes that the compiler requests: those of the newest instruction set, for shorter
// vectors too.
#if PYGPU_LOOP_BYTES == 32 && defined __AVX512F__
#define PYGPU_LOOP_float "_ZGVeN8"
#define PYGPU_LOOP_double "_ZGVeN4"
#elif PYGPU_LOOP_BYTES == 32
#define PYGPU_LOOP_float "_ZGVdN8"
#define PYGPU_LOOP_double "_ZGVdN4"
#else
#define PYGPU_LOOP_float PYGPU_LIBMVEC_float
#define PYGPU_LOOP_double PYGPU_LIBMVEC_double
#endif

namespace PyGPU {
namespace host {
template <class T, int nbytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(nbytes)));
};
template <class T>
using Loop = typename VectorOf<T, PYGPU_LOOP_BYTES>::type;
template <class T>
using Libmvec = typename VectorOf<T, PYGPU_LIBMVEC_BYTES>::type;

// Fill a libmvec vector from one number or from a shorter vector.
template <class T>
PYGPU_LIBMVEC_TARGET __forceinline__ Libmvec<T> filled(T x) {
  return x - Libmvec<T>{};  // preserves minus zero
}
#if PYGPU_LOOP_BYTES != PYGPU_LIBMVEC_BYTES
template <class T>
PYGPU_LIBMVEC_TARGET __forceinline__ Libmvec<T> filled(Loop<T> x) {
#if __GNUC__ >= 12  // avoids a copy through memory
  const auto words = reinterpret_cast<Loop<double>>(x);
  return reinterpret_cast<Libmvec<T>>(
      __builtin_shufflevector(words, words, 0, 1, 2, 3, 0, 1, 2, 3));
#else
  Libmvec<T> result;
  __builtin_memcpy(&result, &x, sizeof(x));
  __builtin_memcpy(reinterpret_cast<char*>(&result) + sizeof(x), &x, sizeof(x));
  return result;
#endif
}
template <class T>
PYGPU_LIBMVEC_TARGET __forceinline__ Loop<T> first_of(Libmvec<T> x) {
  Loop<T> result;
  __builtin_memcpy(&result, &x, sizeof(result));
  return result;
}
#endif
}  // namespace host
}  // namespace PyGPU

#define PYGPU_PRAGMA(...) _Pragma(#__VA_ARGS__)
// Function that vectorized loops call: libmvec's own, or a wrapper that uses part of its vector.
#if PYGPU_LOOP_BYTES == PYGPU_LIBMVEC_BYTES
#define PYGPU_VECTOR_FUNCTION(name, T, symbol, letters, parameters, arguments) \
  __asm__(".set " PYGPU_LOOP_##T letters "P_loop_" symbol ", " PYGPU_LIBMVEC_##T letters symbol);
#else
#define PYGPU_VECTOR_FUNCTION(name, T, symbol, letters, parameters, arguments)                     \
  PYGPU_LIBMVEC_TARGET __attribute__((used)) static PyGPU::host::Loop<T> P_loop_##name parameters( \
      PyGPU::host::Loop<T>) __asm__(PYGPU_LOOP_##T letters "P_loop_" symbol);                      \
  static PyGPU::host::Loop<T> P_loop_##name parameters(PyGPU::host::Loop<T>) {                     \
    return PyGPU::host::first_of<T>(P_libmvec_##name arguments(PyGPU::host::filled<T>));           \
  }
#endif
// Define P_<name> for T, with libmvec's `symbol` as its vector function.
//
// The scalar function handles the remainder of a loop and loops that are not vectorized. It calls
// libmvec too, so that a number has the same result at every position of an array. It is defined
// under another name, because the compiler would otherwise vectorize its body.
#define PYGPU_LOOP_FUNCTION(name, T, symbol, letters, parameters, arguments)            \
  PyGPU::host::Libmvec<T> P_libmvec_##name parameters(PyGPU::host::Libmvec<T>) __asm__( \
      PYGPU_LIBMVEC_##T letters symbol);                                                \
  PYGPU_LIBMVEC_TARGET                                                                  \
  __attribute__((used)) static T P_one_##name parameters(T) __asm__("P_one_" symbol);   \
  static T P_one_##name parameters(T) {                                                 \
    return P_libmvec_##name arguments(PyGPU::host::filled<T>)[0];                       \
  }                                                                                     \
  PYGPU_PRAGMA(omp declare simd notinbranch simdlen(PYGPU_LOOP_BYTES / sizeof(T)))      \
  __attribute__((const, nothrow)) T P_##name parameters(T) __asm__("P_loop_" symbol);   \
  __asm__(".set P_loop_" symbol ", P_one_" symbol);                                     \
  PYGPU_VECTOR_FUNCTION(name, T, symbol, letters, parameters, arguments)

#define PYGPU_A(T) (T a)
#define PYGPU_OF_A(f) (f(a))
#define PYGPU_LOOP_OF_ONE(name)                                          \
  PYGPU_LOOP_FUNCTION(name, float, #name "f", "v_", PYGPU_A, PYGPU_OF_A) \
  PYGPU_LOOP_FUNCTION(name, double, #name, "v_", PYGPU_A, PYGPU_OF_A)
// The float function computes in double, for accuracy in the last digit. P_half_<name> uses
// libmvec's float function, for halves.
#define PYGPU_LOOP_BY_DOUBLE(name)                                    \
  PYGPU_LOOP_FUNCTION(name, double, #name, "v_", PYGPU_A, PYGPU_OF_A) \
  __forceinline__ float P_##name(float a) { return float(P_##name(double(a))); }
#define PYGPU_LOOP_OF_HALF(name) \
  PYGPU_LOOP_FUNCTION(half_##name, float, #name "f", "v_", PYGPU_A, PYGPU_OF_A)
#define PYGPU_A_B(T) (T a, T b)
#define PYGPU_OF_A_B(f) (f(a), f(b))
#define PYGPU_LOOP_OF_TWO(name)                                               \
  PYGPU_LOOP_FUNCTION(name, float, #name "f", "vv_", PYGPU_A_B, PYGPU_OF_A_B) \
  PYGPU_LOOP_FUNCTION(name, double, #name, "vv_", PYGPU_A_B, PYGPU_OF_A_B)
#endif

// Integer division through a floating-point type with more bits. The quotient is never rounded up
// to the next integer, so truncation is exact. The divisor must not be 0 or -1.
__forceinline__ int P_quotient(int a, int b) { return int(double(a) / double(b)); }
__forceinline__ unsigned P_quotient(unsigned a, unsigned b) {
  return unsigned(static_cast<long long>(double(a) / double(b)));
}
