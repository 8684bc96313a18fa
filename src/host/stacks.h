// Stacks for fibers, and the switch from one stack to another.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace PyGPU::host {

// The pointer of a stack that is not running; its registers are saved on the stack itself.
using StackPointer = void*;

// Save the running stack in `from` and switch to another. Returns after a switch back.
void switch_stacks(StackPointer* from, StackPointer to);

// Prepares a new stack: the first switch to it calls `enter`, which must not return.
StackPointer fresh_stack(char* top, void (*enter)());

// The stacks of one owner, unmapped with it.
class Stacks {
 public:
  static constexpr std::size_t bytes = 1 << 20;

  struct Stack {
    char* top;
    const char* zone;  // the end of one without a guard page, which nobody else uses; else null
  };
  Stack take();  // one more; throws std::bad_alloc
  // Was the end of a stack without a guard page written to?
  static bool is_overrun(const char* zone);
  // Is this an address in a guard page, which an overflowing stack touches?
  bool is_guard(const void* address) const;
  bool holds(const void* address) const;

 private:
  struct Unmap {
    int guards = 0;  // of its pages that are counted
    void operator()(char* slab) const;
  };
  std::vector<std::unique_ptr<char, Unmap>> slabs_;
  std::size_t taken_ = 0;
};

}  // namespace PyGPU::host
