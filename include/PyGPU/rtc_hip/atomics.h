// CUDA's atomics with a scope. A wider scope than requested is correct, only slower.
#pragma once

#define PYGPU_SCOPED(name)                                \
  template <class T, class U>                             \
  __device__ inline T name##_block(T* address, U value) { \
    return name(address, static_cast<T>(value));          \
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
template <class T, class U, class V>
__device__ inline T atomicCAS_block(T* address, U expected, V value) {
  return atomicCAS(address, static_cast<T>(expected), static_cast<T>(value));
}
}
