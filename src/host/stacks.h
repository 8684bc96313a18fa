// Stacks for fibers, and the switch from one stack to another.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace PyGPU::host {

// What is left of a stack that does not run: the rest lies on the stack itself.
using StackPointer = void*;

// Leave the running stack, saved in `from`, for another. Returns when somebody switches back.
void switch_stacks(StackPointer* from, StackPointer to);

// A stack on which nothing has run yet: `enter` starts on it, and must not return.
StackPointer fresh_stack(char* top, void (*enter)());

// Stacks that go with their owner.
class Stacks {
 public:
  static constexpr std::size_t bytes = 1 << 20;

  char* take();  // the top of one more
  // Is this an address below a stack, where one that grows too far runs into?
  bool is_guard(const void* address) const;
  bool holds(const void* address) const;

 private:
  struct Unmap {
    void operator()(char* slab) const;
  };
  std::vector<std::unique_ptr<char, Unmap>> slabs_;
  std::size_t taken_ = 0;
};

}  // namespace PyGPU::host
