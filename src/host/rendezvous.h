// Which of a block's waiting threads may go on: the block's barriers and what lanes of a warp do
// together.
#pragma once

#include <cstdint>
#include <vector>

#include "PyGPU/cuda_on_host.h"
#include "stacks.h"

namespace PyGPU::host {

struct Fiber {
  StackPointer stack;
  char* top;
  // Of the thread that is put aside here:
  Index3 thread_index;
  unsigned rank;
  Wait* wait;
};

class Meeting {
 public:
  void begin();               // a new block
  void arrive(Fiber* fiber);  // its thread waits; others of its warp may be free by that
  void make_ready(Fiber* fiber);
  Fiber* take_ready();  // null when none may go on
  bool is_over() const { return waiting_ == 0; }
  // With no thread ready and none to start: free those who need wait no longer. False, with the
  // fault described, if nobody can ever go on.
  bool resolve();

 private:
  using Lanes = std::uint64_t;
  struct Warp {
    Lanes waiting, at_block, ready;  // for lanes of the warp, at a barrier of the block, to go on
    Lanes converged;                 // of those waiting, who waits for whoever is here
    Fiber* lane[64];
  };

  void make_records();
  bool complete(Warp& warp, unsigned number, Lanes mask, const char* name);
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
