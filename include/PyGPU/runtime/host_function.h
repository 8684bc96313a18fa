// Functions of the program that a stream calls when the work before them is done.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "stream.h"

namespace PyGPU {

// A function that the runtime calls, in a thread of its own. It lives as long as it has owners, and
// as long as a call of it is enqueued. Calls that a failed device never makes keep it alive.
class HostFunction : public std::enable_shared_from_this<HostFunction> {
 public:
  // `run` is called in a thread of the runtime, which it must not call. It must not throw. It
  // releases its argument, which may be the last reference, when it has done its work.
  using Run = void (*)(std::shared_ptr<HostFunction> self);
  HostFunction(Run run, std::shared_ptr<void> data) : run_(run), data_(std::move(data)) {}

  void* data() const { return data_.get(); }
  // Count a call before it is enqueued.
  void expect();
  // Undo expect() for a call that could not be enqueued.
  void cancel();
  // Entry point for the runtime.
  static void call(void* function);

 private:
  std::shared_ptr<HostFunction> begin_call();

  const Run run_;
  const std::shared_ptr<void> data_;
  std::mutex lock_;
  std::size_t expected_ = 0;            // calls that are enqueued
  std::shared_ptr<HostFunction> self_;  // while calls are enqueued
};

// Enqueue a call of the function. During a capture by this thread, the graph owns the function, and
// each launch of the graph calls it.
Status launch_host_function(const StreamRef& stream, const std::shared_ptr<HostFunction>& function);

}  // namespace PyGPU
