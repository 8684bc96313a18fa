// Compaction by warps: packing indices or items at the true elements of a mask, and the reverse.
//
// A warp processes a chunk of the mask. The first kernel counts the true elements of each chunk.
// Its last block, or a scan, converts the counts to the positions at which the chunks start in the
// packed array. The other kernels write to the packed array, or read from it, starting there.
// PyGPU/_kernels/text/compaction.py writes the kernels.
#pragma once

#include <PyGPU/kernels/last_block.h>
#include <PyGPU/kernels/true_bits.h>
#include <PyGPU/kernels/warps.h>

namespace PyGPU {
namespace kernels {

// Lanes of a warp, threads of a block, and elements of a chunk, a multiple of `round`.
template <int warp_, int threads_, int chunk_>
struct Chunks {
  static constexpr int warp = warp_, threads = threads_, chunk = chunk_;
  static constexpr int warps = threads / warp, round = 16 * warp;
  static constexpr unsigned long long lanes = P_all_lanes(warp);

  __device__ static int lane() { return threadIdx.x % warp; }
  __device__ static long long own() { return (long long)blockIdx.x * warps + threadIdx.x / warp; }
};

// Store the number of true elements of each chunk, and 0 after the last one.
template <class Chunks>
__device__ inline void count_true(long long n, const unsigned char* mask, long long* counts) {
  constexpr int warp = Chunks::warp;
  const int lane = Chunks::lane();
  const long long own = Chunks::own(), base = own * Chunks::chunk + 16 * lane;
  unsigned count = 0;
  if (own * Chunks::chunk < n) {
#pragma unroll
    for (int i = 0; i < Chunks::chunk; i += Chunks::round)
      count += __popc(true_of_16(mask, n, base + i));
  }
  for (int distance = warp / 2; distance > 0; distance /= 2)
    count += __shfl_down_sync(Chunks::lanes, count, distance, warp);
  if (lane == 0 && base < n) {  // the chunk's, as lane is 0
    counts[own] = count;
    if (base + Chunks::chunk >= n) counts[own + 1] = 0;
  }
}

// Replace the counts of `number` chunks by the positions at which the chunks start, by the threads
// of one block, which take 16 counts at a time. Store the total of all counts in `report`.
template <class Chunks>
__device__ inline void sum_counts(long long* counts, long long number, long long* totals,
                                  volatile long long* report) {
  constexpr int warp = Chunks::warp, each = 16;
  const int lane = Chunks::lane();
  long long done = 0;
  for (long long first = 0; first < number; first += each * Chunks::threads) {
    const long long own = first + each * threadIdx.x;
    long long count[each], sum = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) {
      count[k] = own + k < number ? counts[own + k] : 0;
      sum += count[k];
    }
    const long long end = P_sum_to_lane<warp>(sum);
    if (lane == warp - 1) totals[threadIdx.x / warp] = end;
    __syncthreads();
    long long at = P_sum_before_warp<warp, Chunks::warps>(totals, done) + end - sum;
    if (threadIdx.x == 0 && first + each * Chunks::threads >= number) *report = done;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if (own + k < number) counts[own + k] = at;
      at += count[k];
    }
  }
}

// Count as count_true does; the last block converts the counts to positions.
template <class Chunks>
__device__ inline void place_true(long long n, const unsigned char* mask, long long* counts,
                                  unsigned* done, volatile long long* report) {
  __shared__ bool is_last;
  __shared__ long long totals[Chunks::warps];
  count_true<Chunks>(n, mask, counts);
  if (P_is_last(done, gridDim.x, is_last))
    sum_counts<Chunks>(counts, (n - 1) / Chunks::chunk + 1, totals, report);
}

// Copy between the packed array and the true elements: load(packed, at, place) returns an Item, and
// store(packed, at, place, item) stores it. `place` is an element's index in the whole array,
// `packed + at` its position in the packed array. A thread overlaps the loads of several elements.
template <class Chunks, class Item, class Packed, class Load, class Store>
__device__ inline void copy_true(long long n, const unsigned char* mask, const long long* offsets,
                                 Packed* packed, Load load, Store store) {
  constexpr int warp = Chunks::warp, round = Chunks::round, rounds = Chunks::chunk / round;
  constexpr int several = 8;
  __shared__ unsigned short chosen[Chunks::threads * 16];
  const int lane = Chunks::lane();
  unsigned short* const mine = chosen + threadIdx.x / warp * round;
  const long long own = Chunks::own(), base = own * Chunks::chunk;
  if (base >= n) return;
  unsigned bits[rounds];
#pragma unroll
  for (int i = 0; i < rounds; ++i) bits[i] = true_of_16(mask, n, base + i * round + 16 * lane);
  packed += offsets[own];
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int count = __popc(bits[i]), end = P_sum_to_lane<warp>(count);
    const int total = __shfl_sync(Chunks::lanes, end, warp - 1, warp);
    for (int at = end - count; at < end; ++at, bits[i] &= bits[i] - 1)
      mine[at] = (unsigned short)(16 * lane + __ffs(int(bits[i])) - 1);
    __syncwarp(Chunks::lanes);
    for (int next = lane; next < total; next += several * warp) {
      Item items[several];
#pragma unroll
      for (int k = 0; k < several; ++k) {
        const int at = next + k * warp;
        if (at >= total) break;
        items[k] = load(packed, at, base + i * round + mine[at]);
      }
#pragma unroll
      for (int k = 0; k < several; ++k) {
        const int at = next + k * warp;
        if (at >= total) break;
        store(packed, at, base + i * round + mine[at], items[k]);
      }
    }
    __syncwarp(Chunks::lanes);
    packed += total;
  }
}

// Write the indices of the true elements.
template <class Chunks, class Index>
__device__ inline void write_true(long long n, const unsigned char* mask, const long long* offsets,
                                  Index* packed) {
  copy_true<Chunks, Index>(
      n, mask, offsets, packed, [](Index*, int, long long place) { return Index(place); },
      [](Index* to, int at, long long, Index index) { to[at] = index; });
}
// Pack the items at the true elements.
template <class Chunks, class Item>
__device__ inline void select_true(long long n, const unsigned char* mask, const long long* offsets,
                                   const Item* whole, Item* packed) {
  copy_true<Chunks, Item>(
      n, mask, offsets, packed, [whole](Item*, int, long long place) { return whole[place]; },
      [](Item* to, int at, long long, const Item& item) { to[at] = item; });
}
// Unpack items to the true elements.
template <class Chunks, class Item>
__device__ inline void assign_true(long long n, const unsigned char* mask, const long long* offsets,
                                   Item* whole, const Item* packed) {
  copy_true<Chunks, Item>(
      n, mask, offsets, packed, [](const Item* from, int at, long long) { return from[at]; },
      [whole](const Item*, int, long long place, const Item& item) { whole[place] = item; });
}

}  // namespace kernels
}  // namespace PyGPU
