"""Text of the kernels behind ``searchsorted``, ``bincount`` and ``histogram``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU._kernels.text.common import Element, headed

if TYPE_CHECKING:
    from PyGPU._types import DType

#: Threads of a block, and most bins that a block counts in shared memory before it adds its counts
#: to those of all blocks.
THREADS, SHARED_BINS = 256, 4096


def search_source(a: DType, v: DType, common: DType, is_right: bool) -> str:
    """Return the kernel ``search``: the place of each of `v` in `a`, which is sorted.

    Elements are compared in the dtype `common`. NaN comes after all numbers, as NumPy sorts it.
    """
    own, value, compare = Element(a), Element(v), Element(common)
    here = f"C({own.converted(own.load('a[middle]'), compare)})"
    before = f"P_less({here}, value)" if not is_right else f"!P_less(value, {here})"
    text = f"""
typedef {compare.computed} C;
__device__ inline bool P_less(C x, C y) {{ return x < y || (y != y && x == x); }}
extern "C" __global__ void search(const {own.stored} *a, long long n, const {value.stored} *v,
                                  long long count, long long *out) {{
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {{
    const C value = C({value.converted(value.load("v[i]"), compare)});
    long long low = 0, high = n;
    while (low < high) {{
      const long long middle = low + (high - low) / 2;
      if ({before}) low = middle + 1;
      else high = middle;
    }}
    out[i] = low;
  }}
}}
"""
    return headed([own, value, compare], text)


def count_source(x: DType, has_weights: bool) -> str:
    """Return the kernels ``count`` and ``bin``.

    ``count`` takes each element as the number of its bin. ``bin`` finds the bin between `edges`,
    which grow: by a guess where they are evenly spaced, `scale` bins to a unit, else (`scale` is 0)
    by bisection. The last edge belongs to the last bin. Bins of `out` are counts, or sums of
    weights.
    """
    own = Element(x)
    sums = "double" if has_weights else "unsigned long long"
    amount = "weights[i]" if has_weights else "1"
    in_shared = "" if has_weights else "__shared__ unsigned counts[SHARED];"
    value = f"double({own.load('x[i]')})"

    def kernel(name: str, parameters: str, find: str) -> str:
        alone = f"if (found >= 0) atomicAdd(out + found, {sums}({amount}));"
        together = (
            alone
            if has_weights
            else """if (found >= 0) {
      if (is_shared) atomicAdd(counts + found, 1u);
      else atomicAdd(out + found, 1ull);
    }"""
        )
        begin = end = ""
        if not has_weights:
            begin = """const bool is_shared = bins <= SHARED;
  if (is_shared) for (int k = threadIdx.x; k < bins; k += blockDim.x) counts[k] = 0;
  __syncthreads();"""
            end = """__syncthreads();
  if (is_shared)
    for (int k = threadIdx.x; k < bins; k += blockDim.x)
      if (counts[k]) atomicAdd(out + k, (unsigned long long)counts[k]);"""
        return f"""
extern "C" __global__ void {name}(const {own.stored} *x, const double *weights, long long size,
                                  long long bins, {sums} *out{parameters}) {{
  enum {{ SHARED = {SHARED_BINS} }};
  {in_shared}
  {begin}
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) {{
    {find}
    {together}
  }}
  {end}
}}
"""

    between = f"""const double value = {value};
    long long found = -1;
    if (value >= edges[0] && value <= edges[bins]) {{
      found = 0;
      if (scale > 0) {{
        const double guess = (value - edges[0]) * scale;
        found = guess < double(bins) ? (long long)guess : bins - 1;
        while (found > 0 && value < edges[found]) --found;
        while (found < bins - 1 && value >= edges[found + 1]) ++found;
      }} else {{
        long long high = bins;
        while (found + 1 < high) {{
          const long long middle = (found + high) / 2;
          if (value >= edges[middle]) found = middle;
          else high = middle;
        }}
      }}
    }}"""
    number = f"const long long found = (long long)({own.load('x[i]')});"
    text = kernel("count", "", number)
    text += kernel("bin", ", const double *edges, double scale", between)
    return headed([own], text)
