// Positions in a kernel's code that threads of the same kernel can compare.
//
// Kernels are compiled with frame pointers. On all supported processors a frame starts with the
// caller's frame pointer and the return address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace PyGPU::host {

// A position in a function: a code address and the function's frame.
struct CodePosition {
  std::uintptr_t address;
  const std::uintptr_t* frame;

  CodePosition(const void* in_code, const void* of_function)
      : address(reinterpret_cast<std::uintptr_t>(in_code)),
        frame(static_cast<const std::uintptr_t*>(of_function)) {}
};

// The active calls of a thread, the kernel first, each by its position in the code. Only the
// innermost `longest` calls are kept. Two chains that differ only in the calls that were dropped
// compare equal.
struct CallChain {
  static constexpr unsigned max_length = 12;
  std::uintptr_t positions[max_length];
  unsigned length = 0;

  // Collect the calls, innermost first, until one lies outside the kernel's library.
  CallChain(CodePosition position, std::uintptr_t code, std::uintptr_t code_bytes) {
    while (position.address - code < code_bytes) {
      if (length == max_length)
        std::copy(positions + 1, positions + max_length, positions), --length;
      positions[length++] = position.address;
      position = CodePosition(reinterpret_cast<const void*>(position.frame[1]),
                              reinterpret_cast<const void*>(position.frame[0]));
    }
    std::reverse(positions, positions + length);
  }

  std::uintptr_t innermost() const { return length ? positions[length - 1] : 0; }
  bool operator==(const CallChain& other) const {
    return std::equal(positions, positions + length, other.positions,
                      other.positions + other.length);
  }
  // Order chains by the position in the outermost function in which they differ.
  bool operator<(const CallChain& other) const {
    return std::lexicographical_compare(positions, positions + length, other.positions,
                                        other.positions + other.length);
  }
};

// The current basic block of each function that a thread is in, used to detect loops.
class BasicBlockPath {
 public:
  // Record that a basic block begins. If the function's previous block is later in the code, that
  // block ended a loop's body: return its address. Otherwise return 0.
  std::uintptr_t enter_basic_block(CodePosition position) {
    const std::uintptr_t site = position.frame[1];
    while (!calls_.empty() && calls_.back().frame < position.frame)
      calls_.pop_back();  // these functions have returned
    if (!calls_.empty() && calls_.back().frame == position.frame && calls_.back().site != site)
      calls_.pop_back();  // so has this one: another call uses its frame address
    if (calls_.empty() || calls_.back().frame != position.frame) {
      calls_.push_back({position.frame, site, position.address});
      return 0;
    }
    const std::uintptr_t last = std::exchange(calls_.back().block, position.address);
    return position.address <= last ? last : 0;
  }

  void clear() { calls_.clear(); }

 private:
  struct Call {
    const std::uintptr_t* frame;
    std::uintptr_t site, block;
  };
  std::vector<Call> calls_;
};

}  // namespace PyGPU::host
