// <cooperative_groups.h> for kernels of the `host` target. Groups are the thread block, the grid,
// tiles of a warp, and coalesced lanes of a warp.
#pragma once

#include "../../cuda_on_host.h"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(int line = __builtin_LINE()) { PyGPU_host_barrier(line); }
  static unsigned thread_rank() { return PyGPU::host::thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// All threads of the grid. The host machine has no barrier for a whole grid, so is_valid() returns
// false.
class grid_group {
 public:
  static bool is_valid() { return false; }
  static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
  // A template, so that the assertion fails only in kernels that call sync().
  template <bool has_grid_barrier = false>
  static void sync() {
    static_assert(has_grid_barrier,
                  "grid_group::sync: the host machine cannot synchronize a whole grid");
  }
};
inline grid_group this_grid() { return {}; }

// A tile: `Size` neighboring lanes of a warp. `Size` is a power of two, at most the warp size.
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size != 0 && Size <= 64 && (Size & (Size - 1)) == 0,
                "thread_block_tile: the size must be a power of two from 1 to 64");
  using Wait = PyGPU::host::Wait;
  using Shuffle = PyGPU::host::Shuffle;
  friend class thread_group;

  static unsigned first() { return PyGPU::host::lane_index() & ~(Size - 1); }
  static unsigned long long mask() { return (~0ull >> (64 - Size)) << first(); }
  static Wait vote(const char* name, int line, bool predicate) {
    return PyGPU::host::wait_for(name, line, Wait::lanes, mask(), predicate);
  }
  template <class T>
  static T move(const char* name, int line, T value, Shuffle how, int argument) {
    return PyGPU::host::shuffle(name, line, Wait::lanes, mask(), value, how, argument, int(Size));
  }

 public:
  thread_block_tile() = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) {}

  static void sync(int line = __builtin_LINE()) { vote("tile.sync", line, false); }
  static unsigned thread_rank() { return PyGPU::host::lane_index() & (Size - 1); }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }

  template <class T>
  T shfl(T value, int lane, int line = __builtin_LINE()) const {
    return move("tile.shfl", line, value, Shuffle::from, lane);
  }
  template <class T>
  T shfl_up(T value, unsigned by, int line = __builtin_LINE()) const {
    return move("tile.shfl_up", line, value, Shuffle::up, int(by));
  }
  template <class T>
  T shfl_down(T value, unsigned by, int line = __builtin_LINE()) const {
    return move("tile.shfl_down", line, value, Shuffle::down, int(by));
  }
  template <class T>
  T shfl_xor(T value, unsigned by, int line = __builtin_LINE()) const {
    return move("tile.shfl_xor", line, value, Shuffle::exchange, int(by));
  }
  int any(int predicate, int line = __builtin_LINE()) const {
    return vote("tile.any", line, predicate != 0).true_votes != 0;
  }
  int all(int predicate, int line = __builtin_LINE()) const {
    const Wait outcome = vote("tile.all", line, predicate != 0);
    return outcome.true_votes == outcome.arrived;
  }
  PyGPU::host::LaneMask ballot(int predicate, int line = __builtin_LINE()) const {
    return PyGPU::host::lane_mask(vote("tile.ballot", line, predicate != 0).true_votes >> first());
  }
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

// A set of lanes of one warp. The rank of a lane is the number of lower lanes in the set.
class coalesced_group {
  friend class thread_group;
  using Lanes = unsigned long long;
  using Wait = PyGPU::host::Wait;

  Wait vote(const char* name, int line, bool predicate) const {
    return PyGPU::host::wait_for(name, line, Wait::lanes, lanes_, predicate);
  }
  template <class T>
  T move(const char* name, int line, T value, unsigned rank) const {
    // Remove the lanes below `rank`. If there is no such rank, a lane receives its own value.
    Lanes left = lanes_;
    for (unsigned below = rank < size() ? rank : thread_rank(); below; --below) left &= left - 1;
    return PyGPU::host::shuffle(name, line, Wait::lanes, lanes_, value, PyGPU::host::Shuffle::from,
                                __builtin_ctzll(left), 0);
  }

 public:
  explicit coalesced_group(Lanes lanes) : lanes_(lanes) {}

  void sync(int line = __builtin_LINE()) const { vote("coalesced.sync", line, false); }
  unsigned thread_rank() const {
    return unsigned(__builtin_popcountll(lanes_ & ((1ull << PyGPU::host::lane_index()) - 1)));
  }
  unsigned size() const { return unsigned(__builtin_popcountll(lanes_)); }
  unsigned num_threads() const { return size(); }

  template <class T>
  T shfl(T value, unsigned rank, int line = __builtin_LINE()) const {
    return move("coalesced.shfl", line, value, rank % size());
  }
  template <class T>
  T shfl_up(T value, unsigned by, int line = __builtin_LINE()) const {
    return move("coalesced.shfl_up", line, value, thread_rank() - by);
  }
  template <class T>
  T shfl_down(T value, unsigned by, int line = __builtin_LINE()) const {
    return move("coalesced.shfl_down", line, value, thread_rank() + by);
  }
  int any(int predicate, int line = __builtin_LINE()) const {
    return vote("coalesced.any", line, predicate != 0).true_votes != 0;
  }
  int all(int predicate, int line = __builtin_LINE()) const {
    return vote("coalesced.all", line, predicate != 0).true_votes == lanes_;
  }
  PyGPU::host::LaneMask ballot(int predicate, int line = __builtin_LINE()) const {
    const Lanes true_votes = vote("coalesced.ballot", line, predicate != 0).true_votes;
    Lanes ranks = 0, rank = 1;
    for (Lanes left = lanes_; left; left &= left - 1, rank <<= 1)
      if (true_votes & left & -left) ranks |= rank;
    return PyGPU::host::lane_mask(ranks);
  }

 private:
  Lanes lanes_;
};

inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  using PyGPU::host::Wait;
  return coalesced_group(
      PyGPU::host::wait_for("coalesced_threads", line, Wait::converged, 0).arrived);
}

// A group whose type is chosen at run time: a thread block, a tile or coalesced lanes.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const coalesced_group& group) : lanes_(group.lanes_) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile) : lanes_(tile.mask()) {}

  void sync(int line = __builtin_LINE()) const {
    if (lanes_) return coalesced_group(lanes_).sync(line);
    thread_block::sync(line);
  }
  unsigned thread_rank() const {
    return lanes_ ? coalesced_group(lanes_).thread_rank() : thread_block::thread_rank();
  }
  unsigned size() const { return lanes_ ? coalesced_group(lanes_).size() : thread_block::size(); }
  unsigned num_threads() const { return size(); }

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);

  unsigned long long lanes_ = 0;  // lanes of a tile or coalesced group; 0 for a thread block
};

// Return the calling thread's tile: `size` neighboring lanes of its warp. `size` must be a power of
// two, at most 64.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  thread_group tile = parent;
  tile.lanes_ = (~0ull >> (64 - size)) << (PyGPU::host::lane_index() & ~(size - 1));
  return tile;
}

template <class Group>
unsigned thread_rank(const Group& group) {
  return unsigned(group.thread_rank());
}
template <class Group>
unsigned group_size(const Group& group) {
  return unsigned(group.size());
}
template <class Group>
inline void sync(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}

}  // namespace cooperative_groups
