// Streams and events: owned ones, and references to anybody's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "device.h"

namespace PyGPU {

struct StreamTraits {
  struct Handle {
    cudaStream_t stream = nullptr;
    int device = 0;
    unsigned epoch = 0;
    bool operator==(const Handle& other) const { return stream == other.stream; }
  };
  static constexpr const char* name = "a stream";
  static cudaError_t release(Handle handle);
};

struct EventTraits {
  struct Handle {
    cudaEvent_t event = nullptr;
    int device = 0;
    unsigned epoch = 0;
    bool operator==(const Handle& other) const { return event == other.event; }
  };
  static constexpr const char* name = "an event";
  static cudaError_t release(Handle handle);
};

// Made on the current device. What went wrong is in `status`; the object is then empty.
class Stream {
 public:
  Stream(unsigned flags, int priority);
  cudaStream_t get() const { return handle_.get().stream; }
  int device() const { return handle_.get().device; }
  bool alive() const;  // neither destroyed nor gone with its device's reset
  Status destroy() { return status = handle_.reset(); }
  Status status;

 private:
  UniqueHandle<StreamTraits> handle_;
};

class Event {
 public:
  explicit Event(unsigned flags);
  explicit Event(const cudaIpcEventHandle_t& handle);  // another process's
  cudaEvent_t get() const { return handle_.get().event; }
  Status destroy() { return status = handle_.reset(); }
  Status status;

 private:
  UniqueHandle<EventTraits> handle_;
};

// A stream to work on: our own kept alive, or somebody else's handle. Default: the null stream.
struct StreamRef {
  cudaStream_t handle = nullptr;
  std::shared_ptr<const Stream> owner;
};

// Work put on `later` from now on waits for what is on `earlier`, a stream of `device`, now.
cudaError_t order_after(cudaStream_t later, cudaStream_t earlier, int device);

// Does the stream run beside the null stream of `device`, neither waiting for the other?
bool is_apart(const StreamRef& stream, int device);

// A launch does not note which memory it uses. So what is handed to another library waits for all
// work of this one: on the null stream, on the blocking ones, of which it is the order, and on the
// non-blocking streams that are remembered.
void remember_apart(const std::shared_ptr<const Stream>& stream);
void order_after_all(const StreamRef& later, int device);

}  // namespace PyGPU
