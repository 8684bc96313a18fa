// CUDA's vector types, char1 to double4, and their make_ functions.
#pragma once

#include "../vendor/host.h"

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;

// Alignments are those of CUDA: vectors of 2 and 4 elements are loaded by accesses of up to 16
// bytes.
#define PYGPU_VECTORS(T, name, align2, align4) \
  struct name##1 {                             \
    T x;                                       \
  };                                           \
  struct alignas(align2) name##2 {             \
    T x, y;                                    \
  };                                           \
  struct name##3 {                             \
    T x, y, z;                                 \
  };                                           \
  struct alignas(align4) name##4 {             \
    T x, y, z, w;                              \
  };                                           \
  PYGPU_MAKE_VECTORS(T, name)
#define PYGPU_MAKE_VECTORS(T, name)                                             \
  constexpr name##1 make_##name##1(T x) { return name##1 {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return name##2 {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return name##3 {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4 {x, y, z, w}; }

PYGPU_VECTORS(signed char, char, 2, 4)
PYGPU_VECTORS(unsigned char, uchar, 2, 4)
PYGPU_VECTORS(short, short, 4, 8)
PYGPU_VECTORS(unsigned short, ushort, 4, 8)
PYGPU_VECTORS(int, int, 8, 16)
PYGPU_VECTORS(long, long, 2 * sizeof(long), 16)
PYGPU_VECTORS(unsigned long, ulong, 2 * sizeof(long), 16)
PYGPU_VECTORS(long long, longlong, 16, 16)
PYGPU_VECTORS(unsigned long long, ulonglong, 16, 16)
PYGPU_VECTORS(float, float, 8, 16)
PYGPU_VECTORS(double, double, 16, 16)

struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {  // uint3 is declared in vendor/host.h
  unsigned x, y, z, w;
};
PYGPU_MAKE_VECTORS(unsigned, uint)

// Vector types of CUDA 13 whose names state their alignment.
#define PYGPU_ALIGNED_VECTOR(T, name, align) \
  struct alignas(align) name {               \
    T x, y, z, w;                            \
  };                                         \
  constexpr name make_##name(T x, T y, T z, T w) { return name{x, y, z, w}; }
#define PYGPU_ALIGNED_VECTORS(T, name)     \
  PYGPU_ALIGNED_VECTOR(T, name##4_16a, 16) \
  PYGPU_ALIGNED_VECTOR(T, name##4_32a, 32)
PYGPU_ALIGNED_VECTORS(long, long)
PYGPU_ALIGNED_VECTORS(unsigned long, ulong)
PYGPU_ALIGNED_VECTORS(long long, longlong)
PYGPU_ALIGNED_VECTORS(unsigned long long, ulonglong)
PYGPU_ALIGNED_VECTORS(double, double)
#undef PYGPU_ALIGNED_VECTORS
#undef PYGPU_ALIGNED_VECTOR
#undef PYGPU_VECTORS
#undef PYGPU_MAKE_VECTORS
