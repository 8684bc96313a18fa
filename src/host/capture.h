// Streams that are captured: work enqueued on them is recorded, and done when a graph of it is
// launched. While that goes on, calls that a GPU's runtime refuses then are refused here, and
// invalidate the capture as they do there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "PyGPU/vendor/host_graphs.h"
#include "machine.h"

namespace PyGPU::host {

// Work in the order of the stream that it is given.
using Work = std::function<cudaError_t(cudaStream_t)>;

// One capture, of its first stream and of those that joined it.
struct Recording {
  cudaStream_t origin;
  std::uint64_t thread;
  cudaStreamCaptureMode mode;
  bool is_invalidated = false;
  std::vector<Work> work;
};

extern std::atomic<int> recordings;  // that go on

// Whether, and into what, work on the stream is recorded. An error, where the stream is not one to
// enqueue on now.
struct Admission {
  cudaError_t error = cudaSuccess;
  Recording* recording = nullptr;
};
Admission admit(cudaStream_t stream);
void record(cudaStream_t stream, Recording& recording, Work work);

inline bool is_captured(cudaStream_t stream) { return recordings != 0 && admit(stream).recording; }

// Do the work now, or record it.
template <class Body>
cudaError_t enqueue(cudaStream_t stream, Body body) {
  if (recordings == 0) return body(stream);
  const Admission found = admit(stream);
  if (found.error) return found.error;
  if (!found.recording) return body(stream);
  record(stream, *found.recording, body);
  return cudaSuccess;
}

// The error of a call that cannot be recorded, on the stream or on all of the current device.
cudaError_t refuse_captured(cudaStream_t stream);
cudaError_t refuse_captured();
// The error of a call that may not be made while this thread, or another, captures.
cudaError_t refuse_unsafe();

// An event was recorded on the stream; the stream is to wait for an event; it is no more.
cudaError_t mark(cudaStream_t stream, cudaEvent_t event);
cudaError_t join(cudaStream_t stream, cudaEvent_t event);
void forget(cudaStream_t stream);

}  // namespace PyGPU::host
