"""Text of the kernels that compact: they pack indices or items at the true elements of a mask.

``count_true`` counts the true elements of each chunk of the mask. Its last block, or a scan,
converts the counts to the positions at which the chunks start in the packed array. The other
kernels write to the packed array, or read from it, starting there. A chunk is processed by a warp
on a GPU, and by a thread on the host machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._kernels.text.common import LAST_BLOCK
from PyGPU._kernels.text.gather import HEAD, WORDS
from PyGPU._kernels.types import dtype_to_ctype

if TYPE_CHECKING:
    from PyGPU._types import DTypeLike

CHUNK = 4096  # elements of a chunk; kernels call it STRETCH
THREADS = 256  # threads per block on a GPU
SEVERAL = 8  # elements that a thread copies at a time, to overlap their loads
_FLAGS = """
__device__ inline unsigned true_of_4(unsigned bytes) {
  const unsigned high = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu | bytes) >> 7 & 0x01010101u;
  return (high | high >> 7 | high >> 14 | high >> 21) & 15u;
}

// Which of the 16 elements from `first` on are true, as bits.
__device__ inline unsigned true_of_16(const unsigned char *mask, long long n, long long first) {
  if (first + 16 <= n && (size_t)mask % 16 == 0) {
    const uint4 word = *(const uint4 *)(mask + first);
    return true_of_4(word.x) | true_of_4(word.y) << 4 | true_of_4(word.z) << 8 |
           true_of_4(word.w) << 12;
  }
  unsigned bits = 0;
  for (int i = 0; i < 16 && first + i < n; ++i) bits |= unsigned(mask[first + i] != 0) << i;
  return bits;
}
"""

# BEHIND is replaced by the work of the last block.
_COUNT = """
extern "C" __global__ void __launch_bounds__(THREADS)
count_true(long long n, const unsigned char *mask, long long *countsPARAMETERS) {
  const int lane = threadIdx.x % WARP;
  const long long stretch = (long long)blockIdx.x * WARPS + threadIdx.x / WARP;
  const long long base = stretch * STRETCH + 16 * lane;
  unsigned count = 0;
  if (stretch * STRETCH < n) {
    #pragma unroll
    for (int i = 0; i < STRETCH; i += ROUND) count += __popc(true_of_16(mask, n, base + i));
  }
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    count += __shfl_down_sync(LANES, count, distance, WARP);
  if (lane == 0 && base < n) {  // the stretch's, as lane is 0
    counts[stretch] = count;
    if (base + STRETCH >= n) counts[stretch + 1] = 0;
  }BEHIND
}
"""

# LOAD and STORE are replaced by the load and store of a selected element. PLACE is the element's
# index in the whole array, `at` its index in the packed array. A thread overlaps the loads of
# several elements.
_COPY = """
extern "C" __global__ void __launch_bounds__(THREADS)
NAME(long long n, const unsigned char *mask, const long long *offsets, PARAMETERS) {
  __shared__ unsigned short chosen[THREADS * 16];
  const int lane = threadIdx.x % WARP;
  unsigned short *const mine = chosen + threadIdx.x / WARP * ROUND;
  const long long stretch = (long long)blockIdx.x * WARPS + threadIdx.x / WARP;
  const long long base = stretch * STRETCH;
  if (base >= n) return;
  unsigned bits[STRETCH / ROUND];
  #pragma unroll
  for (int i = 0; i < STRETCH / ROUND; ++i)
    bits[i] = true_of_16(mask, n, base + i * ROUND + 16 * lane);
  packed += offsets[stretch];
  #pragma unroll
  for (int i = 0; i < STRETCH / ROUND; ++i) {
    int end = __popc(bits[i]);
    const int count = end;
    for (int distance = 1; distance < WARP; distance *= 2) {
      const int other = __shfl_up_sync(LANES, end, distance, WARP);
      if (lane >= distance) end += other;
    }
    const int total = __shfl_sync(LANES, end, WARP - 1, WARP);
    for (int at = end - count; at < end; ++at, bits[i] &= bits[i] - 1)
      mine[at] = (unsigned short)(16 * lane + __ffs(int(bits[i])) - 1);
    __syncwarp(LANES);
    for (int next = lane; next < total; next += SEVERAL * WARP) {
      ITEM items[SEVERAL];
      #pragma unroll
      for (int k = 0; k < SEVERAL; ++k) {
        const int at = next + k * WARP;
        if (at >= total) break;
        items[k] = LOAD;
      }
      #pragma unroll
      for (int k = 0; k < SEVERAL; ++k) {
        const int at = next + k * WARP;
        if (at >= total) break;
        STORE = items[k];
      }
    }
    __syncwarp(LANES);
    packed += total;
  }
}
"""

_SUM = """
enum { EACH = 16 };
// By the threads of a block, which take EACH counts at a time: where each stretch begins.
__device__ inline void sum_counts(long long *counts, long long number, long long *totals,
                                  volatile long long *report) {
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  long long done = 0;
  for (long long first = 0; first < number; first += EACH * THREADS) {
    const long long own = first + EACH * threadIdx.x;
    long long count[EACH], sum = 0;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      count[k] = own + k < number ? counts[own + k] : 0;
      sum += count[k];
    }
    long long end = sum;
    for (int distance = 1; distance < WARP; distance *= 2) {
      const long long other = __shfl_up_sync(LANES, end, distance, WARP);
      if (lane >= distance) end += other;
    }
    if (lane == WARP - 1) totals[warp] = end;
    __syncthreads();
    long long at = done + end - sum;
    for (int w = 0; w < WARPS; ++w) {
      if (w < warp) at += totals[w];
      done += totals[w];
    }
    if (threadIdx.x == 0 && first + EACH * THREADS >= number) *report = done;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      if (own + k < number) counts[own + k] = at;
      at += count[k];
    }
  }
}
"""
_SUM_BEHIND = """
  __shared__ bool is_last;
  __shared__ long long totals[WARPS];
  if (P_is_last(done, gridDim.x, is_last))
    sum_counts(counts, (n - 1) / STRETCH + 1, totals, report);"""

_BY_THREADS = """
extern "C" __global__ void count_true(long long n, const unsigned char *mask, long long *counts) {
  const long long stretch = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long base = stretch * STRETCH;
  if (base >= n) return;
  int count = 0;
  for (int i = 0; i < STRETCH && base + i < n; i += 16)
    count += __popc(true_of_16(mask, n, base + i));
  counts[stretch] = count;
  if (base + STRETCH >= n) counts[stretch + 1] = 0;
}

extern "C" __global__ void write_true(long long n, const unsigned char *mask,
                                      const long long *offsets, P_out *out) {
  const long long stretch = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long base = stretch * STRETCH;
  if (base >= n) return;
  const P_out *const end = out + offsets[stretch + 1];
  out += offsets[stretch];
  for (int i = 0; i < STRETCH && base + i < n; i += 16) {
    unsigned bits = true_of_16(mask, n, base + i);
    if (bits && end - out >= 16) {  // room for them all: without a branch for each
      int count = 0;
      for (int k = 0; k < 16; ++k) {
        out[count] = (P_out)(base + i + k);
        count += bits >> k & 1;
      }
      out += count;
    } else {
      for (; bits; bits &= bits - 1) *out++ = (P_out)(base + i + __ffs(int(bits)) - 1);
    }
  }
}
"""


def _copy(name: str, parameters: str, item: str, load: str, store: str) -> str:
    text = _COPY.replace("NAME", name).replace("PARAMETERS", parameters).replace("ITEM", item)
    text = text.replace("LOAD", load).replace("STORE", store)
    return text.replace("PLACE", "(base + i * ROUND + mine[at])")


def _by_warps(
    warp: int, chunk: int, behind: str = "", parameters: str = "", helpers: str = ""
) -> str:
    lanes = f"#define LANES {hex((1 << warp) - 1)}ull\n"
    sizes = f"enum {{ WARP = {warp}, THREADS = {THREADS}, STRETCH = {chunk} }};\n"
    sizes += f"enum {{ WARPS = THREADS / WARP, ROUND = 16 * WARP, SEVERAL = {SEVERAL} }};\n"
    count = _COUNT.replace("PARAMETERS", parameters).replace("BEHIND", behind)
    return f"{lanes}{sizes}{_FLAGS}{helpers}{count}"


def indices_by_warps(warp: int, dtype: DTypeLike) -> str:
    """Return the text of ``count_true`` and ``write_true`` for chunks of warps.

    ``write_true`` writes flat indices of a dtype. A warp has `warp` lanes.
    """
    index = f"typedef {dtype_to_ctype(dtype)} P_out;\n"
    write = _copy("write_true", "P_out *packed", "P_out", "(P_out)PLACE", "packed[at]")
    return f"{index}{_by_warps(warp, CHUNK)}{write}"


def indices_by_threads(dtype: DTypeLike) -> str:
    """Return the text of ``count_true`` and ``write_true`` for chunks of threads."""
    index = f"typedef {dtype_to_ctype(dtype)} P_out;\nenum {{ STRETCH = {CHUNK} }};\n"
    return f"{index}{_FLAGS}{_BY_THREADS}"


def items_by_warps(warp: int, itemsize: int, chunk: int) -> str:
    """Return the text of the kernels that pack and unpack items, for chunks of warps.

    ``count_true`` converts the counts to positions and reports the total count. ``select_true``
    packs items of `itemsize` bytes, and ``assign_true`` does the reverse. `chunk` is a multiple
    of 16 * `warp`.
    """
    item = f"{HEAD}typedef {WORDS.get(itemsize, 'P_word16')} P_item;\n"
    count = _by_warps(
        *(warp, chunk, _SUM_BEHIND, ", unsigned *done, volatile long long *report"),
        LAST_BLOCK + _SUM,
    )
    parameters = "const P_item *whole, P_item *packed"
    select = _copy("select_true", parameters, "P_item", "whole[PLACE]", "packed[at]")
    parameters = "P_item *whole, const P_item *packed"
    assign = _copy("assign_true", parameters, "P_item", "packed[at]", "whole[PLACE]")
    return f"{item}{count}{select}{assign}"
