// Compaction of a mask by warps. The kernels pack the indices of the true elements, or the items at
// the true elements, into a contiguous array. The reverse kernel unpacks items to the true
// elements.
//
// A warp processes one chunk of the mask. The first kernel counts the true elements of each chunk.
// Its last block, or a scan, converts the counts to offsets: a chunk's offset is the position of
// its first true element in the packed array. PyGPU/_kernels/text/compaction.py generates the
// kernels.
#pragma once

#include <PyGPU/kernels/last_block.h>
#include <PyGPU/kernels/true_bits.h>
#include <PyGPU/kernels/warps.h>

namespace PyGPU {
namespace kernels {

// Sizes: lanes of a warp, threads of a block, elements of a chunk. In a round, each lane of a warp
// processes 16 elements; a chunk must have a multiple of `round` elements.
template <int warp_, int threads_, int chunk_>
struct Chunks {
  static constexpr int warp = warp_, threads = threads_, chunk = chunk_;
  static constexpr int warps = threads / warp, round = 16 * warp;
  static constexpr unsigned long long lanes = P_all_lanes(warp);

  __device__ static int lane() { return threadIdx.x % warp; }
  // Return the index of the calling warp's chunk.
  __device__ static long long index() { return (long long)blockIdx.x * warps + threadIdx.x / warp; }
};

// Store the number of true elements of each chunk in `counts`, and 0 after the last chunk.
template <class Chunks>
__device__ inline void count_true(long long n, const unsigned char* mask, long long* counts) {
  constexpr int warp = Chunks::warp;
  const int lane = Chunks::lane();
  const long long chunk = Chunks::index(), base = chunk * Chunks::chunk + 16 * lane;
  unsigned count = 0;
  if (chunk * Chunks::chunk < n) {
#pragma unroll
    for (int i = 0; i < Chunks::chunk; i += Chunks::round)
      count += __popc(true_of_16(mask, n, base + i));
  }
  for (int distance = warp / 2; distance > 0; distance /= 2)
    count += __shfl_down_sync(Chunks::lanes, count, distance, warp);
  if (lane == 0 && base < n) {  // lane 0 has the sum of all lanes
    counts[chunk] = count;
    if (base + Chunks::chunk >= n) counts[chunk + 1] = 0;
  }
}

// Replace the counts of `number` chunks by their offsets. The threads of one block do so, each for
// 16 counts at a time. Store the sum of all counts in `report`.
template <class Chunks>
__device__ inline void sum_counts(long long* counts, long long number, long long* totals,
                                  volatile long long* report) {
  constexpr int warp = Chunks::warp, each = 16;
  const int lane = Chunks::lane();
  long long done = 0;
  for (long long first = 0; first < number; first += each * Chunks::threads) {
    const long long begin = first + each * threadIdx.x;
    long long count[each], sum = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) {
      count[k] = begin + k < number ? counts[begin + k] : 0;
      sum += count[k];
    }
    const long long end = P_sum_to_lane<warp>(sum);
    if (lane == warp - 1) totals[threadIdx.x / warp] = end;
    __syncthreads();
    long long offset = P_sum_before_warp<warp, Chunks::warps>(totals, done) + end - sum;
    if (threadIdx.x == 0 && first + each * Chunks::threads >= number) *report = done;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if (begin + k < number) counts[begin + k] = offset;
      offset += count[k];
    }
  }
}

// Count the true elements as count_true does. The last block then converts the counts to offsets.
template <class Chunks>
__device__ inline void compute_offsets(long long n, const unsigned char* mask, long long* counts,
                                       unsigned* done, volatile long long* report) {
  __shared__ bool is_last;
  __shared__ long long totals[Chunks::warps];
  count_true<Chunks>(n, mask, counts);
  if (P_is_last(done, gridDim.x, is_last))
    sum_counts<Chunks>(counts, (n - 1) / Chunks::chunk + 1, totals, report);
}

// Call `load` and `store` for each true element, with its index in the mask and with `packed + at`,
// its position in the packed array. load(packed, at, index) returns an Item, which
// store(packed, at, index, item) stores. A thread starts the loads of `batch` elements before it
// stores them, so that the loads overlap.
template <class Chunks, class Item, class Packed, class Load, class Store>
__device__ inline void copy_true(long long n, const unsigned char* mask, const long long* offsets,
                                 Packed* packed, Load load, Store store) {
  constexpr int warp = Chunks::warp, round = Chunks::round, rounds = Chunks::chunk / round;
  constexpr int batch = 8;
  __shared__ unsigned short selected[Chunks::threads * 16];
  const int lane = Chunks::lane();
  // Positions of the true elements of this warp's round.
  unsigned short* const of_warp = selected + threadIdx.x / warp * round;
  const long long chunk = Chunks::index(), base = chunk * Chunks::chunk;
  if (base >= n) return;
  unsigned bits[rounds];
#pragma unroll
  for (int i = 0; i < rounds; ++i) bits[i] = true_of_16(mask, n, base + i * round + 16 * lane);
  packed += offsets[chunk];
#pragma unroll
  for (int i = 0; i < rounds; ++i) {
    const int count = __popc(bits[i]), end = P_sum_to_lane<warp>(count);
    const int total = __shfl_sync(Chunks::lanes, end, warp - 1, warp);
    for (int at = end - count; at < end; ++at, bits[i] &= bits[i] - 1)
      of_warp[at] = (unsigned short)(16 * lane + __ffs(int(bits[i])) - 1);
    __syncwarp(Chunks::lanes);
    for (int next = lane; next < total; next += batch * warp) {
      Item items[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        const int at = next + k * warp;
        if (at >= total) break;
        items[k] = load(packed, at, base + i * round + of_warp[at]);
      }
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        const int at = next + k * warp;
        if (at >= total) break;
        store(packed, at, base + i * round + of_warp[at], items[k]);
      }
    }
    __syncwarp(Chunks::lanes);
    packed += total;
  }
}

// Write the indices of the true elements to the packed array.
template <class Chunks, class Index>
__device__ inline void write_true(long long n, const unsigned char* mask, const long long* offsets,
                                  Index* packed) {
  copy_true<Chunks, Index>(
      n, mask, offsets, packed, [](Index*, int, long long index) { return Index(index); },
      [](Index* to, int at, long long, Index index) { to[at] = index; });
}

// Copy the items at the true elements to the packed array.
template <class Chunks, class Item>
__device__ inline void select_true(long long n, const unsigned char* mask, const long long* offsets,
                                   const Item* items, Item* packed) {
  copy_true<Chunks, Item>(
      n, mask, offsets, packed, [items](Item*, int, long long index) { return items[index]; },
      [](Item* to, int at, long long, const Item& item) { to[at] = item; });
}

// Copy the packed array to the items at the true elements.
template <class Chunks, class Item>
__device__ inline void assign_true(long long n, const unsigned char* mask, const long long* offsets,
                                   Item* items, const Item* packed) {
  copy_true<Chunks, Item>(
      n, mask, offsets, packed, [](const Item* from, int at, long long) { return from[at]; },
      [items](const Item*, int, long long index, const Item& item) { items[index] = item; });
}

}  // namespace kernels
}  // namespace PyGPU
