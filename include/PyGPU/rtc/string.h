// Memory and string functions that run-time compilers lack; memcpy and memset are built in.
#pragma once

#include "stddef.h"

extern "C++" {
__device__ inline size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length]) ++length;
  return length;
}
__device__ inline int strcmp(const char* left, const char* right) {
  for (; *left && *left == *right; ++left) ++right;
  return static_cast<unsigned char>(*left) - static_cast<unsigned char>(*right);
}
__device__ inline int strncmp(const char* left, const char* right, size_t count) {
  for (; count && *left && *left == *right; ++left, --count) ++right;
  return count ? static_cast<unsigned char>(*left) - static_cast<unsigned char>(*right) : 0;
}
__device__ inline char* strcpy(char* target, const char* source) {
  for (size_t i = 0; (target[i] = source[i]) != 0; ++i) {
  }
  return target;
}
__device__ inline int memcmp(const void* left, const void* right, size_t count) {
  const unsigned char* a = static_cast<const unsigned char*>(left);
  const unsigned char* b = static_cast<const unsigned char*>(right);
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}
__device__ inline void* memmove(void* target, const void* source, size_t count) {
  unsigned char* to = static_cast<unsigned char*>(target);
  const unsigned char* from = static_cast<const unsigned char*>(source);
  if (to < from) {
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
  } else {
    while (count--) to[count] = from[count];
  }
  return target;
}
}
