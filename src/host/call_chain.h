// Where in its code a thread is, such that threads of the same code compare.
//
// Functions keep frame pointers: a frame begins with the caller's frame and the return address, on
// all processors that we know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace PyGPU::host {

// A place in a function.
struct CodePlace {
  std::uintptr_t address;
  const std::uintptr_t* frame;

  CodePlace(const void* in_code, const void* of_function)
      : address(reinterpret_cast<std::uintptr_t>(in_code)),
        frame(static_cast<const std::uintptr_t*>(of_function)) {}
};

// Where each function is in its code, the kernel first. What is called deeper than the chain
// reaches counts as the same.
struct CallChain {
  static constexpr unsigned longest = 12;
  std::uintptr_t places[longest];
  unsigned length = 0;

  // As far as it is in the library whose code this is.
  CallChain(CodePlace place, std::uintptr_t code, std::uintptr_t code_bytes) {
    while (place.address - code < code_bytes) {
      if (length == longest) std::copy(places + 1, places + longest, places), --length;
      places[length++] = place.address;
      place = CodePlace(reinterpret_cast<const void*>(place.frame[1]),
                        reinterpret_cast<const void*>(place.frame[0]));
    }
    std::reverse(places, places + length);
  }

  std::uintptr_t innermost() const { return length ? places[length - 1] : 0; }
  bool operator==(const CallChain& other) const {
    return std::equal(places, places + length, other.places, other.places + other.length);
  }
  // Earlier in the code of the outermost function in which the two differ.
  bool operator<(const CallChain& other) const {
    return std::lexicographical_compare(places, places + length, other.places,
                                        other.places + other.length);
  }
};

// The basic blocks that a thread is in, its functions' one by one.
class Path {
 public:
  // A basic block begins. Returns the one that its function comes from, if that is later in the
  // code: then it was the end of a loop's body.
  std::uintptr_t begin_block(CodePlace place) {
    const std::uintptr_t site = place.frame[1];
    while (!calls_.empty() && calls_.back().frame < place.frame) calls_.pop_back();  // returned
    if (!calls_.empty() && calls_.back().frame == place.frame && calls_.back().site != site)
      calls_.pop_back();  // and so did this one; another function has its place
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
