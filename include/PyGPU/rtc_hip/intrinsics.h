// Small CUDA intrinsics that HIPRTC lacks: cached loads and stores, traps.
#pragma once

extern "C++" {

// Hints about caches carry no meaning for the result.
#define PYGPU_LOAD(name)                             \
  template <class P_T>                               \
  __device__ inline P_T name(const P_T* P_address) { \
    return *P_address;                               \
  }
PYGPU_LOAD(__ldca)
PYGPU_LOAD(__ldcg)
PYGPU_LOAD(__ldcs)
PYGPU_LOAD(__ldlu)
PYGPU_LOAD(__ldcv)
#undef PYGPU_LOAD
#define PYGPU_STORE(name)                                    \
  template <class P_T, class P_U>                            \
  __device__ inline void name(P_T* P_address, P_U P_value) { \
    *P_address = static_cast<P_T>(P_value);                  \
  }
PYGPU_STORE(__stwb)
PYGPU_STORE(__stcg)
PYGPU_STORE(__stcs)
PYGPU_STORE(__stwt)
#undef PYGPU_STORE

// Macros, because some versions of HIP have a few of these functions.
#define __nanosleep pygpu_nanosleep
#define __trap pygpu_trap
#define __brkpt pygpu_brkpt
#define __prof_trigger pygpu_prof_trigger
__device__ inline void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
__device__ inline void __trap() { __builtin_trap(); }
__device__ inline void __brkpt() { __builtin_trap(); }
__device__ inline void __prof_trigger(int) {}
}
