// CUDA's vector types in C, for C sources of programs that use the `host` target. C++ sources get
// the types from cuda_on_host.h, with the same layout.
#pragma once

#ifndef __align__
#define __align__(nbytes) __attribute__((aligned(nbytes)))
#endif

#define PYGPU_VECTORS(T, name, align2, align4)              \
  typedef struct name##1 {                                  \
    T x;                                                    \
  }                                                         \
  name##1;                                                  \
  typedef struct __attribute__((aligned(align2))) name##2 { \
    T x, y;                                                 \
  }                                                         \
  name##2;                                                  \
  typedef struct name##3 {                                  \
    T x, y, z;                                              \
  }                                                         \
  name##3;                                                  \
  typedef struct __attribute__((aligned(align4))) name##4 { \
    T x, y, z, w;                                           \
  }                                                         \
  name##4

PYGPU_VECTORS(signed char, char, 2, 4);
PYGPU_VECTORS(unsigned char, uchar, 2, 4);
PYGPU_VECTORS(short, short, 4, 8);
PYGPU_VECTORS(unsigned short, ushort, 4, 8);
PYGPU_VECTORS(int, int, 8, 16);
PYGPU_VECTORS(unsigned, uint, 8, 16);
PYGPU_VECTORS(long, long, 2 * sizeof(long), 16);
PYGPU_VECTORS(unsigned long, ulong, 2 * sizeof(long), 16);
PYGPU_VECTORS(long long, longlong, 16, 16);
PYGPU_VECTORS(unsigned long long, ulonglong, 16, 16);
PYGPU_VECTORS(float, float, 8, 16);
PYGPU_VECTORS(double, double, 16, 16);
#undef PYGPU_VECTORS

// C has no constructors: unlike in C++, the members do not default to 1.
typedef struct dim3 {
  unsigned x, y, z;
} dim3;
