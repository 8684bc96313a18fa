// Barriers and warp functions of one block: decides which waiting threads may continue.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "PyGPU/cuda_on_host.h"
#include "call_chain.h"
#include "stacks.h"

namespace PyGPU::host {

// A thread, identified by the number of its block (from 1, among blocks run on the same fibers) and
// its rank.
using FiberThread = std::pair<std::uint64_t, unsigned>;

// A stack that runs one thread at a time.
struct Fiber {
  StackPointer stack;
  const char* zone = nullptr;  // see Stacks::Stack
  // State of the thread that is suspended on this fiber:
  Index3 thread_index;
  unsigned rank;
  Wait* wait;
  // State of the thread that runs on this fiber, in code whose warps run in lockstep:
  BasicBlockPath path;
  FiberThread path_of{0, 0};
};

// The waiting and ready threads of one block.
class Rendezvous {
 public:
  void begin();  // start a new block
  // Let the fiber's thread wait. This may release other threads of its warp.
  void arrive(Fiber* fiber);
  void make_ready(Fiber* fiber);  // queue a thread that can continue
  Fiber* take_ready();            // null if no thread is ready
  bool is_empty() const { return waiting_ == 0; }
  // Release the warps in which every unfinished lane waits at a call without a mask.
  void release_settled();
  // Release threads when some wait, none is ready and all have started. If no thread can ever
  // continue, record a deadlock fault and return false.
  bool resolve();

 private:
  using Lanes = std::uint64_t;
  // A position or access in lockstep code that was released several times in a row.
  struct Repeated {
    std::uintptr_t position;
    const void* address;
    unsigned times;
  };
  // State of a warp's lanes, as masks.
  struct Warp {
    Lanes waiting, at_block, ready;  // waiting for lanes of the warp; at a block barrier; released
    Lanes converged;                 // lanes of `waiting` whose call has no mask
    Fiber* lane[64];
    Repeated access, round;  // the last access and loop released in lockstep, and their repetitions
  };

  void make_records();
  bool release_if_complete(Warp& warp, unsigned number, Lanes mask, const char* name);
  bool is_settled(const Warp& warp, unsigned number) const;
  bool is_spinning(Warp& warp, const Wait& chosen) const;
  bool release_complete(Warp& warp, unsigned number);
  bool release_converged(Warp& warp);
  void release_lanes(Warp& warp, Lanes lanes);
  bool release_block();
  void describe_deadlock() const;

  unsigned count_ = 0;            // threads of the block
  unsigned shift_ = 5;            // log2 of the warp size
  unsigned warps_ = 0;            // warps with a record in `warp_`
  std::size_t waiting_ = 0;       // waiting threads, at any call
  std::vector<Fiber*> at_block_;  // threads at a block barrier
  std::vector<Fiber*> queue_;     // ready threads, from `head_` on
  std::size_t head_ = 0;
  std::vector<Warp> warp_;
};

}  // namespace PyGPU::host
