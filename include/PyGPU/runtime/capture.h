// Captures of streams, and releases that are postponed because they would invalidate a capture.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "stream.h"

namespace PyGPU {

class HostFunction;
class Storage;

// Resources that recorded work needs for as long as its graph can be launched.
struct CapturedOwners {
  std::vector<std::shared_ptr<Storage>> taken;  // memory that was allocated in the capture
  std::vector<std::shared_ptr<Storage>> used;   // memory that was allocated elsewhere
  std::vector<std::shared_ptr<const void>> kept;
  std::vector<std::shared_ptr<HostFunction>> called;  // once for each call of a launch
};

// Capture of a stream by this thread. During the capture, the captured stream replaces this
// thread's null stream. Arrays that are allocated belong to the graph: their memory stays
// allocated, so that the graph can be launched again.
class Capture {
 public:
  // Return the capture of this thread, or null.
  static Capture* current() { return active_count_ == 0 ? nullptr : in_this_thread(); }

  // Return whether any thread captures a stream.
  static bool is_any_active() { return active_count_ != 0 && has_active(); }

  explicit Capture(const StreamRef& stream);

  const StreamRef& stream() const { return stream_; }
  // Return whether work on this stream is recorded.
  bool records(const StreamRef& stream) const;
  // Return whether other streams joined the capture, which have an order of their own.
  bool forks() const { return forks_; }
  int device() const { return device_; }

  void uses(const std::shared_ptr<Storage>& storage, const StreamRef& stream);
  // Keep another resource of the work alive: code, or host memory that the work accesses.
  void keep(std::shared_ptr<const void> owner) {
    auto& kept = owners.kept;
    if (kept.empty() || kept.back() != owner) kept.push_back(std::move(owner));
  }
  // End the capture. Returns the recorded graph, which the caller destroys. Throws DeviceError.
  cudaGraph_t end();
  // End the capture and destroy the recorded graph.
  cudaError_t abandon() { return unended_.reset(); }

  CapturedOwners owners;

 private:
  // Ends an abandoned capture. In another thread that fails, and the stream stays captured.
  struct Unended {
    using Handle = Capture*;
    static constexpr const char* name = "a capture";
    static cudaError_t release(Capture* capture);
  };

  cudaError_t finish(cudaGraph_t* graph);

  static std::atomic<int> active_count_;  // number of captures in all threads
  static Capture* in_this_thread();
  static bool has_active();

  StreamRef stream_;
  int device_;
  std::uint64_t thread_;
  bool forks_ = false;
  UniqueHandle<Unended> unended_;
};

// Return the stream for work that names none: the null stream, or the stream that is captured.
inline StreamRef default_stream() {
  const Capture* const capture = Capture::current();
  return capture ? capture->stream() : StreamRef();
}

// Make a device current, also while this thread captures a stream.
cudaError_t set_device(int device);

// Record the event on the stream. In a capture it gets no time.
Status record(Event& event, const StreamRef& stream);

// Status of calls that wait while this thread captures, which they cannot.
Status refusal_to_wait();
// Throw DeviceError with that status if this thread captures.
void throw_if_capturing(const char* call);

// Return whether work on the device's null stream, or waiting for it, would invalidate a capture.
bool would_invalidate_capture(int device);
// Return whether synchronizing the device would invalidate a known capture.
bool wait_would_invalidate_capture(int device);
// Keep an object alive until the next allocation, or until a capture by PyGPU ends. Its release may
// postpone further objects.
void postpone(std::shared_ptr<void> thing);
bool has_postponed();
// Release the postponed objects, unless the runtime is calling a host function in this thread.
void release_postponed();

}  // namespace PyGPU
