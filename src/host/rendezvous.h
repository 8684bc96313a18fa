// Which of a block's waiting threads may continue: barriers of the block, and collective operations
// of a warp's lanes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "PyGPU/cuda_on_host.h"
#include "call_chain.h"
#include "stacks.h"

namespace PyGPU::host {

// A thread of one of the blocks that run on the same fibers, counted from 1.
using FiberThread = std::pair<std::uint64_t, unsigned>;

struct Fiber {
  StackPointer stack;
  const char* zone = nullptr;  // of Stacks::Stack
  // Of the thread that is suspended on it:
  Index3 thread_index;
  unsigned rank;
  Wait* wait;
  // Of the thread that runs, in code whose warps run in lockstep:
  Path path;
  FiberThread path_of{0, 0};
};

class Meeting {
 public:
  void begin();               // a new block
  void arrive(Fiber* fiber);  // its thread waits; that may release others of its warp
  void make_ready(Fiber* fiber);
  Fiber* take_ready();  // null when no thread is ready
  bool is_over() const { return waiting_ == 0; }
  // Release the warps of which nothing but waits without a mask is left.
  void free_settled();
  // When no thread is ready and all have started: release those whose wait is over. False, with the
  // fault described, if none can ever continue.
  bool resolve();

 private:
  using Lanes = std::uint64_t;
  struct Repeated {
    std::uintptr_t place;
    const void* address;
    unsigned times;
  };
  struct Warp {
    Lanes waiting, at_block, ready;  // waiting for lanes of the warp; at a block barrier; released
    Lanes converged;                 // those of `waiting` whose call has no mask
    Fiber* lane[64];
    Repeated access, round;  // in lockstep, released last
  };

  void make_records();
  bool complete(Warp& warp, unsigned number, Lanes mask, const char* name);
  bool is_settled(const Warp& warp, unsigned number) const;
  bool is_spinning(Warp& warp, const Wait& chosen) const;
  bool free_complete(Warp& warp, unsigned number);
  bool free_converged(Warp& warp);
  void free_lanes(Warp& warp, Lanes lanes);
  bool free_block();
  void describe_deadlock() const;

  unsigned count_ = 0, shift_ = 5, warps_ = 0;
  std::size_t waiting_ = 0;
  std::vector<Fiber*> at_block_, queue_;
  std::size_t head_ = 0;
  std::vector<Warp> warp_;
};

}  // namespace PyGPU::host
