// Small CUDA intrinsics that HIPRTC lacks: cached loads and stores, dot products, traps.
#pragma once

extern "C++" {

// Hints about caches carry no meaning for the result.
#define PYGPU_LOAD(name)                       \
  template <class T>                           \
  __device__ inline T name(const T* address) { \
    return *address;                           \
  }
PYGPU_LOAD(__ldca)
PYGPU_LOAD(__ldcg)
PYGPU_LOAD(__ldcs)
PYGPU_LOAD(__ldlu)
PYGPU_LOAD(__ldcv)
#undef PYGPU_LOAD
#define PYGPU_STORE(name)                            \
  template <class T, class U>                        \
  __device__ inline void name(T* address, U value) { \
    *address = static_cast<T>(value);                \
  }
PYGPU_STORE(__stwb)
PYGPU_STORE(__stcg)
PYGPU_STORE(__stcs)
PYGPU_STORE(__stwt)
#undef PYGPU_STORE

__device__ inline int __dp4a(int a, int b, int sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<signed char>(a >> shift) * static_cast<signed char>(b >> shift);
  }
  return sum;
}
__device__ inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 255) * (b >> shift & 255);
  return sum;
}

#if HIP_VERSION_MAJOR < 7
__device__ inline void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
__device__ inline void __trap() { __builtin_trap(); }
#endif
__device__ inline void __brkpt() { __builtin_trap(); }
__device__ inline void __prof_trigger(int) {}
}
