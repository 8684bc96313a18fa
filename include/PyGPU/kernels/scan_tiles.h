// The kernel of a scan in one pass over tiles, with decoupled look-back (D. Merrill and M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002). Each block
// scans a tile, publishes the tile's total, and computes the prefix of its tile from the totals of
// the tiles before.
//
// PyGPU/_kernels/text/scan_tiles.py writes the template parameters. All names have P_ in front,
// because a user's options and preamble may define any other name as a macro.
#pragma once

#include <PyGPU/kernels/warps.h>

// Values as pieces of 4 bytes, which warps exchange and tiles publish.
template <class P_Value, int P_count>
struct P_Pieces {
  unsigned P_piece[P_count];

  __device__ static P_Pieces P_of(const P_Value& P_value) {
    P_Pieces P_pieces;
    P_pieces.P_piece[P_count - 1] = 0;
    memcpy(P_pieces.P_piece, &P_value, sizeof P_value);
    return P_pieces;
  }
  __device__ P_Value P_whole() const {
    P_Value P_value;
    memcpy(&P_value, P_piece, sizeof P_value);
    return P_value;
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
// The state of a tile. A prefix is the total of all elements up to the tile's end.
enum P_TileState { P_unknown_tile, P_total_known, P_prefix_known };

// The elements and the operation of a scan. `Stored` is the type of elements in memory, `start` the
// value before the first element of an exclusive scan.
template <class P_Stored_, class P_Value_, bool P_is_exclusive_, P_Value_ (*P_start_)(),
          P_Value_ (*P_join_)(P_Value_, P_Value_), P_Value_ (*P_load_)(const P_Stored_&),
          P_Stored_ (*P_store_)(const P_Value_&)>
struct P_Scan {
  typedef P_Stored_ P_Stored;
  typedef P_Value_ P_Value;
  static constexpr bool P_is_exclusive = P_is_exclusive_;
  __device__ static P_Value P_start() { return P_start_(); }
  __device__ static P_Value P_join(const P_Value& P_a, const P_Value& P_b) {
    return P_join_(P_a, P_b);
  }
  __device__ static P_Value P_load(const P_Stored& P_x) { return P_load_(P_x); }
  __device__ static P_Stored P_store(const P_Value& P_x) { return P_store_(P_x); }
};

// The shape of a tile: lanes of a warp, threads of a block, elements of a thread, 8-byte words in
// which a tile publishes its total, elements of one access to shared memory, and nanoseconds
// between two looks at the tiles before.
template <int P_warp_, int P_threads_, int P_items_, int P_words_, int P_pack_, int P_pause_>
struct P_Tile {
  static constexpr int P_warp = P_warp_, P_threads = P_threads_, P_items = P_items_,
                       P_words = P_words_;
  static constexpr int P_pack = P_pack_, P_pause = P_pause_;
};

template <class P_Scanned, class P_Shape>
struct P_ScanTiles {
  typedef typename P_Scanned::P_Stored P_Stored;
  typedef typename P_Scanned::P_Value P_Value;
  typedef P_Pieces<P_Value, P_Shape::P_words> P_ValuePieces;

  static constexpr int P_warp = P_Shape::P_warp, P_warps = P_Shape::P_threads / P_warp,
                       P_items = P_Shape::P_items;
  static constexpr unsigned long long P_lanes = P_all_lanes(P_warp);
  // Each warp scans a part of the tile, which it exchanges with memory in words of 16 bytes.
  static constexpr int P_warp_items = P_warp * P_items;
  static constexpr int P_warp_words = P_warp_items * int(sizeof(P_Stored)) / 16;
  static constexpr int P_lane_words = (P_warp_words + P_warp - 1) / P_warp;

#define PYGPU_SHUFFLE(P_name, P_shuffle)                                                 \
  __device__ static P_Value P_name(const P_Value& P_value, int P_lane) {                 \
    P_ValuePieces P_pieces = P_ValuePieces::P_of(P_value);                               \
    for (int P_i = 0; P_i < P_Shape::P_words; ++P_i)                                     \
      P_pieces.P_piece[P_i] = P_shuffle(P_lanes, P_pieces.P_piece[P_i], P_lane, P_warp); \
    return P_pieces.P_whole();                                                           \
  }
  PYGPU_SHUFFLE(P_from_below, __shfl_up_sync)
  PYGPU_SHUFFLE(P_from_above, __shfl_down_sync)
  PYGPU_SHUFFLE(P_from_lane, __shfl_sync)
#undef PYGPU_SHUFFLE

  struct P_Seen {
    unsigned P_state;
    P_ValuePieces P_pieces;
  };
  __device__ static void P_publish(unsigned long long* P_states, long long P_tile, unsigned P_state,
                                   const P_Value& P_value) {
    const P_ValuePieces P_pieces = P_ValuePieces::P_of(P_value);
    volatile unsigned long long* P_words = P_states + P_tile * P_Shape::P_words;
    for (int P_i = 0; P_i < P_Shape::P_words; ++P_i)
      P_words[P_i] = (unsigned long long)P_state << 32 | P_pieces.P_piece[P_i];
  }
  __device__ static P_Seen P_look(const unsigned long long* P_states, long long P_tile) {
    P_Seen P_seen;
    P_seen.P_state = P_unknown_tile;
    if (P_tile < 0) return P_seen;
    const volatile unsigned long long* P_words = P_states + P_tile * P_Shape::P_words;
    unsigned long long P_word[P_Shape::P_words];
    for (int P_i = 0; P_i < P_Shape::P_words; ++P_i) P_word[P_i] = P_words[P_i];
    P_seen.P_state = unsigned(P_word[0] >> 32);
    for (int P_i = 0; P_i < P_Shape::P_words; ++P_i) {
      if (unsigned(P_word[P_i] >> 32) != P_seen.P_state) P_seen.P_state = P_unknown_tile;
      P_seen.P_pieces.P_piece[P_i] = unsigned(P_word[P_i]);
    }
    return P_seen;
  }

  __device__ static void P_wait(unsigned P_nanoseconds) {
    if (P_nanoseconds) __nanosleep(P_nanoseconds);
  }
  // Return the prefix of a tile, found by a warp: its lanes look at the tiles before, the last lane
  // at the nearest, and go back by a warp at a time until they meet a tile whose prefix is known.
  __device__ static P_Value P_prefix_of(const unsigned long long* P_states, long long P_tile,
                                        int P_lane, unsigned P_delay) {
    P_Value P_prefix;
    bool P_has_prefix = false;
    P_tile += P_lane - P_warp;
    P_wait(P_delay);
    P_Seen P_seen = P_look(P_states, P_tile);
    for (;;) {
      int P_first;  // the lane from which on totals count
      for (;;) {
        const unsigned long long P_ready = __ballot_sync(P_lanes, P_seen.P_state != P_unknown_tile);
        P_first = 63 - __clzll((long long)__ballot_sync(P_lanes, P_seen.P_state == P_prefix_known));
        const unsigned long long P_needed = P_first < 0 ? P_lanes : P_lanes >> P_first << P_first;
        if ((P_ready & P_needed) == P_needed) break;
        P_wait(P_Shape::P_pause);
        P_seen = P_look(P_states, P_tile);
      }
      P_Value P_sum = P_seen.P_pieces.P_whole();
      // The next look is on its way while this one is summed.
      if (P_first < 0) P_seen = P_look(P_states, P_tile -= P_warp);
      for (int P_distance = 1; P_distance < P_warp; P_distance *= 2) {
        const P_Value P_next = P_from_above(P_sum, P_distance);
        if (P_lane >= P_first && P_lane + P_distance < P_warp)
          P_sum = P_Scanned::P_join(P_sum, P_next);
      }
      P_sum = P_from_lane(P_sum, P_first < 0 ? 0 : P_first);
      P_prefix = P_has_prefix ? P_Scanned::P_join(P_sum, P_prefix) : P_sum;
      if (P_first >= 0) return P_prefix;
      P_has_prefix = true;
    }
  }

  // Elements that a thread exchanges with shared memory in one access.
  struct alignas(16 % sizeof(P_Stored) == 0 ? 16 : alignof(P_Stored)) P_Pack {
    P_Stored P_item[P_Shape::P_pack];
  };

  // Adjacent lanes read and write adjacent words of 16 bytes if the array allows it. The adjacent
  // elements that each thread scans are exchanged through shared memory. Beyond the array's end,
  // the last element is repeated, and its sums are not used. `state` is null for a single tile.
  // Otherwise it starts as zeros: the number of the next tile, and from the third word on, the
  // published state of each tile. `delay`: nanoseconds before a block's first look.
  __device__ static void P_run(long long P_n, const char* P_in, long long P_in_step, char* P_out,
                               long long P_out_step, unsigned long long* P_state,
                               unsigned P_delay) {
    __shared__ uint4 P_tile_words[P_warps * P_warp_words];
    __shared__ uint4 P_total_words[(P_warps + 1) * sizeof(P_Value) / 16 + 1];
    __shared__ unsigned P_ticket;
    P_Value* const P_totals = (P_Value*)P_total_words;  // of the warps; then the prefix of the tile
    const int P_lane = threadIdx.x % P_warp, P_own_warp = threadIdx.x / P_warp;

    long long P_tile = 0;
    if (P_state) {  // in the order of their start, so that no tile waits for one that cannot start
      if (threadIdx.x == 0) P_ticket = atomicAdd((unsigned*)P_state, 1u);
      __syncthreads();
      P_tile = P_ticket;
      P_state += 2;
    }

    const long long P_base = (P_tile * P_warps + P_own_warp) * P_warp_items, P_left = P_n - P_base;
    P_Stored* const P_part = (P_Stored*)(P_tile_words + P_own_warp * P_warp_words);
    P_in += P_base * P_in_step;
    if (P_left >= P_warp_items && P_in_step == sizeof(P_Stored) && (size_t)P_in % 16 == 0) {
      uint4 P_word[P_lane_words];
#pragma unroll
      for (int P_i = 0; P_i < P_lane_words; ++P_i)
        if (P_i * P_warp + P_lane < P_warp_words)
          P_word[P_i] = ((const uint4*)P_in)[P_i * P_warp + P_lane];
#pragma unroll
      for (int P_i = 0; P_i < P_lane_words; ++P_i)
        if (P_i * P_warp + P_lane < P_warp_words)
          ((uint4*)P_part)[P_i * P_warp + P_lane] = P_word[P_i];
    } else {
      for (int P_i = P_lane; P_i < P_warp_items; P_i += P_warp)
        P_part[P_i] = *(const P_Stored*)(P_in + (P_i < P_left ? P_i : P_left - 1) * P_in_step);
    }
    __syncwarp(P_lanes);

    P_Pack* const P_mine = (P_Pack*)(P_part + P_lane * P_items);
    P_Value P_item[P_items];
#pragma unroll
    for (int P_i = 0; P_i < P_items / P_Shape::P_pack; ++P_i) {
      const P_Pack P_group = P_mine[P_i];
#pragma unroll
      for (int P_k = 0; P_k < P_Shape::P_pack; ++P_k)
        P_item[P_i * P_Shape::P_pack + P_k] = P_Scanned::P_load(P_group.P_item[P_k]);
    }

#pragma unroll
    for (int P_i = 1; P_i < P_items; ++P_i)
      P_item[P_i] = P_Scanned::P_join(P_item[P_i - 1], P_item[P_i]);
    P_Value P_sum = P_item[P_items - 1];
#pragma unroll
    for (int P_distance = 1; P_distance < P_warp; P_distance *= 2) {
      const P_Value P_other = P_from_below(P_sum, P_distance);
      if (P_lane >= P_distance) P_sum = P_Scanned::P_join(P_other, P_sum);
    }
    if (P_lane == P_warp - 1) P_totals[P_own_warp] = P_sum;
    const P_Value P_lanes_before = P_from_below(P_sum, 1);
    __syncthreads();
    P_Value P_total = P_totals[0], P_warps_before = P_total;
#pragma unroll
    for (int P_i = 1; P_i < P_warps; ++P_i) {
      if (P_i == P_own_warp) P_warps_before = P_total;
      P_total = P_Scanned::P_join(P_total, P_totals[P_i]);
    }

    P_Value P_before = P_Scanned::P_start();
    bool P_has_before = P_Scanned::P_is_exclusive || P_tile > 0;
    if (P_state) {
      if (P_own_warp == 0) {
        if (P_tile > 0) {
          if (P_lane == 0) P_publish(P_state, P_tile, P_total_known, P_total);
          P_before = P_prefix_of(P_state, P_tile, P_lane, P_delay);
        }
        if (P_lane == 0) {
          P_publish(P_state, P_tile, P_prefix_known,
                    P_has_before ? P_Scanned::P_join(P_before, P_total) : P_total);
          P_totals[P_warps] = P_before;
        }
      }
      __syncthreads();
      P_before = P_totals[P_warps];
    }
    if (P_own_warp > 0) {
      P_before = P_has_before ? P_Scanned::P_join(P_before, P_warps_before) : P_warps_before;
      P_has_before = true;
    }
    if (P_lane > 0) {
      P_before = P_has_before ? P_Scanned::P_join(P_before, P_lanes_before) : P_lanes_before;
      P_has_before = true;
    }
    if (P_Scanned::P_is_exclusive) {
#pragma unroll
      for (int P_i = P_items - 1; P_i > 0; --P_i)
        P_item[P_i] = P_Scanned::P_join(P_before, P_item[P_i - 1]);
      P_item[0] = P_before;
    } else if (P_has_before) {
#pragma unroll
      for (int P_i = 0; P_i < P_items; ++P_i)
        P_item[P_i] = P_Scanned::P_join(P_before, P_item[P_i]);
    }

#pragma unroll
    for (int P_i = 0; P_i < P_items / P_Shape::P_pack; ++P_i) {
      P_Pack P_group;
#pragma unroll
      for (int P_k = 0; P_k < P_Shape::P_pack; ++P_k)
        P_group.P_item[P_k] = P_Scanned::P_store(P_item[P_i * P_Shape::P_pack + P_k]);
      P_mine[P_i] = P_group;
    }
    __syncwarp(P_lanes);
    P_out += P_base * P_out_step;
    if (P_left >= P_warp_items && P_out_step == sizeof(P_Stored) && (size_t)P_out % 16 == 0) {
#pragma unroll
      for (int P_i = 0; P_i < P_lane_words; ++P_i)
        if (P_i * P_warp + P_lane < P_warp_words)
          ((uint4*)P_out)[P_i * P_warp + P_lane] = ((const uint4*)P_part)[P_i * P_warp + P_lane];
    } else {
      for (int P_i = P_lane; P_i < P_warp_items && P_i < P_left; P_i += P_warp)
        *(P_Stored*)(P_out + P_i * P_out_step) = P_part[P_i];
    }
  }
};
