// Stacks for fibers, and the switch between stacks.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace PyGPU::host {

// Stack pointer of a suspended stack. The registers are saved on the stack itself.
using StackPointer = void*;

// Save the running stack in `from` and switch to `to`. Return after a switch back.
void switch_stacks(StackPointer* from, StackPointer to);

// Prepare a new stack. The first switch to it calls `enter`, which must not return.
StackPointer fresh_stack(char* top, void (*enter)());

// Stacks of one owner. Their memory is unmapped with this object.
class Stacks {
 public:
  static constexpr std::size_t bytes = 1 << 20;

  struct Stack {
    char* top;
    // Lowest page of a stack without a guard page, to be checked for overruns; null if there is a
    // guard.
    const char* zone;
  };
  Stack take();  // throws std::bad_alloc
  // Return true if the lowest page of a stack without a guard page was written.
  static bool is_overrun(const char* zone);
  // Return true if the address is in a guard page, which an overflowing stack touches.
  bool is_guard(const void* address) const;
  // Return true if the address is in one of these stacks.
  bool holds(const void* address) const;

 private:
  struct Unmap {
    int guards = 0;  // guard pages of this slab that count towards the limit
    void operator()(char* slab) const;
  };
  std::vector<std::unique_ptr<char, Unmap>> slabs_;
  std::size_t taken_ = 0;
};

}  // namespace PyGPU::host
