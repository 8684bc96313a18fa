// CUDA's warp functions with a mask, on wavefronts, by HIP's functions without one, which act on
// all active lanes.
//
// A mask that names a part of a wavefront is ignored: lanes of one branch run together anyway. The
// width of a shuffle is CUDA's 32 unless the caller says otherwise, so that reductions written for
// 32 lanes stay within their half of a wavefront of 64.
#pragma once

extern "C++" {

#if HIP_VERSION_MAJOR < 7  // 7 has functions of its own, with 64-bit masks
#define PYGPU_SHUFFLE(name, function, type)                                          \
  template <class T>                                                                 \
  __device__ inline T name(unsigned long long, T value, type lane, int width = 32) { \
    return function(value, lane, width);                                             \
  }
PYGPU_SHUFFLE(__shfl_sync, __shfl, int)
PYGPU_SHUFFLE(__shfl_up_sync, __shfl_up, unsigned)
PYGPU_SHUFFLE(__shfl_down_sync, __shfl_down, unsigned)
PYGPU_SHUFFLE(__shfl_xor_sync, __shfl_xor, int)
#undef PYGPU_SHUFFLE

__device__ inline unsigned long long pygpu_lanes_of_mask(unsigned long long mask) {
  // A full CUDA mask means every lane, also where there are 64.
  return mask == 0xffffffffull ? ~0ull : mask;
}
__device__ inline unsigned long long __ballot_sync(unsigned long long mask, int predicate) {
  return __ballot(predicate) & pygpu_lanes_of_mask(mask);
}
__device__ inline int __any_sync(unsigned long long mask, int predicate) {
  return (__ballot(predicate) & pygpu_lanes_of_mask(mask)) != 0;
}
__device__ inline int __all_sync(unsigned long long mask, int predicate) {
  return (__ballot(!predicate) & pygpu_lanes_of_mask(mask)) == 0;
}
__device__ inline unsigned long long __activemask() { return __ballot(1); }

// The lanes run in lockstep; only the order of memory accesses has to be kept.
__device__ inline void __syncwarp(unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

// One round for each distinct value: the first remaining lane broadcasts its value, and the lanes
// that have the same take it.
template <class T>
__device__ inline unsigned long long __match_any_sync(unsigned long long, T value) {
  unsigned long long same = 0;
  for (bool is_open = true; is_open;) {
    const int leader = __ffsll(__ballot(1)) - 1;
    if (value == __shfl(value, leader)) {
      same = __ballot(1);
      is_open = false;
    }
  }
  return same;
}
#endif

#define PYGPU_REDUCE(name, type, expression)                    \
  __device__ inline type name(unsigned long long, type value) { \
    for (int distance = 16; distance > 0; distance /= 2) {      \
      const type other = __shfl_xor(value, distance, 32);       \
      value = expression;                                       \
    }                                                           \
    return value;                                               \
  }
#if HIP_VERSION_MAJOR < 7
PYGPU_REDUCE(__reduce_add_sync, int, value + other)
PYGPU_REDUCE(__reduce_add_sync, unsigned, value + other)
PYGPU_REDUCE(__reduce_min_sync, int, value < other ? value : other)
PYGPU_REDUCE(__reduce_min_sync, unsigned, value < other ? value : other)
PYGPU_REDUCE(__reduce_max_sync, int, value < other ? other : value)
PYGPU_REDUCE(__reduce_max_sync, unsigned, value < other ? other : value)
PYGPU_REDUCE(__reduce_and_sync, unsigned, value& other)
PYGPU_REDUCE(__reduce_or_sync, unsigned, value | other)
PYGPU_REDUCE(__reduce_xor_sync, unsigned, value ^ other)
#endif
#undef PYGPU_REDUCE
}
