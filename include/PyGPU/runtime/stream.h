// Streams and events: owned handles, and references to streams of any owner.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device.h"

namespace PyGPU {

// Uses of memory on a stream of PyGPU; the memory may outlive the stream. When the stream is
// destroyed, the null streams of the memory's devices wait for the stream's remaining work.
class StreamUses {
 public:
  StreamUses(cudaStream_t stream, int device) : stream_(stream), device_(device) {}
  void add(int device);  // device of memory that is used on the stream
  bool is_over() const;
  bool is_captured() const;
  // Make the null stream of the current device wait for the stream's work, unless that is over.
  cudaError_t join() const;
  // Make the null streams of all devices wait, before the stream is destroyed; the uses are then
  // over.
  void end();

 private:
  bool join_all() const;

  mutable std::mutex lock_;  // guards stream_ and devices_; held while the stream is used
  cudaStream_t stream_;
  const int device_;
  const unsigned epoch_ = device_epoch(device_);
  std::vector<int> devices_{device_};
};

struct StreamTraits {
  struct Handle {
    cudaStream_t stream = nullptr;
    int device = 0;
    unsigned epoch = 0;
    std::shared_ptr<StreamUses> uses;
    bool operator==(const Handle& other) const { return stream == other.stream; }
  };
  static constexpr const char* name = "a stream";
  static cudaError_t release(Handle handle);
};

struct EventTraits : DeviceOwned<cudaEvent_t, EventTraits> {
  static constexpr const char* name = "an event";
  // Another thread may wait for a host function with the lock of the driver that this call needs.
  static cudaError_t destroy(const Handle& event) {
    return call_that_enqueues([&] { return cudaEventDestroy(event.value); });
  }
};

// Stream created on the current device. After a failure the object is empty and `status` has the
// error.
class Stream {
 public:
  Stream(unsigned flags, int priority);
  cudaStream_t get() const { return handle_.get().stream; }
  int device() const { return handle_.get().device; }
  unsigned epoch() const { return handle_.get().epoch; }
  bool is_non_blocking() const { return flags_ & cudaStreamNonBlocking; }
  const std::shared_ptr<StreamUses>& uses() const { return handle_.get().uses; }
  bool alive() const;  // neither destroyed nor lost in a reset of its device
  Status destroy() { return status = returned_to_caller(handle_.reset()); }
  Status status;

 private:
  const unsigned flags_;
  UniqueHandle<StreamTraits> handle_;
};

// Stream to work on: a Stream, kept alive, or a foreign handle. The default is the null stream.
struct StreamRef {
  cudaStream_t handle = nullptr;
  std::shared_ptr<const Stream> owner;
};

class Event {
 public:
  explicit Event(unsigned flags);
  explicit Event(const cudaIpcEventHandle_t& handle);  // opens an event of another process
  cudaEvent_t get() const { return handle_.get().value; }
  int device() const { return handle_.get().device; }
  unsigned epoch() const { return handle_.get().epoch; }
  // Return whether the event was recorded, and whether it has a time.
  std::string state_text() const;
  Status destroy() { return status = returned_to_caller(handle_.reset()); }
  Status status;

 private:
  friend Status record(Event& event, const StreamRef& stream);
  friend std::string missing_time_text(const Event& start, const Event& end);

  UniqueHandle<EventTraits> handle_;
  bool has_timing_ = false;
  enum class Recorded { never, in_capture, on_device } recorded_ = Recorded::never;
};

// Return why there is no time between two events; empty if the reason is unknown.
std::string missing_time_text(const Event& start, const Event& end);

// Make later work on `later` wait for the present work on `earlier`, a stream of `device`.
cudaError_t order_after(cudaStream_t later, cudaStream_t earlier, int device);

// Return whether the stream does not synchronize with the null stream of `device`.
bool is_non_blocking(const StreamRef& stream, int device);

// Return whether the stream is captured into a graph, by any library. For the null stream: whether
// a stream that it waits for is captured. Joining such a stream with another would invalidate the
// graph.
bool is_captured(cudaStream_t stream);

// Guard: while it lives, this thread may make calls that a capture forbids as potentially unsafe,
// although they do not affect the captured work.
struct CaptureModeTraits {
  struct Handle {
    cudaStreamCaptureMode before = cudaStreamCaptureModeRelaxed;
    bool operator==(const Handle& other) const { return before == other.before; }
  };
  static constexpr const char* name = "the capture mode";
  static cudaError_t release(Handle handle);
};
using RelaxedCaptureMode = UniqueHandle<CaptureModeTraits>;
RelaxedCaptureMode relax_capture_mode();
// Make a call by `waiting` under such a guard.
cudaError_t waiting_in_relaxed_mode(const Wait& call);

// Make `later` wait for all of PyGPU's work on the device. Launches do not record which memory they
// use, so this happens before another library gets PyGPU's memory. The work is on the null stream,
// on blocking streams, which synchronize with it, and on the non-blocking streams remembered here.
void remember_non_blocking(const std::shared_ptr<const Stream>& stream);
void order_after_all(const StreamRef& later, int device);
// Return the remembered stream that has this handle, or null.
std::shared_ptr<const Stream> remembered_stream(cudaStream_t handle);

}  // namespace PyGPU
