// Sums over the lanes of a warp, and over the warps of a block.
#pragma once

// Return the mask of all lanes of a warp.
constexpr unsigned long long P_all_lanes(int P_warp) { return ~0ull >> (64 - P_warp); }

// Return the sum of the values of all lanes up to this one.
template <int P_warp, class P_Value>
__device__ inline P_Value P_sum_to_lane(P_Value P_sum) {
  const int P_lane = threadIdx.x % P_warp;
  for (int P_distance = 1; P_distance < P_warp; P_distance *= 2) {
    const P_Value P_other = __shfl_up_sync(P_all_lanes(P_warp), P_sum, P_distance, P_warp);
    if (P_lane >= P_distance) P_sum += P_other;
  }
  return P_sum;
}

// Return `P_done` and the totals of the warps before this thread's. Add all totals to `P_done`.
template <int P_warp, int P_warps, class P_Total>
__device__ inline long long P_sum_before_warp(const P_Total* P_totals, long long& P_done) {
  const int P_own = threadIdx.x / P_warp;
  long long P_sum = P_done;
  for (int P_i = 0; P_i < P_warps; ++P_i) {
    if (P_i < P_own) P_sum += P_totals[P_i];
    P_done += P_totals[P_i];
  }
  return P_sum;
}
