// CUDA's atomics with a scope. A wider scope than requested is correct, only slower.
#pragma once

#define PYGPU_SCOPED(name)                                          \
  template <class P_T, class P_U>                                   \
  __device__ inline P_T name##_block(P_T* P_address, P_U P_value) { \
    return name(P_address, static_cast<P_T>(P_value));              \
  }
extern "C++" {
PYGPU_SCOPED(atomicAdd)
PYGPU_SCOPED(atomicSub)
PYGPU_SCOPED(atomicMin)
PYGPU_SCOPED(atomicMax)
PYGPU_SCOPED(atomicAnd)
PYGPU_SCOPED(atomicOr)
PYGPU_SCOPED(atomicXor)
PYGPU_SCOPED(atomicExch)
#undef PYGPU_SCOPED
template <class P_T, class P_U, class P_V>
__device__ inline P_T atomicCAS_block(P_T* P_address, P_U P_expected, P_V P_value) {
  return atomicCAS(P_address, static_cast<P_T>(P_expected), static_cast<P_T>(P_value));
}
}
