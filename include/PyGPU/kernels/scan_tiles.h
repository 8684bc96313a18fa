// The kernel of a scan in one pass over tiles, with decoupled look-back (D. Merrill and M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002). Each block
// scans a tile, publishes the tile's total, and computes the prefix of its tile from the totals of
// the tiles before.
//
// PyGPU/_kernels/text/scan_tiles.py writes the template parameters, after the text of a user, whose
// macros may have any name without P_ in front.
#pragma once

#include <PyGPU/kernels/warps.h>

namespace PyGPU {
namespace kernels {

// Values as pieces of 4 bytes, which warps exchange and tiles publish.
template <class Value, int count>
struct Pieces {
  unsigned piece[count];

  __device__ static Pieces of(const Value& value) {
    Pieces pieces;
    pieces.piece[count - 1] = 0;
    memcpy(pieces.piece, &value, sizeof value);
    return pieces;
  }
  __device__ Value whole() const {
    Value value;
    memcpy(&value, piece, sizeof value);
    return value;
  }
};

// A total is published in 8-byte words: one half is the state, the other half a piece of the value.
// Words are written and read whole, so their order does not matter. A reader that finds pieces of
// different states reads them again.
//
// No fence is needed: words must not be torn, and must arrive. An aligned 8-byte access is not
// torn. A volatile access bypasses the caches of one multiprocessor. On NVIDIA's GPUs, it is as
// strong as a relaxed atomic operation. AMD's compiler makes it a load with `glc` (gfx940 and
// later: `sc0 sc1`) and a write-through store, which meet the accesses of other multiprocessors in
// the L2, or behind it on devices with several L2 caches. No other memory is read because of such a
// word.
enum TileState { unknown_tile, total_known, prefix_known };  // prefix: of all up to the tile's end

}  // namespace kernels
}  // namespace PyGPU

// The elements and the operation of a scan. `Stored` is the type of elements in memory, `start` the
// value before the first element of an exclusive scan.
template <class Stored_, class Value_, bool is_exclusive_, Value_ (*start_)(),
          Value_ (*join_)(Value_, Value_), Value_ (*load_)(const Stored_&),
          Stored_ (*store_)(const Value_&)>
struct P_Scan {
  typedef Stored_ Stored;
  typedef Value_ Value;
  static constexpr bool is_exclusive = is_exclusive_;
  __device__ static Value start() { return start_(); }
  __device__ static Value join(const Value& a, const Value& b) { return join_(a, b); }
  __device__ static Value load(const Stored& x) { return load_(x); }
  __device__ static Stored store(const Value& x) { return store_(x); }
};

// The shape of a tile: lanes of a warp, threads of a block, elements of a thread, 8-byte words in
// which a tile publishes its total, elements of one access to shared memory, and nanoseconds
// between two looks at the tiles before.
template <int warp_, int threads_, int items_, int words_, int pack_, int pause_>
struct P_Tile {
  static constexpr int warp = warp_, threads = threads_, items = items_, words = words_;
  static constexpr int pack = pack_, pause = pause_;
};

template <class Scan, class Tile>
struct P_ScanTiles {
  typedef typename Scan::Stored Stored;
  typedef typename Scan::Value Value;
  typedef PyGPU::kernels::Pieces<Value, Tile::words> ValuePieces;

  static constexpr int warp = Tile::warp, warps = Tile::threads / warp, items = Tile::items;
  static constexpr unsigned long long lanes = PyGPU::kernels::all_lanes(warp);
  // Each warp scans a part of the tile, which it exchanges with memory in words of 16 bytes.
  static constexpr int warp_items = warp * items;
  static constexpr int warp_words = warp_items * int(sizeof(Stored)) / 16;
  static constexpr int lane_words = (warp_words + warp - 1) / warp;

#define PYGPU_SHUFFLE(name, shuffle)                                 \
  __device__ static Value name(const Value& value, int lane) {       \
    ValuePieces pieces = ValuePieces::of(value);                     \
    for (int i = 0; i < Tile::words; ++i)                            \
      pieces.piece[i] = shuffle(lanes, pieces.piece[i], lane, warp); \
    return pieces.whole();                                           \
  }
  PYGPU_SHUFFLE(from_below, __shfl_up_sync)
  PYGPU_SHUFFLE(from_above, __shfl_down_sync)
  PYGPU_SHUFFLE(from_lane, __shfl_sync)
#undef PYGPU_SHUFFLE

  struct Seen {
    unsigned state;
    ValuePieces pieces;
  };
  __device__ static void publish(unsigned long long* states, long long tile, unsigned state,
                                 const Value& value) {
    const ValuePieces pieces = ValuePieces::of(value);
    volatile unsigned long long* words = states + tile * Tile::words;
    for (int i = 0; i < Tile::words; ++i)
      words[i] = (unsigned long long)state << 32 | pieces.piece[i];
  }
  __device__ static Seen look(const unsigned long long* states, long long tile) {
    Seen seen;
    seen.state = PyGPU::kernels::unknown_tile;
    if (tile < 0) return seen;
    const volatile unsigned long long* words = states + tile * Tile::words;
    unsigned long long word[Tile::words];
    for (int i = 0; i < Tile::words; ++i) word[i] = words[i];
    seen.state = unsigned(word[0] >> 32);
    for (int i = 0; i < Tile::words; ++i) {
      if (unsigned(word[i] >> 32) != seen.state) seen.state = PyGPU::kernels::unknown_tile;
      seen.pieces.piece[i] = unsigned(word[i]);
    }
    return seen;
  }

  __device__ static void wait(unsigned nanoseconds) {
    if (nanoseconds) __nanosleep(nanoseconds);
  }
  // Return the prefix of a tile, found by a warp: its lanes look at the tiles before, the last lane
  // at the nearest, and go back by a warp at a time until they meet a tile whose prefix is known.
  __device__ static Value prefix_of(const unsigned long long* states, long long tile, int lane,
                                    unsigned delay) {
    Value prefix;
    bool has_prefix = false;
    tile += lane - warp;
    wait(delay);
    Seen seen = look(states, tile);
    for (;;) {
      int first;  // the lane from which on totals count
      for (;;) {
        const unsigned long long ready =
            __ballot_sync(lanes, seen.state != PyGPU::kernels::unknown_tile);
        first = 63 - __clzll((long long)__ballot_sync(lanes,
                                                      seen.state == PyGPU::kernels::prefix_known));
        const unsigned long long needed = first < 0 ? lanes : lanes >> first << first;
        if ((ready & needed) == needed) break;
        wait(Tile::pause);
        seen = look(states, tile);
      }
      Value sum = seen.pieces.whole();
      // The next look is on its way while this one is summed.
      if (first < 0) seen = look(states, tile -= warp);
      for (int distance = 1; distance < warp; distance *= 2) {
        const Value next = from_above(sum, distance);
        if (lane >= first && lane + distance < warp) sum = Scan::join(sum, next);
      }
      sum = from_lane(sum, first < 0 ? 0 : first);
      prefix = has_prefix ? Scan::join(sum, prefix) : sum;
      if (first >= 0) return prefix;
      has_prefix = true;
    }
  }

  // Elements that a thread exchanges with shared memory in one access.
  struct alignas(16 % sizeof(Stored) == 0 ? 16 : alignof(Stored)) Pack {
    Stored item[Tile::pack];
  };

  // Adjacent lanes read and write adjacent words of 16 bytes if the array allows it. The adjacent
  // elements that each thread scans are exchanged through shared memory. Beyond the array's end,
  // the last element is repeated, and its sums are not used. `state` is null for a single tile.
  // Otherwise it starts as zeros: the number of the next tile, and from the third word on, the
  // published state of each tile. `delay`: nanoseconds before a block's first look.
  __device__ static void P_run(long long n, const char* in, long long in_step, char* out,
                               long long out_step, unsigned long long* state, unsigned delay) {
    __shared__ uint4 tile_words[warps * warp_words];
    __shared__ uint4 total_words[(warps + 1) * sizeof(Value) / 16 + 1];
    __shared__ unsigned ticket;
    Value* const totals = (Value*)total_words;  // of the warps; then the prefix of the tile
    const int lane = threadIdx.x % warp, own_warp = threadIdx.x / warp;

    long long tile = 0;
    if (state) {  // in the order of their start, so that no tile waits for one that cannot start
      if (threadIdx.x == 0) ticket = atomicAdd((unsigned*)state, 1u);
      __syncthreads();
      tile = ticket;
      state += 2;
    }

    const long long base = (tile * warps + own_warp) * warp_items, left = n - base;
    Stored* const part = (Stored*)(tile_words + own_warp * warp_words);
    in += base * in_step;
    if (left >= warp_items && in_step == sizeof(Stored) && (size_t)in % 16 == 0) {
      uint4 word[lane_words];
#pragma unroll
      for (int i = 0; i < lane_words; ++i)
        if (i * warp + lane < warp_words) word[i] = ((const uint4*)in)[i * warp + lane];
#pragma unroll
      for (int i = 0; i < lane_words; ++i)
        if (i * warp + lane < warp_words) ((uint4*)part)[i * warp + lane] = word[i];
    } else {
      for (int i = lane; i < warp_items; i += warp)
        part[i] = *(const Stored*)(in + (i < left ? i : left - 1) * in_step);
    }
    __syncwarp(lanes);

    Pack* const mine = (Pack*)(part + lane * items);
    Value item[items];
#pragma unroll
    for (int i = 0; i < items / Tile::pack; ++i) {
      const Pack group = mine[i];
#pragma unroll
      for (int k = 0; k < Tile::pack; ++k) item[i * Tile::pack + k] = Scan::load(group.item[k]);
    }

#pragma unroll
    for (int i = 1; i < items; ++i) item[i] = Scan::join(item[i - 1], item[i]);
    Value sum = item[items - 1];
#pragma unroll
    for (int distance = 1; distance < warp; distance *= 2) {
      const Value other = from_below(sum, distance);
      if (lane >= distance) sum = Scan::join(other, sum);
    }
    if (lane == warp - 1) totals[own_warp] = sum;
    const Value lanes_before = from_below(sum, 1);
    __syncthreads();
    Value total = totals[0], warps_before = total;
#pragma unroll
    for (int i = 1; i < warps; ++i) {
      if (i == own_warp) warps_before = total;
      total = Scan::join(total, totals[i]);
    }

    Value before = Scan::start();
    bool has_before = Scan::is_exclusive || tile > 0;
    if (state) {
      if (own_warp == 0) {
        if (tile > 0) {
          if (lane == 0) publish(state, tile, PyGPU::kernels::total_known, total);
          before = prefix_of(state, tile, lane, delay);
        }
        if (lane == 0) {
          publish(state, tile, PyGPU::kernels::prefix_known,
                  has_before ? Scan::join(before, total) : total);
          totals[warps] = before;
        }
      }
      __syncthreads();
      before = totals[warps];
    }
    if (own_warp > 0) {
      before = has_before ? Scan::join(before, warps_before) : warps_before;
      has_before = true;
    }
    if (lane > 0) {
      before = has_before ? Scan::join(before, lanes_before) : lanes_before;
      has_before = true;
    }
    if (Scan::is_exclusive) {
#pragma unroll
      for (int i = items - 1; i > 0; --i) item[i] = Scan::join(before, item[i - 1]);
      item[0] = before;
    } else if (has_before) {
#pragma unroll
      for (int i = 0; i < items; ++i) item[i] = Scan::join(before, item[i]);
    }

#pragma unroll
    for (int i = 0; i < items / Tile::pack; ++i) {
      Pack group;
#pragma unroll
      for (int k = 0; k < Tile::pack; ++k) group.item[k] = Scan::store(item[i * Tile::pack + k]);
      mine[i] = group;
    }
    __syncwarp(lanes);
    out += base * out_step;
    if (left >= warp_items && out_step == sizeof(Stored) && (size_t)out % 16 == 0) {
#pragma unroll
      for (int i = 0; i < lane_words; ++i)
        if (i * warp + lane < warp_words)
          ((uint4*)out)[i * warp + lane] = ((const uint4*)part)[i * warp + lane];
    } else {
      for (int i = lane; i < warp_items && i < left; i += warp)
        *(Stored*)(out + i * out_step) = part[i];
    }
  }
};
