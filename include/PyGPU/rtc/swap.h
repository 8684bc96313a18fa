// std::swap alone, because the rest of <utility> takes longer to compile.
#pragma once

#include "cstddef"

extern "C++" {
namespace std {

template <class T>
__host__ __device__ inline void swap(T& a, T& b) {
  T old = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(old);
}
template <class T, size_t n>
__host__ __device__ inline void swap(T (&a)[n], T (&b)[n]) {
  for (size_t i = 0; i < n; ++i) swap(a[i], b[i]);
}
}  // namespace std
}
