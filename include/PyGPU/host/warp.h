// CUDA's collective functions of a warp: shuffles, votes, matches, reductions.
//
// PYGPU_HOST_WARP sets the number of lanes, 32 or 64. Mask parameters have 64 bits. Mask results
// have 32 bits, or 64 in a source compiled with -DPYGPU_HOST_WARP=64.
#pragma once

#include <cstring>

#include "execution.h"

namespace PyGPU {
namespace host {

#if defined(PYGPU_HOST_WARP) && PYGPU_HOST_WARP == 64
using LaneMask = unsigned long long;
#else
using LaneMask = unsigned;
#endif

inline LaneMask lane_mask(unsigned long long lanes) {
  if (sizeof(LaneMask) < sizeof lanes && lanes >> 16 >> 16)
    PyGPU_host_fail("masks of 64 lanes need a source compiled with -DPYGPU_HOST_WARP=64");
  return LaneMask(lanes);
}

struct WarpSize {
  operator int() const { return int(PyGPU_host_thread.warp_size); }
};

inline unsigned warp_size() { return unsigned(PyGPU_host_thread.warp_size); }
inline unsigned lane_index() { return thread_rank() & (warp_size() - 1); }

// Return the lane whose value a shuffle reads, or -1 for the thread's own value.
enum class Shuffle { from, up, down, exchange };
inline int source_lane(Shuffle how, int argument, int width) {
  const int lane = int(lane_index()), first = lane & ~(width - 1);
  switch (how) {
    case Shuffle::from: return first + (argument & (width - 1));
    case Shuffle::up: return lane - argument < first ? -1 : lane - argument;
    case Shuffle::down: return lane + argument >= first + width ? -1 : lane + argument;
    default: return (lane ^ argument) >= first + width ? -1 : lane ^ argument;
  }
}

template <class T>
inline T shuffle(const char* name, int line, Wait::Scope scope, unsigned long long mask, T value,
                 Shuffle how, int argument, int width) {
  T result = value;
  const int source = source_lane(how, argument, width ? width : int(warp_size()));
  wait_for(
      name, line, scope, mask, false,
      [](Wait& self, Wait* const* group) {
        const Wait* const other = self.argument < 64 ? group[self.argument] : nullptr;
        if (other) std::memcpy(self.result, other->value, sizeof(T));
      },
      &value, &result, unsigned(source));
  return result;
}

// Combine the values of the lanes, lowest lane first.
template <class T, class Fold>
inline T reduce(const char* name, int line, unsigned long long mask, T value, Fold) {
  T result = value;
  wait_for(
      name, line, Wait::lanes, mask, false,
      [](Wait& self, Wait* const* group) {
        bool any = false;
        T total{};
        for (int lane = 0; lane < 64; ++lane) {
          if (!group[lane]) continue;
          const T one = *static_cast<const T*>(group[lane]->value);
          total = any ? Fold()(total, one) : one;
          any = true;
        }
        *static_cast<T*>(self.result) = total;
      },
      &value, &result);
  return result;
}

// Return a mask of the lanes whose value has the same bytes as this thread's.
template <class T>
inline unsigned long long match(const char* name, int line, unsigned long long mask, T value,
                                unsigned long long* arrived) {
  unsigned long long same = 0;
  const Wait wait = wait_for(
      name, line, Wait::lanes, mask, false,
      [](Wait& self, Wait* const* group) {
        unsigned long long equal = 0;
        for (int lane = 0; lane < 64; ++lane)
          if (group[lane] && std::memcmp(group[lane]->value, self.value, sizeof(T)) == 0)
            equal |= 1ull << lane;
        std::memcpy(self.result, &equal, sizeof equal);
      },
      &value, &same);
  *arrived = wait.arrived;
  return same;
}

}  // namespace host
}  // namespace PyGPU

static constexpr PyGPU::host::WarpSize warpSize{};

inline void __syncwarp(unsigned long long mask = ~0ull, int line = __builtin_LINE()) {
  PyGPU::host::wait_for("__syncwarp", line, PyGPU::host::Wait::lanes, mask);
}

#define PYGPU_SHUFFLE(name, how, Argument)                                                  \
  template <class T>                                                                        \
  inline T name##_sync(unsigned long long mask, T value, Argument argument, int width = 0,  \
                       int line = __builtin_LINE()) {                                       \
    return PyGPU::host::shuffle(#name "_sync", line, PyGPU::host::Wait::lanes, mask, value, \
                                PyGPU::host::Shuffle::how, int(argument), width);           \
  }                                                                                         \
  template <class T>                                                                        \
  inline T name(T value, Argument argument, int width = 0, int line = __builtin_LINE()) {   \
    return PyGPU::host::shuffle(#name, line, PyGPU::host::Wait::converged, 0, value,        \
                                PyGPU::host::Shuffle::how, int(argument), width);           \
  }
PYGPU_SHUFFLE(__shfl, from, int)
PYGPU_SHUFFLE(__shfl_up, up, unsigned)
PYGPU_SHUFFLE(__shfl_down, down, unsigned)
PYGPU_SHUFFLE(__shfl_xor, exchange, int)
#undef PYGPU_SHUFFLE

#define PYGPU_VOTE(name, Result, expression)                                                       \
  inline Result name##_sync(unsigned long long mask, int predicate, int line = __builtin_LINE()) { \
    const PyGPU::host::Wait vote = PyGPU::host::wait_for(                                          \
        #name "_sync", line, PyGPU::host::Wait::lanes, mask, predicate != 0);                      \
    return Result(expression);                                                                     \
  }                                                                                                \
  inline Result name(int predicate, int line = __builtin_LINE()) {                                 \
    const PyGPU::host::Wait vote =                                                                 \
        PyGPU::host::wait_for(#name, line, PyGPU::host::Wait::converged, 0, predicate != 0);       \
    return Result(expression);                                                                     \
  }
PYGPU_VOTE(__ballot, PyGPU::host::LaneMask, PyGPU::host::lane_mask(vote.true_votes))
PYGPU_VOTE(__any, int, vote.true_votes != 0)
PYGPU_VOTE(__all, int, vote.true_votes == vote.arrived)
PYGPU_VOTE(__uni, int, vote.true_votes == vote.arrived || vote.true_votes == 0)
#undef PYGPU_VOTE

inline PyGPU::host::LaneMask __activemask(int line = __builtin_LINE()) {
  using PyGPU::host::Wait;
  return PyGPU::host::lane_mask(
      PyGPU::host::wait_for("__activemask", line, Wait::converged, 0).arrived);
}

template <class T>
inline PyGPU::host::LaneMask __match_any_sync(unsigned long long mask, T value,
                                              int line = __builtin_LINE()) {
  unsigned long long arrived;
  return PyGPU::host::lane_mask(
      PyGPU::host::match("__match_any_sync", line, mask, value, &arrived));
}
template <class T>
inline PyGPU::host::LaneMask __match_all_sync(unsigned long long mask, T value, int* all,
                                              int line = __builtin_LINE()) {
  unsigned long long arrived;
  const unsigned long long same =
      PyGPU::host::match("__match_all_sync", line, mask, value, &arrived);
  *all = same == arrived;
  return PyGPU::host::lane_mask(*all ? arrived : 0);
}

#define PYGPU_REDUCE(name, expression)                                                             \
  template <class T>                                                                               \
  inline T __reduce_##name##_sync(unsigned long long mask, T value, int line = __builtin_LINE()) { \
    struct Fold {                                                                                  \
      T operator()(T a, T b) const { return T(expression); }                                       \
    };                                                                                             \
    return PyGPU::host::reduce("__reduce_" #name "_sync", line, mask, value, Fold());              \
  }
PYGPU_REDUCE(add, a + b)
PYGPU_REDUCE(min, b < a ? b : a)
PYGPU_REDUCE(max, a < b ? b : a)
PYGPU_REDUCE(and, a& b)
PYGPU_REDUCE(or, a | b)
PYGPU_REDUCE(xor, a ^ b)
#undef PYGPU_REDUCE

inline unsigned __lane_id() { return PyGPU::host::lane_index(); }
inline PyGPU::host::LaneMask __lanemask_eq() {
  return PyGPU::host::lane_mask(1ull << PyGPU::host::lane_index());
}
inline PyGPU::host::LaneMask __lanemask_lt() {
  return PyGPU::host::lane_mask((1ull << PyGPU::host::lane_index()) - 1);
}
inline PyGPU::host::LaneMask __lanemask_le() {
  return PyGPU::host::lane_mask((2ull << PyGPU::host::lane_index()) - 1);
}
inline PyGPU::host::LaneMask __lanemask_gt() { return PyGPU::host::LaneMask(-1) ^ __lanemask_le(); }
inline PyGPU::host::LaneMask __lanemask_ge() { return PyGPU::host::LaneMask(-1) ^ __lanemask_lt(); }
