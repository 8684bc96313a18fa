"""Source texts of the kernels that accumulate along one axis of an array in C order.

The array is treated as an array of shape (outer, length, inner). A line is a sequence of `length`
elements, `inner` elements apart, along which a kernel accumulates. Few lines are divided into
chunks:

1. A launch of ``rows`` or ``columns`` computes the totals of all chunks but the last of each line.
2. ``carries`` accumulates these totals.
3. A second launch of the first kernel accumulates each chunk, starting from the total before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._kernels.text.common import Element, headed
from PyGPU._kernels.text.folding import NO_FACTOR, PRODUCT

if TYPE_CHECKING:
    from PyGPU._types import DType

#: Threads per block, and number of elements of a row that a thread accumulates at a time.
THREADS, ITEMS = 256, 8


def source(x: DType, to: DType, operation: str, neutral: str, skips_nan: bool) -> str:
    """Return the text of the kernels ``rows``, ``columns`` and ``carries``.

    Parameters
    ----------
    x, to : dtype
        Dtypes of the array and of the result. Halves are accumulated as floats.
    operation : {'+', '*'}
        Operator between the total and an element.
    neutral : str
        Neutral element, in C.
    skips_nan : bool
        Treat NaN as the neutral element.
    """
    own, result = Element(x), Element(to)
    value = f"A({own.converted(own.load('x'), result)})"
    if skips_nan:
        value = f"{own.load('x')} == {own.load('x')} ? {value} : A({neutral})"
    both, start = f"A(a {operation} b)", f"A({neutral})"
    if operation == "*" and result.is_complex:
        both, start = "P_product(a, b)", NO_FACTOR
    text = f"""{PRODUCT}
typedef {own.stored} X;
typedef {result.computed} A;
typedef {result.stored} R;
enum {{ THREADS = {THREADS}, ITEMS = {ITEMS} }};
__device__ inline A P_neutral() {{ return {start}; }}
__device__ inline A P_both(const A &a, const A &b) {{ return {both}; }}
__device__ inline A P_value(const X &x) {{ return {value}; }}

// Return the total of all threads before this one. `sums` is shared memory with an element for each
// thread. Store the total of the block in `block_total`.
__device__ inline A P_before(A own, A *sums, A &block_total) {{
  const int at = int(threadIdx.x), lane = at % warpSize;
  A total = own;
  sums[at] = total;
  for (int step = 1; step < warpSize; step *= 2) {{
    __syncwarp();
    const A left = lane >= step ? sums[at - step] : P_neutral();
    __syncwarp();
    total = P_both(left, total);
    sums[at] = total;
  }}
  __syncthreads();
  A warps = P_neutral();
  int last = warpSize - 1;  // thread of each warp
  for (; last < at - lane; last += warpSize) warps = P_both(warps, sums[last]);
  block_total = warps;
  for (; last < THREADS; last += warpSize) block_total = P_both(block_total, sums[last]);
  const A before = lane ? P_both(warps, sums[at - 1]) : warps;
  __syncthreads();
  return before;
}}

// Lines of adjacent elements (`inner` is 1). A block processes one chunk of a line.
extern "C" __global__ void rows(const X *x, R *out, long long length, long long chunk,
                                unsigned chunks, A *totals, const A *carries) {{
  // Padded, so that threads of a warp use different banks: the items of a thread are adjacent.
  __shared__ A tile[THREADS * (ITEMS + 1)];
  __shared__ A sums[THREADS];
  const unsigned row = blockIdx.x / chunks, part = blockIdx.x % chunks;
  const long long begin = part * chunk, end = begin + chunk < length ? begin + chunk : length;
  const X *const from = x + row * length;
  R *const to = out + row * length;
  const int at = int(threadIdx.x);
  if (!out && part + 1 == chunks) return;  // the total of the last chunk is not needed
  A carry = carries && part ? carries[row * (chunks - 1) + part - 1] : P_neutral();
  for (long long base = begin; base < end; base += THREADS * ITEMS) {{
    #pragma unroll
    for (int k = 0; k < ITEMS; ++k) {{
      const int position = k * THREADS + at;
      const long long i = base + position;
      tile[position + position / ITEMS] = i < end ? P_value(from[i]) : P_neutral();
    }}
    __syncthreads();
    A own = P_neutral();
    #pragma unroll
    for (int k = 0; k < ITEMS; ++k) {{
      A &item = tile[at * (ITEMS + 1) + k];
      own = P_both(own, item);
      item = own;
    }}
    A block_total = P_neutral();
    const A before = P_both(carry, P_before(own, sums, block_total));
    carry = P_both(carry, block_total);
    if (out) {{
      #pragma unroll
      for (int k = 0; k < ITEMS; ++k) {{
        A &item = tile[at * (ITEMS + 1) + k];
        item = P_both(before, item);
      }}
      __syncthreads();
      #pragma unroll
      for (int k = 0; k < ITEMS; ++k) {{
        const int position = k * THREADS + at;
        const long long i = base + position;
        if (i < end) to[i] = {result.store("tile[position + position / ITEMS]")};
      }}
    }}
    __syncthreads();
  }}
  if (totals && at == 0) totals[row * (chunks - 1) + part] = carry;
}}

// Lines of any `inner`. A thread processes one chunk of a line, adjacent threads adjacent lines.
extern "C" __global__ void columns(const X *x, R *out, long long lines, long long length,
                                   long long inner, long long chunk, unsigned chunks, A *totals,
                                   const A *carries) {{
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long part = at / lines, line = at - part * lines;
  if (part >= chunks || (!out && part + 1 == chunks)) return;
  const long long begin = part * chunk, end = begin + chunk < length ? begin + chunk : length;
  const long long outer = line / inner, start = outer * length * inner + (line - outer * inner);
  A total = carries && part ? carries[line * (chunks - 1) + part - 1] : P_neutral();
  long long i = begin;
  for (; i + 3 < end; i += 4) {{
    A values[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) values[k] = P_value(x[start + (i + k) * inner]);
    #pragma unroll
    for (int k = 0; k < 4; ++k) {{
      total = P_both(total, values[k]);
      if (out) out[start + (i + k) * inner] = {result.store("total")};
    }}
  }}
  for (; i < end; ++i) {{
    total = P_both(total, P_value(x[start + i * inner]));
    if (out) out[start + i * inner] = {result.store("total")};
  }}
  if (totals) totals[line * (chunks - 1) + part] = total;
}}

// Accumulate the totals of the chunks of each line. A thread processes one line.
extern "C" __global__ void carries(A *totals, long long lines, unsigned chunks) {{
  const long long line = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  A total = P_neutral();
  for (unsigned k = 0; k + 1 < chunks; ++k) {{
    A &item = totals[line * (chunks - 1) + k];
    total = P_both(total, item);
    item = total;
  }}
}}
"""
    return headed([own, result], text)
