// CUDA's warp functions with a mask, by HIP's functions without a mask, which act on all active
// lanes of a wavefront.
//
// A mask of some lanes is ignored, because the lanes of a branch run together anyway. The default
// width of a shuffle is CUDA's 32: reductions written for 32 lanes stay within their half of a
// wavefront of 64.
#pragma once

// HIP 6.2 and later define functions with these names, before 7.0 only on request. They reject
// CUDA's 32-bit masks and shuffle over the whole wavefront. The macros replace them.
#define __shfl_sync pygpu_shfl_sync
#define __shfl_up_sync pygpu_shfl_up_sync
#define __shfl_down_sync pygpu_shfl_down_sync
#define __shfl_xor_sync pygpu_shfl_xor_sync
#define __ballot_sync pygpu_ballot_sync
#define __any_sync pygpu_any_sync
#define __all_sync pygpu_all_sync
#define __activemask pygpu_activemask
#define __syncwarp pygpu_syncwarp
#define __match_any_sync pygpu_match_any_sync
#define __match_all_sync pygpu_match_all_sync
#define __reduce_add_sync pygpu_reduce_add_sync
#define __reduce_min_sync pygpu_reduce_min_sync
#define __reduce_max_sync pygpu_reduce_max_sync
#define __reduce_and_sync pygpu_reduce_and_sync
#define __reduce_or_sync pygpu_reduce_or_sync
#define __reduce_xor_sync pygpu_reduce_xor_sync

extern "C++" {

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
  // A full 32-bit mask means every lane, even of a wavefront of 64.
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

// Lanes run in lockstep, so only their memory accesses need to be ordered.
__device__ inline void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

// One round per distinct value: the first remaining lane broadcasts its value, and the lanes that
// hold the same value leave the loop.
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
template <class P_T>
__device__ inline unsigned long long __match_all_sync(unsigned long long, P_T P_value,
                                                      int* P_is_same) {
  const unsigned long long P_active = __ballot(1);
  const int P_leader = __ffsll(P_active) - 1;
  *P_is_same = __ballot(!(P_value == __shfl(P_value, P_leader))) == 0;
  return *P_is_same ? P_active : 0;
}

// Reductions over the active lanes of each 32 lanes: a butterfly if all are active, else lane by
// lane, because a shuffle from an inactive lane has an undefined value.
#define PYGPU_REDUCE(name, type, expression)                                         \
  __device__ inline type name(unsigned long long, type P_value) {                    \
    unsigned P_active = static_cast<unsigned>(__ballot(1) >> (__lane_id() & 32));    \
    if (P_active == 0xffffffffu) {                                                   \
      for (int P_distance = 16; P_distance > 0; P_distance /= 2) {                   \
        const type P_other = __shfl_xor(P_value, P_distance, 32);                    \
        P_value = expression;                                                        \
      }                                                                              \
      return P_value;                                                                \
    }                                                                                \
    const type P_own = P_value;                                                      \
    P_value = __shfl(P_own, __ffs(static_cast<int>(P_active)) - 1, 32);              \
    for (P_active &= P_active - 1; P_active; P_active &= P_active - 1) {             \
      const type P_other = __shfl(P_own, __ffs(static_cast<int>(P_active)) - 1, 32); \
      P_value = expression;                                                          \
    }                                                                                \
    return P_value;                                                                  \
  }
PYGPU_REDUCE(__reduce_add_sync, int, P_value + P_other)
PYGPU_REDUCE(__reduce_add_sync, unsigned, P_value + P_other)
PYGPU_REDUCE(__reduce_min_sync, int, P_value < P_other ? P_value : P_other)
PYGPU_REDUCE(__reduce_min_sync, unsigned, P_value < P_other ? P_value : P_other)
PYGPU_REDUCE(__reduce_max_sync, int, P_value < P_other ? P_other : P_value)
PYGPU_REDUCE(__reduce_max_sync, unsigned, P_value < P_other ? P_other : P_value)
PYGPU_REDUCE(__reduce_and_sync, unsigned, P_value& P_other)
PYGPU_REDUCE(__reduce_or_sync, unsigned, P_value | P_other)
PYGPU_REDUCE(__reduce_xor_sync, unsigned, P_value ^ P_other)
#undef PYGPU_REDUCE
}
