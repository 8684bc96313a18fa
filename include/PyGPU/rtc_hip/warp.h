// CUDA's warp functions with a mask, on wavefronts, by HIP's functions without one, which act on
// all active lanes.
//
// A mask that names a part of a wavefront is ignored: lanes of one branch run together anyway. The
// width of a shuffle is CUDA's 32 unless the caller says otherwise, so that reductions written for
// 32 lanes stay within their half of a wavefront of 64.
#pragma once

extern "C++" {

#if HIP_VERSION_MAJOR < 7  // 7 has functions of its own, with 64-bit masks
#define PYGPU_SHUFFLE(name, function, type)                                                    \
  template <class P_T>                                                                         \
  __device__ inline P_T name(unsigned long long, P_T P_value, type P_lane, int P_width = 32) { \
    return function(P_value, P_lane, P_width);                                                 \
  }
PYGPU_SHUFFLE(__shfl_sync, __shfl, int)
PYGPU_SHUFFLE(__shfl_up_sync, __shfl_up, unsigned)
PYGPU_SHUFFLE(__shfl_down_sync, __shfl_down, unsigned)
PYGPU_SHUFFLE(__shfl_xor_sync, __shfl_xor, int)
#undef PYGPU_SHUFFLE

__device__ inline unsigned long long pygpu_lanes_of_mask(unsigned long long P_mask) {
  // A full CUDA mask means every lane, also where there are 64.
  return P_mask == 0xffffffffull ? ~0ull : P_mask;
}
__device__ inline unsigned long long __ballot_sync(unsigned long long P_mask, int P_predicate) {
  return __ballot(P_predicate) & pygpu_lanes_of_mask(P_mask);
}
__device__ inline int __any_sync(unsigned long long P_mask, int P_predicate) {
  return (__ballot(P_predicate) & pygpu_lanes_of_mask(P_mask)) != 0;
}
__device__ inline int __all_sync(unsigned long long P_mask, int P_predicate) {
  return (__ballot(!P_predicate) & pygpu_lanes_of_mask(P_mask)) == 0;
}
__device__ inline unsigned long long __activemask() { return __ballot(1); }

// The lanes run in lockstep; only the order of memory accesses has to be kept.
__device__ inline void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

// One round for each distinct value: the first remaining lane broadcasts its value, and the lanes
// that have the same take it.
template <class P_T>
__device__ inline unsigned long long __match_any_sync(unsigned long long, P_T P_value) {
  unsigned long long P_same = 0;
  for (bool P_is_open = true; P_is_open;) {
    const int P_leader = __ffsll(__ballot(1)) - 1;
    if (P_value == __shfl(P_value, P_leader)) {
      P_same = __ballot(1);
      P_is_open = false;
    }
  }
  return P_same;
}
#endif

#define PYGPU_REDUCE(name, type, expression)                      \
  __device__ inline type name(unsigned long long, type P_value) { \
    for (int P_distance = 16; P_distance > 0; P_distance /= 2) {  \
      const type P_other = __shfl_xor(P_value, P_distance, 32);   \
      P_value = expression;                                       \
    }                                                             \
    return P_value;                                               \
  }
#if HIP_VERSION_MAJOR < 7
PYGPU_REDUCE(__reduce_add_sync, int, P_value + P_other)
PYGPU_REDUCE(__reduce_add_sync, unsigned, P_value + P_other)
PYGPU_REDUCE(__reduce_min_sync, int, P_value < P_other ? P_value : P_other)
PYGPU_REDUCE(__reduce_min_sync, unsigned, P_value < P_other ? P_value : P_other)
PYGPU_REDUCE(__reduce_max_sync, int, P_value < P_other ? P_other : P_value)
PYGPU_REDUCE(__reduce_max_sync, unsigned, P_value < P_other ? P_other : P_value)
PYGPU_REDUCE(__reduce_and_sync, unsigned, P_value& P_other)
PYGPU_REDUCE(__reduce_or_sync, unsigned, P_value | P_other)
PYGPU_REDUCE(__reduce_xor_sync, unsigned, P_value ^ P_other)
#endif
#undef PYGPU_REDUCE
}
