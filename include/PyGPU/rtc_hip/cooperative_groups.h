// Cooperative groups under HIPRTC: the block, tiles of it within one wavefront, and the lanes of
// one that come together.
//
// ROCm's own header needs host headers that HIPRTC lacks. Groups larger than a block need a
// cooperative launch and are left out.
#pragma once

// Newer HIPRTCs have a namespace of that name built in, with only a part of this.
#define cooperative_groups pygpu_cooperative_groups

extern "C++" {
namespace cooperative_groups {

struct thread_block {
  __device__ void sync() const { __syncthreads(); }
  __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __device__ static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  __device__ static dim3 group_dim() { return dim_threads(); }
  __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static unsigned num_threads() { return size(); }
  __device__ static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
};
__device__ inline thread_block this_thread_block() { return thread_block(); }

template <unsigned P_width, class P_Parent = void>
struct thread_block_tile {
  static_assert(P_width > 0 && P_width <= 64 && (P_width & (P_width - 1)) == 0,
                "a tile has 1, 2, 4, ... 64 threads");
  __device__ thread_block_tile() {}
  template <class P_Other>
  __device__ thread_block_tile(const thread_block_tile<P_width, P_Other>&) {}

  __device__ void sync() const { __syncwarp(); }
  __device__ static constexpr unsigned size() { return P_width; }
  __device__ static constexpr unsigned num_threads() { return P_width; }
  __device__ static unsigned thread_rank() { return thread_block::thread_rank() % P_width; }
  __device__ static unsigned meta_group_rank() { return thread_block::thread_rank() / P_width; }
  __device__ static unsigned meta_group_size() {
    return (thread_block::size() + P_width - 1) / P_width;
  }

  template <class P_T>
  __device__ P_T shfl(P_T P_value, int P_rank) const {
    return __shfl(P_value, P_rank, P_width);
  }
  template <class P_T>
  __device__ P_T shfl_up(P_T P_value, unsigned P_distance) const {
    return __shfl_up(P_value, P_distance, P_width);
  }
  template <class P_T>
  __device__ P_T shfl_down(P_T P_value, unsigned P_distance) const {
    return __shfl_down(P_value, P_distance, P_width);
  }
  template <class P_T>
  __device__ P_T shfl_xor(P_T P_value, unsigned P_mask) const {
    return __shfl_xor(P_value, static_cast<int>(P_mask), P_width);
  }
  // The tile's own bits of the wavefront's vote, moved to the bottom.
  __device__ unsigned long long ballot(int P_predicate) const {
    const unsigned P_first = __lane_id() / P_width * P_width;
    return __ballot(P_predicate) >> P_first & (~0ull >> (64 - P_width));
  }
  __device__ int any(int P_predicate) const { return ballot(P_predicate) != 0; }
  __device__ int all(int P_predicate) const { return ballot(!P_predicate) == 0; }
};

template <unsigned P_width, class P_Parent>
__device__ inline thread_block_tile<P_width, P_Parent> tiled_partition(const P_Parent&) {
  return thread_block_tile<P_width, P_Parent>();
}
template <class P_Group>
__device__ inline void sync(const P_Group& P_group) {
  P_group.sync();
}

// Some lanes of a wavefront, ranked from the lowest on.
class coalesced_group {
 public:
  __device__ explicit coalesced_group(unsigned long long P_lanes) : P_lanes_(P_lanes) {}

  __device__ void sync() const { __syncwarp(); }
  __device__ unsigned thread_rank() const {
    return __popcll(P_lanes_ & ((1ull << __lane_id()) - 1));
  }
  __device__ unsigned size() const { return __popcll(P_lanes_); }
  __device__ unsigned num_threads() const { return size(); }

  template <class P_T>
  __device__ P_T shfl(P_T P_value, unsigned P_rank) const {
    return P_move(P_value, P_rank % size());
  }
  template <class P_T>
  __device__ P_T shfl_up(P_T P_value, unsigned P_distance) const {
    return P_move(P_value, thread_rank() - P_distance);
  }
  template <class P_T>
  __device__ P_T shfl_down(P_T P_value, unsigned P_distance) const {
    return P_move(P_value, thread_rank() + P_distance);
  }
  __device__ unsigned long long ballot(int P_predicate) const {
    const unsigned long long P_held = __ballot(P_predicate);
    unsigned long long P_ranks = 0, P_rank = 1, P_left = P_lanes_;
    for (; P_left; P_left &= P_left - 1, P_rank <<= 1)
      if (P_held & P_left & (0 - P_left)) P_ranks |= P_rank;
    return P_ranks;
  }
  __device__ int any(int P_predicate) const { return (__ballot(P_predicate) & P_lanes_) != 0; }
  __device__ int all(int P_predicate) const { return (__ballot(!P_predicate) & P_lanes_) == 0; }

 private:
  template <class P_T>
  __device__ P_T P_move(P_T P_value, unsigned P_rank) const {
    unsigned long long P_left = P_lanes_;
    for (unsigned P_n = P_rank < size() ? P_rank : thread_rank(); P_n; --P_n) P_left &= P_left - 1;
    return __shfl(P_value, __ffsll(P_left) - 1, warpSize);
  }
  unsigned long long P_lanes_;
};
__device__ inline coalesced_group coalesced_threads() { return coalesced_group(__ballot(1)); }

}  // namespace cooperative_groups
}
