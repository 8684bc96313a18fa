// Unique ownership: a movable handle that is released exactly once.
#pragma once

#include <exception>
#include <utility>

#include "error.h"

namespace PyGPU {

// Traits provide
//   using Handle        - a copyable value; a value-initialized one (Handle{}) owns nothing
//   static name         - the resource's name in the report of a failed release
//   static release(h)   - releases the handle and returns a cudaError_t
template <class Traits>
class UniqueHandle {
 public:
  using Handle = typename Traits::Handle;

  UniqueHandle() = default;
  explicit UniqueHandle(Handle handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) {
      close();
      handle_ = std::exchange(other.handle_, Handle{});
    }
    return *this;
  }
  ~UniqueHandle() { close(); }

  const Handle& get() const { return handle_; }
  explicit operator bool() const { return !(handle_ == Handle{}); }

  // Give up ownership: returns the handle without releasing it; the caller owns it.
  Handle give_up() { return std::exchange(handle_, Handle{}); }

  // Release the handle now; returns the outcome.
  cudaError_t reset() {
    return *this ? Traits::release(std::exchange(handle_, Handle{})) : cudaSuccess;
  }

 private:
  void close() noexcept {
    if (*this) close_owned();
  }
  void close_owned() noexcept {
    cudaError_t error = cudaSuccess;
    try {
      error = reset();
    } catch (const std::exception&) {  // a release may allocate, or lock a mutex
      error = cudaErrorMemoryAllocation;
    }
    if (error) report_failed_release(Traits::name, error);
  }

  Handle handle_{};
};

}  // namespace PyGPU
