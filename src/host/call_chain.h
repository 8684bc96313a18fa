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
  static constexpr unsigned longest = 12;
  std::uintptr_t places[longest];
  unsigned length = 0;

  // Collect the calls, innermost first, until one lies outside the kernel's library.
  CallChain(CodePosition place, std::uintptr_t code, std::uintptr_t code_bytes) {
    while (place.address - code < code_bytes) {
      if (length == longest) std::copy(places + 1, places + longest, places), --length;
      places[length++] = place.address;
      place = CodePosition(reinterpret_cast<const void*>(place.frame[1]),
                           reinterpret_cast<const void*>(place.frame[0]));
    }
    std::reverse(places, places + length);
  }

  std::uintptr_t innermost() const { return length ? places[length - 1] : 0; }
  bool operator==(const CallChain& other) const {
    return std::equal(places, places + length, other.places, other.places + other.length);
  }
  // Order chains by the position in the outermost function in which they differ.
  bool operator<(const CallChain& other) const {
    return std::lexicographical_compare(places, places + length, other.places,
                                        other.places + other.length);
  }
};

// The current basic block of each function that a thread is in, used to detect loops.
class BasicBlockPath {
 public:
  // Record that a basic block begins. If the function's previous block is later in the code, that
  // block ended a loop's body: return its address. Otherwise return 0.
  std::uintptr_t enter_basic_block(CodePosition place) {
    const std::uintptr_t site = place.frame[1];
    while (!calls_.empty() && calls_.back().frame < place.frame)
      calls_.pop_back();  // these functions have returned
    if (!calls_.empty() && calls_.back().frame == place.frame && calls_.back().site != site)
      calls_.pop_back();  // so has this one: another call uses its frame address
    if (calls_.empty() || calls_.back().frame != place.frame) {
      calls_.push_back({place.frame, site, place.address});
      return 0;
    }
    const std::uintptr_t last = std::exchange(calls_.back().block, place.address);
    return place.address <= last ? last : 0;
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
