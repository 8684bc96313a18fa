// <string.h> for run-time compilers, which have only memcpy and memset built in.
#pragma once

#include "stddef.h"

extern "C++" {
__device__ inline size_t strlen(const char* P_text) {
  size_t P_length = 0;
  while (P_text[P_length]) ++P_length;
  return P_length;
}
__device__ inline int strcmp(const char* P_left, const char* P_right) {
  for (; *P_left && *P_left == *P_right; ++P_left) ++P_right;
  return static_cast<unsigned char>(*P_left) - static_cast<unsigned char>(*P_right);
}
__device__ inline int strncmp(const char* P_left, const char* P_right, size_t P_count) {
  for (; P_count && *P_left && *P_left == *P_right; ++P_left, --P_count) ++P_right;
  return P_count ? static_cast<unsigned char>(*P_left) - static_cast<unsigned char>(*P_right) : 0;
}
__device__ inline char* strcpy(char* P_target, const char* P_source) {
  for (size_t P_i = 0; (P_target[P_i] = P_source[P_i]) != 0; ++P_i) {
  }
  return P_target;
}
__device__ inline int memcmp(const void* P_left, const void* P_right, size_t P_count) {
  const unsigned char* P_a = static_cast<const unsigned char*>(P_left);
  const unsigned char* P_b = static_cast<const unsigned char*>(P_right);
  for (size_t P_i = 0; P_i < P_count; ++P_i) {
    if (P_a[P_i] != P_b[P_i]) return P_a[P_i] - P_b[P_i];
  }
  return 0;
}
__device__ inline void* memmove(void* P_target, const void* P_source, size_t P_count) {
  unsigned char* P_to = static_cast<unsigned char*>(P_target);
  const unsigned char* P_from = static_cast<const unsigned char*>(P_source);
  if (P_to < P_from) {
    for (size_t P_i = 0; P_i < P_count; ++P_i) P_to[P_i] = P_from[P_i];
  } else {
    while (P_count--) P_to[P_count] = P_from[P_count];
  }
  return P_target;
}
}
