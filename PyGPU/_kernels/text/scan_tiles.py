"""Scans on a GPU: the kernel's text, and the sizes of its tiles.

The scan makes one pass with decoupled look-back (D. Merrill and M. Garland, "Single-pass Parallel
Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002). Each block scans a tile, publishes the
tile's total, and computes the prefix of its tile from the totals of the tiles before.
"""

from __future__ import annotations

from typing import NamedTuple

from PyGPU._kernels.text.scan import Scan

# Tile shapes by element size in bytes: threads per block, words of 16 bytes per thread, blocks per
# multiprocessor, and nanoseconds before a block's first look at the tiles before.
# An odd number of words keeps the threads of a warp in different banks of shared memory. Larger
# tiles need fewer steps of look-back. A look that is too early delays the tiles that it waits for;
# the delay is about the time that the tiles of other blocks take.
TUNING = {
    1: (256, 7, 2, 1500),
    2: (192, 15, 2, 1500),
    4: (192, 15, 4, 3000),
    8: (128, 23, 4, 3000),
    16: (256, 7, 3, 1500),
}
_OTHERS = (256, 5, 1, 1500)
_SHARED_BYTES = 47 << 10  # limit of a tile, below the 48 KB that every device has


class Tile(NamedTuple):
    """The shape of a tile."""

    warp: int  # lanes of a warp
    threads: int
    items: int  # elements per thread
    itemsize: int
    blocks: int = 1  # blocks per multiprocessor
    delay: int = 0  # nanoseconds before a block's first look, if there are many tiles
    pause: int = 100  # nanoseconds between two looks

    @property
    def size(self) -> int:
        return self.threads * self.items

    @property
    def words(self) -> int:
        """Number of 8-byte words in which a tile publishes its total."""
        return -(-self.itemsize // 4)

    def delays(self, multiprocessors: int) -> tuple[int, int, int]:
        """Return (few, many, delay), which set the delay before a block's first look.

        Blocks of launches of more than `few` tiles wait for a part of `delay`. With more than
        `many` tiles they wait for all of it: the more tiles run, the longer a look takes.
        """
        return self.warp, 2 * self.blocks * multiprocessors, self.delay


def tile_for(itemsize: int, warp: int, shared_bytes: int = 64 << 10) -> Tile | None:
    """Return the Tile for elements of `itemsize` bytes, or None if they are too large.

    `shared_bytes` is the shared memory of a multiprocessor. It bounds how many blocks fit there:
    AMD's compiler warns about a kernel that asks for more.
    """
    threads, words, blocks, delay = TUNING.get(itemsize, _OTHERS)
    items = max(1, 16 * words // itemsize)

    def nbytes() -> int:  # the elements, and the totals of the warps
        return (threads * items + threads // warp + 1) * itemsize

    while nbytes() > _SHARED_BYTES and threads > warp:
        threads //= 2
    if nbytes() > _SHARED_BYTES:
        return None
    blocks = max(1, min(blocks, shared_bytes // nbytes()))
    return Tile(warp, threads, items, itemsize, blocks, delay)


# A total is published in 8-byte words: one half is the state, the other half a part of the value.
# Words are written and read whole, so their order does not matter. A reader that finds parts of
# different states reads them again.
#
# No fence is needed: words must not be torn, and must arrive. An aligned 8-byte access is not torn.
# A volatile access bypasses the caches of one multiprocessor. On NVIDIA's GPUs, it is as strong as
# a relaxed atomic operation. AMD's compiler makes it a load with `glc` (gfx940 and later: `sc0
# sc1`) and a write-through store, which meet the accesses of other multiprocessors in the L2, or
# behind it on devices with several L2 caches. No other memory is read because of such a word.
_LOOK_BACK = r"""
struct P_parts { unsigned P_part[P_WORDS]; };
__device__ inline P_parts P_split(const P_value &P_x) {
  P_parts P_pieces;
  P_pieces.P_part[P_WORDS - 1] = 0;
  memcpy(P_pieces.P_part, &P_x, sizeof P_x);
  return P_pieces;
}
__device__ inline P_value P_whole(const P_parts &P_pieces) {
  P_value P_x;
  memcpy(&P_x, P_pieces.P_part, sizeof P_x);
  return P_x;
}
#define P_SHUFFLE(P_name, P_shuffled) \
  __device__ inline P_value P_name(const P_value &P_x, int P_lane) { \
    P_parts P_pieces = P_split(P_x); \
    for (int P_i = 0; P_i < P_WORDS; ++P_i) \
      P_pieces.P_part[P_i] = P_shuffled(P_LANES, P_pieces.P_part[P_i], P_lane, P_WARP); \
    return P_whole(P_pieces); \
  }
P_SHUFFLE(P_up, __shfl_up_sync)
P_SHUFFLE(P_down, __shfl_down_sync)
P_SHUFFLE(P_from, __shfl_sync)

enum { P_UNKNOWN, P_TOTAL, P_PREFIX };  // what is known of a tile; P_PREFIX: all up to its end
struct P_known { unsigned P_state; P_parts P_pieces; };

__device__ inline void P_publish(unsigned long long *P_states, long long P_tile, unsigned P_state,
                              const P_value &P_x) {
  const P_parts P_pieces = P_split(P_x);
  volatile unsigned long long *P_words = P_states + P_tile * P_WORDS;
  for (int P_i = 0; P_i < P_WORDS; ++P_i)
    P_words[P_i] = (unsigned long long)P_state << 32 | P_pieces.P_part[P_i];
}
__device__ inline P_known P_look(const unsigned long long *P_states, long long P_tile) {
  P_known P_seen;
  P_seen.P_state = P_UNKNOWN;
  if (P_tile < 0) return P_seen;
  const volatile unsigned long long *P_words = P_states + P_tile * P_WORDS;
  unsigned long long P_word[P_WORDS];
  for (int P_i = 0; P_i < P_WORDS; ++P_i) P_word[P_i] = P_words[P_i];
  P_seen.P_state = unsigned(P_word[0] >> 32);
  for (int P_i = 0; P_i < P_WORDS; ++P_i) {
    if (unsigned(P_word[P_i] >> 32) != P_seen.P_state) P_seen.P_state = P_UNKNOWN;
    P_seen.P_pieces.P_part[P_i] = unsigned(P_word[P_i]);
  }
  return P_seen;
}

__device__ inline void P_wait(unsigned P_nanoseconds) {
  if (P_nanoseconds) __nanosleep(P_nanoseconds);
}
// What comes before a tile, found by a warp: its lanes look at the tiles before, the last lane at
// the nearest, and go back by a warp at a time until they meet a tile that knows all before it.
__device__ inline P_value P_before(const unsigned long long *P_states, long long P_tile,
                                   int P_lane, unsigned P_delay) {
  P_value P_ahead;
  bool P_any = false;
  P_tile += P_lane - P_WARP;
  P_wait(P_delay);
  P_known P_seen = P_look(P_states, P_tile);
  for (;;) {
    int P_first;  // the lane from which on totals count
    for (;;) {
      const unsigned long long P_ready = __ballot_sync(P_LANES, P_seen.P_state != P_UNKNOWN);
      P_first = 63 - __clzll((long long)__ballot_sync(P_LANES, P_seen.P_state == P_PREFIX));
      const unsigned long long P_needed = P_first < 0 ? P_LANES : P_LANES >> P_first << P_first;
      if ((P_ready & P_needed) == P_needed) break;
      P_wait(P_PAUSE);
      P_seen = P_look(P_states, P_tile);
    }
    P_value P_sum = P_whole(P_seen.P_pieces);
    // On its way while this is summed.
    if (P_first < 0) P_seen = P_look(P_states, P_tile -= P_WARP);
    for (int P_distance = 1; P_distance < P_WARP; P_distance *= 2) {
      const P_value P_next = P_down(P_sum, P_distance);
      if (P_lane >= P_first && P_lane + P_distance < P_WARP) P_sum = P_join(P_sum, P_next);
    }
    P_sum = P_from(P_sum, P_first < 0 ? 0 : P_first);
    P_ahead = P_any ? P_join(P_sum, P_ahead) : P_sum;
    if (P_first >= 0) return P_ahead;
    P_any = true;
  }
}
"""

# Each warp scans a stretch of the tile. Adjacent lanes read and write adjacent words of 16 bytes if
# the array allows it. The adjacent elements that each thread scans are exchanged through shared
# memory. Beyond the array's end, the last element is repeated, and its sums are not used.
# `P_state` is null for a single tile. Otherwise it starts as zeros: the number of the next tile,
# and from the third word on, the published state of each tile.
_TILES = """
struct alignas(P_ALIGNMENT) P_pack { P_stored P_item[P_PACK]; };

extern "C" __global__ void __launch_bounds__(P_THREADS, P_BLOCKS)
SCAN_tiles(long long P_n, const char *P_in, long long P_in_step, char *P_out, long long P_out_step,
           unsigned long long *P_state, unsigned P_delay) {
  __shared__ uint4 P_tile_words[P_THREADS / P_WARP * P_STRETCH_WORDS];
  __shared__ uint4 P_total_words[(P_THREADS / P_WARP + 1) * sizeof(P_value) / 16 + 1];
  __shared__ unsigned P_ticket;
  // Of the warps; then what comes before the tile.
  P_value *const P_totals = (P_value *)P_total_words;
  const int P_lane = threadIdx.x % P_WARP, P_warp = threadIdx.x / P_WARP;

  long long P_tile = 0;
  if (P_state) {  // in the order of their start, so that no tile waits for one that cannot start
    if (threadIdx.x == 0) P_ticket = atomicAdd((unsigned *)P_state, 1u);
    __syncthreads();
    P_tile = P_ticket;
    P_state += 2;
  }

  const long long P_base = (P_tile * (P_THREADS / P_WARP) + P_warp) * P_STRETCH;
  const long long P_left = P_n - P_base;
  P_stored *const P_stretch = (P_stored *)(P_tile_words + P_warp * P_STRETCH_WORDS);
  P_in += P_base * P_in_step;
  if (P_left >= P_STRETCH && P_in_step == sizeof(P_stored) && (size_t)P_in % 16 == 0) {
    uint4 P_word[P_LANE_WORDS];
    #pragma unroll
    for (int P_i = 0; P_i < P_LANE_WORDS; ++P_i)
      if (P_i * P_WARP + P_lane < P_STRETCH_WORDS)
        P_word[P_i] = ((const uint4 *)P_in)[P_i * P_WARP + P_lane];
    #pragma unroll
    for (int P_i = 0; P_i < P_LANE_WORDS; ++P_i)
      if (P_i * P_WARP + P_lane < P_STRETCH_WORDS)
        ((uint4 *)P_stretch)[P_i * P_WARP + P_lane] = P_word[P_i];
  } else {
    for (int P_i = P_lane; P_i < P_STRETCH; P_i += P_WARP)
      P_stretch[P_i] = *(const P_stored *)(P_in + (P_i < P_left ? P_i : P_left - 1) * P_in_step);
  }
  __syncwarp(P_LANES);

  P_pack *const P_mine = (P_pack *)(P_stretch + P_lane * P_ITEMS);
  P_value P_item[P_ITEMS];
  #pragma unroll
  for (int P_i = 0; P_i < P_ITEMS / P_PACK; ++P_i) {
    const P_pack P_group = P_mine[P_i];
    #pragma unroll
    for (int P_k = 0; P_k < P_PACK; ++P_k) P_item[P_i * P_PACK + P_k] = P_load(P_group.P_item[P_k]);
  }

  #pragma unroll
  for (int P_i = 1; P_i < P_ITEMS; ++P_i) P_item[P_i] = P_join(P_item[P_i - 1], P_item[P_i]);
  P_value P_sum = P_item[P_ITEMS - 1];
  #pragma unroll
  for (int P_distance = 1; P_distance < P_WARP; P_distance *= 2) {
    const P_value P_other = P_up(P_sum, P_distance);
    if (P_lane >= P_distance) P_sum = P_join(P_other, P_sum);
  }
  if (P_lane == P_WARP - 1) P_totals[P_warp] = P_sum;
  const P_value P_lanes_before = P_up(P_sum, 1);
  __syncthreads();
  P_value P_total = P_totals[0], P_warps_before = P_total;
  #pragma unroll
  for (int P_i = 1; P_i < P_THREADS / P_WARP; ++P_i) {
    if (P_i == P_warp) P_warps_before = P_total;
    P_total = P_join(P_total, P_totals[P_i]);
  }

  P_value P_ahead = P_start();
  bool P_any = P_EXCLUSIVE || P_tile > 0;
  if (P_state) {
    if (P_warp == 0) {
      if (P_tile > 0) {
        if (P_lane == 0) P_publish(P_state, P_tile, P_TOTAL, P_total);
        P_ahead = P_before(P_state, P_tile, P_lane, P_delay);
      }
      if (P_lane == 0) {
        P_publish(P_state, P_tile, P_PREFIX, P_any ? P_join(P_ahead, P_total) : P_total);
        P_totals[P_THREADS / P_WARP] = P_ahead;
      }
    }
    __syncthreads();
    P_ahead = P_totals[P_THREADS / P_WARP];
  }
  if (P_warp > 0) {
    P_ahead = P_any ? P_join(P_ahead, P_warps_before) : P_warps_before;
    P_any = true;
  }
  if (P_lane > 0) {
    P_ahead = P_any ? P_join(P_ahead, P_lanes_before) : P_lanes_before;
    P_any = true;
  }
  if (P_EXCLUSIVE) {
    #pragma unroll
    for (int P_i = P_ITEMS - 1; P_i > 0; --P_i) P_item[P_i] = P_join(P_ahead, P_item[P_i - 1]);
    P_item[0] = P_ahead;
  } else if (P_any) {
    #pragma unroll
    for (int P_i = 0; P_i < P_ITEMS; ++P_i) P_item[P_i] = P_join(P_ahead, P_item[P_i]);
  }

  #pragma unroll
  for (int P_i = 0; P_i < P_ITEMS / P_PACK; ++P_i) {
    P_pack P_group;
    #pragma unroll
    for (int P_k = 0; P_k < P_PACK; ++P_k)
      P_group.P_item[P_k] = P_store(P_item[P_i * P_PACK + P_k]);
    P_mine[P_i] = P_group;
  }
  __syncwarp(P_LANES);
  P_out += P_base * P_out_step;
  if (P_left >= P_STRETCH && P_out_step == sizeof(P_stored) && (size_t)P_out % 16 == 0) {
    #pragma unroll
    for (int P_i = 0; P_i < P_LANE_WORDS; ++P_i)
      if (P_i * P_WARP + P_lane < P_STRETCH_WORDS)
        ((uint4 *)P_out)[P_i * P_WARP + P_lane] = ((const uint4 *)P_stretch)[P_i * P_WARP + P_lane];
  } else {
    for (int P_i = P_lane; P_i < P_STRETCH && P_i < P_left; P_i += P_WARP)
      *(P_stored *)(P_out + P_i * P_out_step) = P_stretch[P_i];
  }
}
"""


def text(scan: Scan, tile: Tile) -> str:
    """Return the text of the one-pass scan, the kernel ``<name>_tiles``."""
    size = tile.itemsize
    chunk = tile.warp * tile.items
    words = chunk * size // 16
    pack = 16 // size if 16 % size == 0 else 1
    numbers = {
        "WARP": tile.warp,
        "THREADS": tile.threads,
        "ITEMS": tile.items,
        "WORDS": tile.words,
        "BLOCKS": tile.blocks,
        "PAUSE": tile.pause,
        "PACK": pack,
        "STRETCH": chunk,
        "STRETCH_WORDS": words,
        "LANE_WORDS": -(-words // tile.warp),
    }
    return (
        scan.head()
        + f"enum {{ {', '.join(f'P_{name} = {value}' for name, value in numbers.items())} }};\n"
        + f"#define P_ALIGNMENT {16 if 16 % size == 0 else 'alignof(P_stored)'}\n"
        + f"#define P_LANES {hex((1 << tile.warp) - 1)}ull\n"
        + _LOOK_BACK
        + _TILES.replace("SCAN", scan.name)
    )
