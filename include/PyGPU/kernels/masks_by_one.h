// Items at the true elements of a small mask, by one thread: for the host machine. See masks.h.
#pragma once

namespace PyGPU {
namespace kernels {

struct MaskThread {
  // Pack the items at the true elements, and report their number.
  template <class Item>
  __device__ static void select(const unsigned char* mask, const Item* from, Item* to, long long n,
                                volatile long long* report) {
    long long done = 0;
    for (long long i = 0; i < n; ++i)
      if (mask[i]) to[done++] = from[i];
    *report = done;
  }

  // Report the number of true elements; if it is as expected, unpack items to them.
  template <class Item>
  __device__ static void assign(const unsigned char* mask, const Item* from, Item* to, long long n,
                                long long expected, volatile long long* report) {
    long long count = 0;
    for (long long i = 0; i < n; ++i) count += mask[i] != 0;
    for (long long i = 0; count == expected && i < n; ++i)
      if (mask[i]) to[i] = *from++;
    *report = count;
  }
};

}  // namespace kernels
}  // namespace PyGPU
