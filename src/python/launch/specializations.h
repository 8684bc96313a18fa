// Kernels compiled once for each key and device. Python generates the text; the kernels are stored
// here.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "PyGPU/runtime/kernel.h"
#include "python/binding/hooks.h"

namespace PyGPU::python {

// Key of a kernel, its operation, dtypes and plan: numbers, packed into bits.
class SpecializationKey {
 public:
  // Add a number from 0 to `most`.
  template <std::uint64_t most>
  void add(std::uint64_t number) {
    constexpr int bits = width_of(most);
    static_assert(bits <= word_bits, "a number fits into a word");
    if (number > most) refuse(number, most);
    if (used_ + bits > word_bits) start_word();
    words_[word_] = words_[word_] << bits | number;
    used_ += bits;
  }
  bool operator==(const SpecializationKey& other) const {
    return words_[0] == other.words_[0] && words_[1] == other.words_[1] &&
           words_[2] == other.words_[2] && words_[3] == other.words_[3];
  }
  struct Hash {
    std::size_t operator()(const SpecializationKey& key) const {
      constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
      const std::uint64_t *const w = key.words_, high = (w[3] * odd ^ w[2]) * odd;
      return std::size_t(((high ^ w[1]) * odd ^ w[0]) * odd >> 8);
    }
  };

 private:
  static constexpr int word_bits = 63, word_count = 4;
  static constexpr int width_of(std::uint64_t most) {
    int bits = 0;
    for (; most; most >>= 1) ++bits;
    return bits;
  }
  void start_word() {
    if (++word_ == word_count) throw std::logic_error("a kernel's key has too many numbers");
    words_[word_] = 1;
    used_ = 0;
  }
  [[noreturn, gnu::cold]] static void refuse(std::uint64_t number, std::uint64_t most) {
    throw std::logic_error("a kernel's key: " + std::to_string(number) + " exceeds " +
                           std::to_string(most));
  }

  // A leading 1 marks the start of the key, so that keys of different lengths differ.
  std::uint64_t words_[word_count] = {1};
  int word_ = 0, used_ = 0;
};

constexpr std::uint64_t max_device = 255, max_itemsize = 16;  // in keys

// A specialization that consists of one kernel.
struct SpecializedKernel {
  SpecializedKernel(std::shared_ptr<Module> module, const char* name)
      : kernel(std::move(module), name) {}
  bool alive() const { return kernel.module().alive(); }
  Kernel kernel;
};

// Cache of specializations. A Specialization has alive(), because a reset of the device unloads its
// modules.
template <class Specialization, class Key = SpecializationKey, class Hash = SpecializationKey::Hash>
class Specializations {
 public:
  // Return the specialization for a key. `compile` returns a new one as a unique_ptr; it runs
  // Python code, so other threads may run meanwhile.
  template <class Compile>
  Specialization& at(const Key& key, Compile compile) {
    const auto found = cache_.find(key);
    if (found != cache_.end() && found->second->alive()) return *found->second;
    std::unique_ptr<Specialization> made = compile();
    std::unique_ptr<Specialization>& cached = cache_[key];  // another thread may have inserted one
    if (!cached || !cached->alive()) cached = std::move(made);
    return *cached;
  }

 private:
  std::unordered_map<Key, std::unique_ptr<Specialization>, Hash> cache_;
};

// Run `work`, which needs kernels. Return false, with nothing done, if there is no compiler for
// them.
template <class Work>
bool with_compiler(Work work) {
  try {
    work();
    return true;
  } catch (py::error_already_set& error) {
    if (!error.matches(hook(Hook::compiler_missing))) throw;
    return false;
  }
}

}  // namespace PyGPU::python
