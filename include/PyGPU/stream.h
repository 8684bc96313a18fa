// Streams and events: owned ones, and references to streams of any owner.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device.h"

namespace PyGPU {

// What a stream of ours leaves to the memory that was used on it, which may outlive it. When it is
// destroyed, the null streams of that memory's devices wait for the rest of its work.
class StreamUses {
 public:
  StreamUses(cudaStream_t stream, int device) : stream_(stream), device_(device) {}
  void add(int device);  // of memory that is used on it
  bool is_over() const;
  bool is_captured() const;
  // Makes the null stream of the current device wait for its work, if that is not over.
  cudaError_t join() const;
  // Makes all of them wait, before it is destroyed; then it is over.
  void end();

 private:
  bool join_all() const;

  mutable std::mutex lock_;  // of stream_ and devices_; held while the stream is used
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
  static cudaError_t destroy(const Handle& event) { return cudaEventDestroy(event.value); }
};

// Created on the current device. After a failure the object is empty and `status` says why.
class Stream {
 public:
  Stream(unsigned flags, int priority);
  cudaStream_t get() const { return handle_.get().stream; }
  int device() const { return handle_.get().device; }
  const std::shared_ptr<StreamUses>& uses() const { return handle_.get().uses; }
  bool alive() const;  // neither destroyed nor lost in a reset of its device
  Status destroy() { return status = returned_to_caller(handle_.reset()); }
  Status status;

 private:
  UniqueHandle<StreamTraits> handle_;
};

class Event {
 public:
  explicit Event(unsigned flags);
  explicit Event(const cudaIpcEventHandle_t& handle);  // another process's
  cudaEvent_t get() const { return handle_.get().value; }
  Status destroy() { return status = returned_to_caller(handle_.reset()); }
  Status status;

 private:
  UniqueHandle<EventTraits> handle_;
};

// A stream to work on: one of ours, kept alive, or a foreign handle. Default: the null stream.
struct StreamRef {
  cudaStream_t handle = nullptr;
  std::shared_ptr<const Stream> owner;
};

// Work enqueued on `later` from now on waits for all work now on `earlier`, a stream of `device`.
cudaError_t order_after(cudaStream_t later, cudaStream_t earlier, int device);

// Is the stream one that does not synchronize with the null stream of `device`?
bool is_non_blocking(const StreamRef& stream, int device);

// Is the stream being captured into a graph, by whomever? Of the null stream: is a stream that it
// waits for? Work that joins such a stream with another would invalidate the graph.
bool is_captured(cudaStream_t stream);

// While it lives, this thread may make calls that could invalidate a graph in general, and do not
// here.
struct CaptureModeTraits {
  struct Handle {
    cudaStreamCaptureMode before = cudaStreamCaptureModeRelaxed;
    bool operator==(const Handle& other) const { return before == other.before; }
  };
  static constexpr const char* name = "the mode of captures";
  static cudaError_t release(Handle handle);
};
using BesideCaptures = UniqueHandle<CaptureModeTraits>;
BesideCaptures beside_captures();
// waiting(call) meanwhile.
cudaError_t waiting_beside_captures(const Wait& call);

// Launches do not record which memory they use. So before another library gets memory of ours, the
// stream `later` waits for all our work on the device: on the null stream, on the blocking streams,
// which synchronize with it, and on the non-blocking streams that were remembered here.
void remember_non_blocking(const std::shared_ptr<const Stream>& stream);
void order_after_all(const StreamRef& later, int device);
// The stream of ours that a handle is of, if it was remembered.
std::shared_ptr<const Stream> remembered_stream(cudaStream_t handle);

}  // namespace PyGPU
