// Functions that loops call with a vector of numbers, for PyGPU's own kernels: those of glibc's
// libmvec, which are within four units in the last place. Without it (glibc before 2.35, other
// processors, clang++), and in users' kernels, they are the C library's.
#pragma once

#include "intrinsics.h"
#include "qualifiers.h"

#if defined __GLIBC_PREREQ && defined __x86_64__ && !defined __clang__
#if __GLIBC_PREREQ(2, 35)
#define PYGPU_HAS_LIBMVEC
#endif
#endif

#ifdef PYGPU_HAS_LIBMVEC
#ifndef PYGPU_VECTOR_BYTES  // 64 is for PyGPU._compile.processor to say
#ifdef __AVX2__
#define PYGPU_VECTOR_BYTES 32
#else
#define PYGPU_VECTOR_BYTES 16
#endif
#endif
// How the names of vector functions begin: the instructions, no mask, how many numbers.
#if PYGPU_VECTOR_BYTES == 64
#define PYGPU_LIBMVEC_float "_ZGVeN16"
#define PYGPU_LIBMVEC_double "_ZGVeN8"
#elif PYGPU_VECTOR_BYTES == 32
#define PYGPU_LIBMVEC_float "_ZGVdN8"
#define PYGPU_LIBMVEC_double "_ZGVdN4"
#else
#define PYGPU_LIBMVEC_float "_ZGVbN4"
#define PYGPU_LIBMVEC_double "_ZGVbN2"
#endif
// The compiler asks for the newest instructions' for shorter vectors too.
#if PYGPU_VECTOR_BYTES == 32 && defined __AVX512F__
#define PYGPU_ASKED_float "_ZGVeN8"
#define PYGPU_ASKED_double "_ZGVeN4"
#else
#define PYGPU_ASKED_float PYGPU_LIBMVEC_float
#define PYGPU_ASKED_double PYGPU_LIBMVEC_double
#endif

namespace PyGPU {
namespace host {
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(PYGPU_VECTOR_BYTES)));
};
template <class T>
__forceinline__ typename VectorOf<T>::type all_of(T x) {
  return x - typename VectorOf<T>::type{};  // minus zero stays
}
}  // namespace host
}  // namespace PyGPU

#define PYGPU_PRAGMA(...) _Pragma(#__VA_ARGS__)
// P_<name> of a T, whose vector function is libmvec's `symbol`. The function of one number, which
// is for what is left of a loop and for those that are not made vectors of, calls that as well: a
// number has one result wherever it lies. It is defined by another name, or else the compiler would
// make vectors of its body.
#define PYGPU_LOOP_FUNCTION(name, T, symbol, letters, numbers, vectors, all)                       \
  PyGPU::host::VectorOf<T>::type P_libmvec_##name vectors __asm__(                                 \
      PYGPU_LIBMVEC_##T letters symbol);                                                           \
  __attribute__((used)) static T P_one_##name numbers __asm__("P_one_" symbol);                    \
  static T P_one_##name numbers { return P_libmvec_##name all[0]; }                                \
  PYGPU_PRAGMA(omp declare simd notinbranch simdlen(sizeof(PyGPU::host::all_of(T())) / sizeof(T))) \
  __attribute__((const, nothrow)) T P_##name numbers __asm__("P_loop_" symbol);                    \
  __asm__(".set P_loop_" symbol ", P_one_" symbol);                                                \
  __asm__(".set " PYGPU_ASKED_##T letters "P_loop_" symbol ", " PYGPU_LIBMVEC_##T letters symbol);
#define PYGPU_LOOP_FUNCTION_OF_ONE(name, T, symbol)                                     \
  PYGPU_LOOP_FUNCTION(name, T, symbol, "v_", (T a), (PyGPU::host::VectorOf<T>::type a), \
                      (PyGPU::host::all_of(a)))
#define PYGPU_LOOP_FUNCTION_OF_TWO(name, T, symbol)                                         \
  PYGPU_LOOP_FUNCTION(name, T, symbol, "vv_", (T a, T b),                                   \
                      (PyGPU::host::VectorOf<T>::type a, PyGPU::host::VectorOf<T>::type b), \
                      (PyGPU::host::all_of(a), PyGPU::host::all_of(b)))
#define PYGPU_LOOP_OF_ONE(name)                      \
  PYGPU_LOOP_FUNCTION_OF_ONE(name, float, #name "f") \
  PYGPU_LOOP_FUNCTION_OF_ONE(name, double, #name)
#define PYGPU_LOOP_OF_TWO(name)                      \
  PYGPU_LOOP_FUNCTION_OF_TWO(name, float, #name "f") \
  PYGPU_LOOP_FUNCTION_OF_TWO(name, double, #name)
#endif

// Of integers, by a division of more bits than they have: it is never rounded up to the next whole
// number, so that cutting it off is right. The divisor is neither 0 nor -1.
__forceinline__ int P_quotient(int a, int b) { return int(double(a) / double(b)); }
__forceinline__ unsigned P_quotient(unsigned a, unsigned b) {
  return unsigned(static_cast<long long>(double(a) / double(b)));
}
