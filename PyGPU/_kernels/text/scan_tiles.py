"""Scans on a GPU: the kernel's text, and the sizes of its tiles.

One pass with decoupled look-back (D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with
Decoupled Look-back", NVIDIA NVR-2016-002): each block scans a tile, makes the tile's total known,
and finds what comes before it from the totals of the tiles before.
"""

from typing import NamedTuple

# Bytes of an element -> (threads of a block, words of 16 bytes of a thread, nanoseconds between two
# looks at a tile that is not ready). An odd number of words keeps the threads of a warp in
# different banks of shared memory. The larger the tile, the fewer the steps of the look-back, whose
# latency bounds the number of tiles a second.
TUNING = {1: (512, 5, 0), 2: (256, 11, 0), 4: (256, 9, 0), 8: (256, 11, 0), 16: (384, 7, 0)}
_OTHERS = (256, 5, 0)
_SHARED_BYTES = 47 << 10  # of a tile, below the 48 KB that every device has


class Tile(NamedTuple):
    """The shape of a tile."""

    warp: int  # lanes
    threads: int
    items: int  # of a thread
    itemsize: int
    pause: int = 0  # nanoseconds between two looks at a tile that is not ready

    @property
    def size(self):
        return self.threads * self.items

    @property
    def words(self):
        """Of 8 bytes, in which a tile tells the others its total."""
        return -(-self.itemsize // 4)


def tile_for(itemsize, warp):
    """The Tile for elements of `itemsize` bytes, or None where they are too large for one."""
    threads, words, pause = TUNING.get(itemsize, _OTHERS)
    items = max(1, 16 * words // itemsize)

    def nbytes():  # with the totals of the warps
        return (threads * items + threads // warp + 1) * itemsize

    while nbytes() > _SHARED_BYTES and threads > warp:
        threads //= 2
    return Tile(warp, threads, items, itemsize, pause) if nbytes() <= _SHARED_BYTES else None


# A total is published in words of 8 bytes, half of each the state, half a part of the value:
# written and read whole, they need no order among them. Parts of different states are read again.
#
# So no fence is needed, only words that are not torn and that arrive. An aligned access of 8 bytes
# is one. A volatile one goes past the caches of a single multiprocessor: on NVIDIA's GPUs it is as
# strong as a relaxed atomic operation; AMD's compiler makes it a load with `glc` (gfx940 and later:
# `sc0 sc1`) and a store that is written through, so that it meets the others' in the L2, or behind
# it where a device has several. Nothing else is read because of such a word.
_LOOK_BACK = """
struct P_parts { unsigned part[P_WORDS]; };
__device__ inline P_parts P_split(const P_value &x) {
  P_parts parts;
  parts.part[P_WORDS - 1] = 0;
  memcpy(parts.part, &x, sizeof x);
  return parts;
}
__device__ inline P_value P_whole(const P_parts &parts) {
  P_value x;
  memcpy(&x, parts.part, sizeof x);
  return x;
}
__device__ inline P_value P_up(const P_value &x, unsigned distance) {
  P_parts parts = P_split(x);
  for (int i = 0; i < P_WORDS; ++i)
    parts.part[i] = __shfl_up_sync(P_LANES, parts.part[i], distance, P_WARP);
  return P_whole(parts);
}
__device__ inline P_value P_down(const P_value &x, unsigned distance) {
  P_parts parts = P_split(x);
  for (int i = 0; i < P_WORDS; ++i)
    parts.part[i] = __shfl_down_sync(P_LANES, parts.part[i], distance, P_WARP);
  return P_whole(parts);
}
__device__ inline P_value P_from(const P_value &x, int lane) {
  P_parts parts = P_split(x);
  for (int i = 0; i < P_WORDS; ++i)
    parts.part[i] = __shfl_sync(P_LANES, parts.part[i], lane, P_WARP);
  return P_whole(parts);
}

enum { P_UNKNOWN, P_TOTAL, P_PREFIX };  // what is known of a tile; P_PREFIX: all up to its end
struct P_known { unsigned state; P_parts parts; };

__device__ inline void P_publish(unsigned long long *states, long long tile, unsigned state,
                              const P_value &x) {
  const P_parts parts = P_split(x);
  volatile unsigned long long *words = states + tile * P_WORDS;
  for (int i = 0; i < P_WORDS; ++i)
    words[i] = (unsigned long long)state << 32 | parts.part[i];
}
__device__ inline P_known P_look(const unsigned long long *states, long long tile) {
  P_known known;
  known.state = P_UNKNOWN;
  if (tile < 0) return known;
  const volatile unsigned long long *words = states + tile * P_WORDS;
  unsigned long long word[P_WORDS];
  for (int i = 0; i < P_WORDS; ++i) word[i] = words[i];
  known.state = unsigned(word[0] >> 32);
  for (int i = 0; i < P_WORDS; ++i) {
    if (unsigned(word[i] >> 32) != known.state) known.state = P_UNKNOWN;
    known.parts.part[i] = unsigned(word[i]);
  }
  return known;
}

// What comes before a tile, found by a warp: its lanes look at the tiles before, the last lane at
// the nearest, and go back by a warp at a time until they meet a tile that knows all before it.
__device__ inline P_value P_before(const unsigned long long *states, long long tile, int lane) {
  P_value before;
  bool any = false;
  tile += lane - P_WARP;
  P_known known = P_look(states, tile);
  for (;;) {
    int first;  // the lane from which on totals count
    for (;;) {
      const unsigned long long ready = __ballot_sync(P_LANES, known.state != P_UNKNOWN);
      first = 63 - __clzll((long long)__ballot_sync(P_LANES, known.state == P_PREFIX));
      const unsigned long long needed = first < 0 ? P_LANES : P_LANES >> first << first;
      if ((ready & needed) == needed) break;
      P_PAUSE
      known = P_look(states, tile);
    }
    P_value sum = P_whole(known.parts);
    if (first < 0) known = P_look(states, tile -= P_WARP);  // on its way while this is summed
    for (int distance = 1; distance < P_WARP; distance *= 2) {
      const P_value next = P_down(sum, distance);
      if (lane >= first && lane + distance < P_WARP) sum = P_join(sum, next);
    }
    sum = P_from(sum, first < 0 ? 0 : first);
    before = any ? P_join(sum, before) : sum;
    if (first >= 0) return before;
    any = true;
  }
}
"""

# Each warp has a stretch of the tile. Memory is read and written by words of 16 bytes, neighbours
# by neighbouring lanes, where the array allows it; each thread's elements, which lie side by side,
# pass through shared memory. Beyond the array's end its last element is repeated: the sums are
# not used. `state` is null for a single tile; otherwise zeros: the next tile's number, then, from
# its third word on, what is known of each tile.
_TILES = """
struct alignas(P_ALIGNMENT) P_pack { P_stored item[P_PACK]; };

extern "C" __global__ void __launch_bounds__(P_THREADS)
SCAN_tiles(long long n, const char *in, long long in_step, char *out, long long out_step,
           unsigned long long *state) {
  __shared__ uint4 tile_words[P_THREADS / P_WARP * P_STRETCH_WORDS];
  __shared__ uint4 total_words[(P_THREADS / P_WARP + 1) * sizeof(P_value) / 16 + 1];
  __shared__ unsigned ticket;
  P_value *const totals = (P_value *)total_words;  // of the warps; then what comes before the tile
  const int lane = threadIdx.x % P_WARP, warp = threadIdx.x / P_WARP;

  long long tile = 0;
  if (state) {  // in the order of their start, so that no tile waits for one that cannot start
    if (threadIdx.x == 0) ticket = atomicAdd((unsigned *)state, 1u);
    __syncthreads();
    tile = ticket;
    state += 2;
  }

  const long long base = (tile * (P_THREADS / P_WARP) + warp) * P_STRETCH;
  const long long left = n - base;
  P_stored *const stretch = (P_stored *)(tile_words + warp * P_STRETCH_WORDS);
  in += base * in_step;
  if (left >= P_STRETCH && in_step == sizeof(P_stored) && (size_t)in % 16 == 0) {
    uint4 word[P_LANE_WORDS];
    #pragma unroll
    for (int i = 0; i < P_LANE_WORDS; ++i)
      if (i * P_WARP + lane < P_STRETCH_WORDS) word[i] = ((const uint4 *)in)[i * P_WARP + lane];
    #pragma unroll
    for (int i = 0; i < P_LANE_WORDS; ++i)
      if (i * P_WARP + lane < P_STRETCH_WORDS) ((uint4 *)stretch)[i * P_WARP + lane] = word[i];
  } else {
    for (int i = lane; i < P_STRETCH; i += P_WARP)
      stretch[i] = *(const P_stored *)(in + (i < left ? i : left - 1) * in_step);
  }
  __syncwarp(P_LANES);

  P_pack *const mine = (P_pack *)(stretch + lane * P_ITEMS);
  P_value item[P_ITEMS];
  #pragma unroll
  for (int i = 0; i < P_ITEMS / P_PACK; ++i) {
    const P_pack pack = mine[i];
    #pragma unroll
    for (int k = 0; k < P_PACK; ++k) item[i * P_PACK + k] = P_load(pack.item[k]);
  }

  #pragma unroll
  for (int i = 1; i < P_ITEMS; ++i) item[i] = P_join(item[i - 1], item[i]);
  P_value sum = item[P_ITEMS - 1];
  #pragma unroll
  for (int distance = 1; distance < P_WARP; distance *= 2) {
    const P_value other = P_up(sum, distance);
    if (lane >= distance) sum = P_join(other, sum);
  }
  if (lane == P_WARP - 1) totals[warp] = sum;
  const P_value lanes_before = P_up(sum, 1);
  __syncthreads();
  P_value total = totals[0], warps_before = total;
  #pragma unroll
  for (int i = 1; i < P_THREADS / P_WARP; ++i) {
    if (i == warp) warps_before = total;
    total = P_join(total, totals[i]);
  }

  P_value before = P_start();
  bool any = P_EXCLUSIVE || tile > 0;
  if (state) {
    if (warp == 0) {
      if (tile > 0) {
        if (lane == 0) P_publish(state, tile, P_TOTAL, total);
        before = P_before(state, tile, lane);
      }
      if (lane == 0) {
        P_publish(state, tile, P_PREFIX, any ? P_join(before, total) : total);
        totals[P_THREADS / P_WARP] = before;
      }
    }
    __syncthreads();
    before = totals[P_THREADS / P_WARP];
  }
  if (warp > 0) {
    before = any ? P_join(before, warps_before) : warps_before;
    any = true;
  }
  if (lane > 0) {
    before = any ? P_join(before, lanes_before) : lanes_before;
    any = true;
  }
  if (P_EXCLUSIVE) {
    #pragma unroll
    for (int i = P_ITEMS - 1; i > 0; --i) item[i] = P_join(before, item[i - 1]);
    item[0] = before;
  } else if (any) {
    #pragma unroll
    for (int i = 0; i < P_ITEMS; ++i) item[i] = P_join(before, item[i]);
  }

  #pragma unroll
  for (int i = 0; i < P_ITEMS / P_PACK; ++i) {
    P_pack pack;
    #pragma unroll
    for (int k = 0; k < P_PACK; ++k) pack.item[k] = P_store(item[i * P_PACK + k]);
    mine[i] = pack;
  }
  __syncwarp(P_LANES);
  out += base * out_step;
  if (left >= P_STRETCH && out_step == sizeof(P_stored) && (size_t)out % 16 == 0) {
    #pragma unroll
    for (int i = 0; i < P_LANE_WORDS; ++i)
      if (i * P_WARP + lane < P_STRETCH_WORDS)
        ((uint4 *)out)[i * P_WARP + lane] = ((const uint4 *)stretch)[i * P_WARP + lane];
  } else {
    for (int i = lane; i < P_STRETCH && i < left; i += P_WARP)
      *(P_stored *)(out + i * out_step) = stretch[i];
  }
}
"""


def text(scan, tile):
    """The text of a scan in one pass, ``<name>_tiles``."""
    size = tile.itemsize
    stretch = tile.warp * tile.items
    words = stretch * size // 16
    pack = 16 // size if 16 % size == 0 else 1
    numbers = {
        "WARP": tile.warp,
        "THREADS": tile.threads,
        "ITEMS": tile.items,
        "WORDS": tile.words,
        "PACK": pack,
        "STRETCH": stretch,
        "STRETCH_WORDS": words,
        "LANE_WORDS": -(-words // tile.warp),
    }
    return (
        scan.head()
        + f"enum {{ {', '.join(f'P_{name} = {value}' for name, value in numbers.items())} }};\n"
        + f"#define P_ALIGNMENT {16 if 16 % size == 0 else 'alignof(P_stored)'}\n"
        + f"#define P_LANES {hex((1 << tile.warp) - 1)}ull\n"
        + f"#define P_PAUSE {f'__nanosleep({tile.pause});' if tile.pause else ''}\n"
        + _LOOK_BACK
        + _TILES.replace("SCAN", scan.name)
    )
