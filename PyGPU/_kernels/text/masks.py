"""Text of the kernels that select items by a mask, or assign to selected items, in one block."""

from __future__ import annotations

import math

from PyGPU._kernels.text.gather import HEAD, WORDS

# These kernels serve few items. Lanes of a warp count by a vote, and warps through shared memory.
_BY_BLOCK = """
// Before this thread's item, of those that are chosen; `done` counts on, over all threads.
__device__ inline long long P_place(bool is_chosen, int *totals, long long &done) {
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned long long votes = __ballot_sync(LANES, is_chosen);
  if (lane == 0) totals[warp] = __popcll(votes);
  __syncthreads();
  long long at = done + __popcll(votes & ((1ull << lane) - 1ull));
  for (int w = 0; w < THREADS / WARP; ++w) {
    if (w < warp) at += totals[w];
    done += totals[w];
  }
  __syncthreads();
  return at;
}
extern "C" __global__ void __launch_bounds__(THREADS)
select_items(const unsigned char *mask, const P_item *from, P_item *to, long long n,
             volatile long long *report) {
  __shared__ int totals[THREADS / WARP];
  long long done = 0;
  for (long long first = 0; first < n; first += THREADS) {
    const long long i = first + threadIdx.x;
    const bool is_chosen = i < n && mask[i] != 0;
    const long long at = P_place(is_chosen, totals, done);
    if (threadIdx.x == 0 && first + THREADS >= n) *report = done;
    if (is_chosen) to[at] = from[i];
  }
}
extern "C" __global__ void __launch_bounds__(THREADS)
assign_items(const unsigned char *mask, const P_item *from, P_item *to, long long n,
             long long expected, volatile long long *report) {
  __shared__ int totals[THREADS / WARP];
  long long count = 0, done = 0;
  for (long long first = 0; first < n; first += THREADS) {
    const long long i = first + threadIdx.x;
    count += __syncthreads_count(i < n && mask[i] != 0);
  }
  if (threadIdx.x == 0) *report = count;
  for (long long first = 0; count == expected && first < n; first += THREADS) {
    const long long i = first + threadIdx.x;
    const bool is_chosen = i < n && mask[i] != 0;
    const long long at = P_place(is_chosen, totals, done);
    if (is_chosen) to[i] = from[at];
  }
}
"""
_BY_ONE = """
extern "C" __global__ void select_items(const unsigned char *mask, const P_item *from, P_item *to,
                                        long long n, volatile long long *report) {
  long long done = 0;
  for (long long i = 0; i < n; ++i)
    if (mask[i]) to[done++] = from[i];
  *report = done;
}
extern "C" __global__ void assign_items(const unsigned char *mask, const P_item *from, P_item *to,
                                        long long n, long long expected,
                                        volatile long long *report) {
  long long count = 0;
  for (long long i = 0; i < n; ++i) count += mask[i] != 0;
  for (long long i = 0; count == expected && i < n; ++i)
    if (mask[i]) to[i] = *from++;
  *report = count;
}
"""


def source(itemsize: int, warp: int, threads: int) -> str:
    """Return the text of the kernels ``select_items`` and ``assign_items``.

    ``select_items`` packs the items at the mask's true elements. ``assign_items`` does the reverse,
    and writes only if the number of true elements is as expected. Both report that number before
    all items are written. `threads` is 1 or a multiple of `warp`.
    """
    names = f"typedef {WORDS.get(itemsize, 'P_word16')} P_item;\n"
    if threads == 1:
        return HEAD + names + _BY_ONE
    lanes = f"#define LANES {hex((1 << warp) - 1)}ull\n"
    sizes = f"enum {{ WARP = {warp}, THREADS = {math.ceil(threads / warp) * warp} }};\n"
    return HEAD + names + lanes + sizes + _BY_BLOCK
