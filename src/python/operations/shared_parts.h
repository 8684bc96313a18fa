// Memory for the partial results of a kernel's blocks.
#pragma once

#include "PyGPU/arrays/array.h"

namespace PyGPU::python {

// Launches of a kernel on the null stream run one after another, so they can share this memory: a
// buffer for the partial results of blocks (parts), and counters of finished blocks, which are 0
// between launches. Both are allocated before a launch, so that a graph does not record that.
class SharedParts {
 public:
  void* counters(Index count) {
    if (!counters_.address()) {
      Array zeros = Array::empty(Layout({count}, sizeof(unsigned)));
      zeros.zero();
      counters_ = std::move(zeros);
    }
    return counters_.address();
  }
  void* parts(std::size_t nbytes) {
    if (parts_.layout().nbytes() < nbytes) parts_ = Array::empty(Layout({Index(nbytes)}, 1));
    return parts_.address();
  }

 private:
  Array counters_, parts_;
};

}  // namespace PyGPU::python
