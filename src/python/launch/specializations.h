// Kernels compiled once for each key and device. Python generates the text; the kernels are stored
// here.
#pragma once

#include <memory>
#include <unordered_map>

#include "PyGPU/runtime/kernel.h"
#include "python/binding/hooks.h"

namespace PyGPU::python {

// Key of a kernel, packed into bits.
class SpecializationKey {
 public:
  void add(unsigned value, int bits) {
    if (used_ + bits > 63) {
      words_[++word_] = 1;
      used_ = 0;
    }
    words_[word_] = words_[word_] << bits | value;
    used_ += bits;
  }
  bool operator==(const SpecializationKey& other) const {
    return words_[0] == other.words_[0] && words_[1] == other.words_[1] &&
           words_[2] == other.words_[2];
  }
  struct Hash {
    std::size_t operator()(const SpecializationKey& key) const {
      constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
      return std::size_t(((key.words_[0] * odd ^ key.words_[1]) * odd ^ key.words_[2]) * odd >> 8);
    }
  };

 private:
  // A leading 1 marks the start of the key, so that keys of different lengths differ.
  std::uint64_t words_[3] = {1};
  int word_ = 0, used_ = 0;
};

// A specialization that consists of one kernel.
struct SpecializedKernel {
  SpecializedKernel(std::shared_ptr<Module> module, const char* name)
      : kernel(std::move(module), name) {}
  bool alive() const { return kernel.module().alive(); }
  Kernel kernel;
};

// Cache of specializations. `Made` has alive(), because a reset of the device unloads its modules.
template <class Made, class Key = SpecializationKey, class Hash = SpecializationKey::Hash>
class Specializations {
 public:
  // Return the specialization for a key. `make` returns a new one as a unique_ptr; it runs Python
  // code, so other threads may run meanwhile.
  template <class Make>
  Made& at(const Key& key, Make make) {
    const auto found = kept_.find(key);
    if (found != kept_.end() && found->second->alive()) return *found->second;
    std::unique_ptr<Made> made = make();
    std::unique_ptr<Made>& cached = kept_[key];  // another thread may have inserted one
    if (!cached || !cached->alive()) cached = std::move(made);
    return *cached;
  }

 private:
  std::unordered_map<Key, std::unique_ptr<Made>, Hash> kept_;
};

}  // namespace PyGPU::python
