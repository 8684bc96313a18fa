// std::swap alone, because the rest of <utility> takes longer to compile.
#pragma once

#include "cstddef"

extern "C++" {
namespace std {

template <class P_T>
__host__ __device__ inline void swap(P_T& P_a, P_T& P_b) {
  P_T P_old = static_cast<P_T&&>(P_a);
  P_a = static_cast<P_T&&>(P_b);
  P_b = static_cast<P_T&&>(P_old);
}
template <class P_T, size_t P_n>
__host__ __device__ inline void swap(P_T (&P_a)[P_n], P_T (&P_b)[P_n]) {
  for (size_t P_i = 0; P_i < P_n; ++P_i) swap(P_a[P_i], P_b[P_i]);
}
}  // namespace std
}
