// Cooperative groups under HIPRTC: the block, and tiles of it within one wavefront.
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

template <unsigned width, class Parent = void>
struct thread_block_tile {
  static_assert(width > 0 && width <= 64 && (width & (width - 1)) == 0,
                "a tile has 1, 2, 4, ... 64 threads");

  __device__ void sync() const { __syncwarp(); }
  __device__ static constexpr unsigned size() { return width; }
  __device__ static constexpr unsigned num_threads() { return width; }
  __device__ static unsigned thread_rank() { return thread_block::thread_rank() % width; }
  __device__ static unsigned meta_group_rank() { return thread_block::thread_rank() / width; }
  __device__ static unsigned meta_group_size() {
    return (thread_block::size() + width - 1) / width;
  }

  template <class T>
  __device__ T shfl(T value, int rank) const {
    return __shfl(value, rank, width);
  }
  template <class T>
  __device__ T shfl_up(T value, unsigned distance) const {
    return __shfl_up(value, distance, width);
  }
  template <class T>
  __device__ T shfl_down(T value, unsigned distance) const {
    return __shfl_down(value, distance, width);
  }
  template <class T>
  __device__ T shfl_xor(T value, unsigned mask) const {
    return __shfl_xor(value, static_cast<int>(mask), width);
  }
  // The tile's own bits of the wavefront's vote, moved to the bottom.
  __device__ unsigned long long ballot(int predicate) const {
    const unsigned first = __lane_id() / width * width;
    return __ballot(predicate) >> first & (~0ull >> (64 - width));
  }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(!predicate) == 0; }
};

template <unsigned width, class Parent>
__device__ inline thread_block_tile<width, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<width, Parent>();
}
template <class Group>
__device__ inline void sync(const Group& group) {
  group.sync();
}

struct plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct less {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct greater {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
template <unsigned width, class Parent, class T, class Combine>
__device__ inline T reduce(const thread_block_tile<width, Parent>& tile, T value, Combine combine) {
  for (unsigned distance = width / 2; distance > 0; distance /= 2) {
    value = combine(value, tile.shfl_xor(value, distance));
  }
  return value;
}

}  // namespace cooperative_groups
}
