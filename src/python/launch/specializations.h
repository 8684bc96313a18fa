// Kernels that are made once for a key and a device: text is Python's, the kernel stays here.
#pragma once

#include <memory>
#include <unordered_map>

#include "PyGPU/kernel.h"
#include "python/hooks.h"

namespace PyGPU::python {

// What a kernel is made for, as bits.
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
  // A bit before the first says where it is, so that keys of different lengths differ.
  std::uint64_t words_[3] = {1};
  int word_ = 0, used_ = 0;
};

// A specialization that is one kernel.
struct SpecializedKernel {
  SpecializedKernel(std::shared_ptr<Module> module, const char* name)
      : kernel(std::move(module), name) {}
  bool alive() const { return kernel.module().alive(); }
  Kernel kernel;
};

// `Made` has alive(): a reset of the device takes its modules away.
template <class Made, class Key = SpecializationKey, class Hash = SpecializationKey::Hash>
class Specializations {
 public:
  // `make` gives a unique_ptr and runs Python, so that other threads may come between.
  template <class Make>
  Made& at(const Key& key, Make make) {
    const auto found = kept_.find(key);
    if (found != kept_.end() && found->second->alive()) return *found->second;
    std::unique_ptr<Made> made = make();
    std::unique_ptr<Made>& place = kept_[key];  // another thread may have been faster
    if (!place || !place->alive()) place = std::move(made);
    return *place;
  }

 private:
  std::unordered_map<Key, std::unique_ptr<Made>, Hash> kept_;
};

}  // namespace PyGPU::python
