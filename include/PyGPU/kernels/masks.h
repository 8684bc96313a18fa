// Items at the true elements of a small mask, by one block. Lanes of a warp count by a vote, and
// warps through shared memory. PyGPU/_kernels/text/compaction.py writes the kernels.
#pragma once

#include <PyGPU/kernels/warps.h>

namespace PyGPU {
namespace kernels {

template <int warp, int threads>
struct MaskBlock {
  static constexpr int warps = threads / warp;

  // Return the number of chosen items before this thread's item. `done` counts all chosen items.
  __device__ static long long place(bool is_chosen, int* totals, long long& done) {
    const int lane = threadIdx.x % warp;
    const unsigned long long votes = __ballot_sync(P_all_lanes(warp), is_chosen);
    if (lane == 0) totals[threadIdx.x / warp] = __popcll(votes);
    __syncthreads();
    const long long before = P_sum_before_warp<warp, warps>(totals, done);
    __syncthreads();
    return before + __popcll(votes & ((1ull << lane) - 1ull));
  }

  // Pack the items at the true elements, and report their number.
  template <class Item>
  __device__ static void select(const unsigned char* mask, const Item* from, Item* to, long long n,
                                volatile long long* report) {
    __shared__ int totals[warps];
    long long done = 0;
    for (long long first = 0; first < n; first += threads) {
      const long long i = first + threadIdx.x;
      const bool is_chosen = i < n && mask[i] != 0;
      const long long at = place(is_chosen, totals, done);
      if (threadIdx.x == 0 && first + threads >= n) *report = done;
      if (is_chosen) to[at] = from[i];
    }
  }

  // Report the number of true elements; if it is as expected, unpack items to them.
  template <class Item>
  __device__ static void assign(const unsigned char* mask, const Item* from, Item* to, long long n,
                                long long expected, volatile long long* report) {
    __shared__ int totals[warps];
    long long count = 0, done = 0;
    for (long long first = 0; first < n; first += threads) {
      const long long i = first + threadIdx.x;
      count += __syncthreads_count(i < n && mask[i] != 0);
    }
    if (threadIdx.x == 0) *report = count;
    for (long long first = 0; count == expected && first < n; first += threads) {
      const long long i = first + threadIdx.x;
      const bool is_chosen = i < n && mask[i] != 0;
      const long long at = place(is_chosen, totals, done);
      if (is_chosen) to[i] = from[at];
    }
  }
};

}  // namespace kernels
}  // namespace PyGPU
