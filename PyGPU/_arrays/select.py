"""Compaction: the flat indices of a mask's true elements.

Of few elements by one block. Of many: the elements are counted by stretches, the counts scanned,
the indices written where the scan says. On a GPU a warp has a stretch, on the host machine a
thread.
"""

import numpy as np

from PyGPU import scan
from PyGPU._arrays.ranges import arange
from PyGPU._driver import Program
from PyGPU._kernels import dtype_to_ctype
from PyGPU._runtime import context_dependent_memoize, core, errors, state

_STRETCH = 4096  # elements
_FLAGS = f"""
enum {{ STRETCH = {_STRETCH} }};

__device__ inline unsigned true_of_4(unsigned bytes) {{
  const unsigned high = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu | bytes) >> 7 & 0x01010101u;
  return (high | high >> 7 | high >> 14 | high >> 21) & 15u;
}}

// Which of the 16 elements from `first` on are true, as bits.
__device__ inline unsigned true_of_16(const unsigned char *mask, long long n, long long first) {{
  if (first + 16 <= n && (size_t)mask % 16 == 0) {{
    const uint4 word = *(const uint4 *)(mask + first);
    return true_of_4(word.x) | true_of_4(word.y) << 4 | true_of_4(word.z) << 8 |
           true_of_4(word.w) << 12;
  }}
  unsigned bits = 0;
  for (int i = 0; i < 16 && first + i < n; ++i) bits |= unsigned(mask[first + i] != 0) << i;
  return bits;
}}
"""

_BY_WARPS = """
enum { WARPS = THREADS / WARP, ROUND = 16 * WARP };

extern "C" __global__ void __launch_bounds__(THREADS)
count_true(long long n, const unsigned char *mask, long long *counts) {
  const int lane = threadIdx.x % WARP;
  const long long stretch = (long long)blockIdx.x * WARPS + threadIdx.x / WARP;
  const long long base = stretch * STRETCH + 16 * lane;
  if (stretch * STRETCH >= n) return;
  unsigned count = 0;
  #pragma unroll
  for (int i = 0; i < STRETCH; i += ROUND) count += __popc(true_of_16(mask, n, base + i));
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    count += __shfl_down_sync(LANES, count, distance, WARP);
  if (lane == 0) {
    counts[stretch] = count;
    if (base + STRETCH >= n) counts[stretch + 1] = 0;  // lane 0: base is the stretch's
  }
}

extern "C" __global__ void __launch_bounds__(THREADS)
write_true(long long n, const unsigned char *mask, const long long *offsets, P_index *indices) {
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
  indices += offsets[stretch];
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
    for (int at = lane; at < total; at += WARP)
      indices[at] = (P_index)(base + i * ROUND + mine[at]);
    __syncwarp(LANES);
    indices += total;
  }
}
"""

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
                                      const long long *offsets, P_index *indices) {
  const long long stretch = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long base = stretch * STRETCH;
  if (base >= n) return;
  const P_index *const end = indices + offsets[stretch + 1];
  indices += offsets[stretch];
  for (int i = 0; i < STRETCH && base + i < n; i += 16) {
    unsigned bits = true_of_16(mask, n, base + i);
    if (bits && end - indices >= 16) {  // room for them all: without a branch for each
      int count = 0;
      for (int k = 0; k < 16; ++k) {
        indices[count] = (P_index)(base + i + k);
        count += bits >> k & 1;
      }
      indices += count;
    } else {
      for (; bits; bits &= bits - 1) *indices++ = (P_index)(base + i + __ffs(int(bits)) - 1);
    }
  }
}
"""


def _index_type(dtype):
    return f"typedef {dtype_to_ctype(dtype)} P_index;\n"


def text_for_warps(warp, threads, dtype=np.int64):
    """The kernels' text where a warp of `warp` lanes has a stretch; the indices are of `dtype`."""
    lanes = f"#define LANES {hex((1 << warp) - 1)}ull\n"
    sizes = f"enum {{ WARP = {warp}, THREADS = {threads} }};\n"
    return f"{_index_type(dtype)}{lanes}{sizes}{_FLAGS}{_BY_WARPS}"


class _Kernels:
    """The compaction on one device, to indices of `dtype`."""

    def __init__(self, by_warps, warp, dtype=np.int64):
        self._threads = 256 if by_warps else 16
        self._stretches = self._threads // warp if by_warps else self._threads  # of a block
        if by_warps:
            text = text_for_warps(warp, self._threads, dtype)
        else:
            text = _index_type(dtype) + _FLAGS + _BY_THREADS
        program = Program(text, count_true="qPP", write_true="qPPP")
        self._count, self._write = program()
        self._scan = scan.ExclusiveScanKernel(np.int64, "a + b", 0, name_prefix="offsets")

    def _launch(self, kernel, mask, *arrays):
        blocks = -(-mask.size // (_STRETCH * self._stretches))
        pointers = [array.ptr for array in (mask, *arrays)]
        kernel((blocks, 1), (self._threads, 1, 1), None, mask.size, *pointers)

    def offsets(self, mask):
        """Where the indices of each stretch begin; behind them all, how many there are."""
        offsets = core.GPUArray((-(-mask.size // _STRETCH) + 1,), np.int64)
        self._launch(self._count, mask, offsets)
        return self._scan(offsets)

    def write(self, mask, offsets, indices):
        self._launch(self._write, mask, offsets, indices)


@context_dependent_memoize
def _kernels(dtype):
    device = state.current_device()
    warp = core.cudaDeviceGetAttribute(core.cudaDevAttrWarpSize, device)
    return _Kernels(core.target != "host", errors.check(warp, "cudaDeviceGetAttribute"), dtype)


def _in_c_order(mask):
    """The mask in C order."""
    if not isinstance(mask, core.GPUArray):
        raise TypeError(f"mask: expected a GPUArray of bool, got {type(mask).__name__}")
    if mask.dtype != np.bool_:
        raise TypeError(f"mask: expected a GPUArray of bool, got a GPUArray of {mask.dtype}")
    if mask.flags.c_contiguous:
        return mask
    contiguous = core.GPUArray(mask.shape, np.bool_, allocator=mask.allocator)
    contiguous[...] = mask
    return contiguous


def _last(offsets):
    return int(offsets[-1:].get()[0])


def count(mask):
    """How many elements of a mask are true (int).

    Parameters
    ----------
    mask : GPUArray of bool
        Of any shape and layout.

    Raises
    ------
    TypeError
        For anything else.
    """
    mask = _in_c_order(mask)
    return _last(_kernels(np.int64).offsets(mask)) if mask.size else 0


def nonzero_flat(mask, dtype=np.int64):
    """The flat indices, in C order, of a mask's true elements. Waits for their number.

    Parameters
    ----------
    mask : GPUArray of bool
        Of any shape and layout.
    dtype : dtype, optional
        Of the indices: int64, or int32 where that holds them.

    Returns
    -------
    GPUArray of `dtype`, one axis, ascending

    Raises
    ------
    TypeError
        For anything else.
    """
    mask = _in_c_order(mask)
    if 0 < mask.size <= core._few_items:
        numbers = arange(mask.size, dtype=dtype, allocator=mask.allocator)
        indices = core._select_few(numbers, mask.reshape(mask.size))
        if indices is not None:
            return indices
    kernels = _kernels(dtype)
    offsets = kernels.offsets(mask) if mask.size else None
    number = _last(offsets) if mask.size else 0
    indices = core.GPUArray((number,), dtype, allocator=mask.allocator)
    if number:
        kernels.write(mask, offsets, indices)
    return indices
