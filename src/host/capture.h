// Stream capture: work enqueued on a captured stream is recorded and runs when its graph is
// launched.
//
// While a capture is active, this machine refuses the calls that a GPU's runtime refuses. A refused
// call invalidates the capture, as it does there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "PyGPU/vendor/host_graphs.h"
#include "machine.h"
#include "order.h"

namespace PyGPU::host {

using Work = std::function<cudaError_t()>;

// One capture: its origin stream and the streams that joined it.
struct Capture {
  cudaStream_t origin;
  std::uint64_t thread;
  cudaStreamCaptureMode mode;
  bool is_invalidated = false;
  std::vector<Work> work;
};

extern std::atomic<int> active_captures;

// Decision for work on a stream: `capture` records the work; if it is null, the work runs now.
// `error` is set if the stream accepts no work at present.
struct Admission {
  cudaError_t error = cudaSuccess;
  Capture* capture = nullptr;
};
Admission admit(cudaStream_t stream);
void capture_work(cudaStream_t stream, Capture& capture, Work work);

inline bool is_captured(cudaStream_t stream) {
  return active_captures != 0 && admit(stream).capture;
}

// Run the work in the order of the stream, or record it if the stream is captured.
template <class Body>
cudaError_t enqueue(cudaStream_t stream, Body body) {
  if (active_captures == 0) return in_order(stream, body);
  const Admission found = admit(stream);
  if (found.error) return found.error;
  if (!found.capture) return in_order(stream, body);
  capture_work(stream, *found.capture, body);
  return cudaSuccess;
}

// Return the error of a call that capture does not support, and invalidate the capture. The first
// form concerns one stream, the second all streams of the current device.
cudaError_t refuse_captured(cudaStream_t stream);
cudaError_t refuse_captured();
// Return the error of a call that is unsafe while this or another thread captures, and invalidate
// that capture. The capture mode decides (cudaStreamCaptureModeGlobal and others).
cudaError_t refuse_unsafe();

// Update captures when an event is recorded on a stream.
cudaError_t capture_event(cudaStream_t stream, cudaEvent_t event);
// Update captures when a stream waits for an event: the stream joins the event's capture. If the
// stream is captured already, an event of another capture or of none invalidates the captures
// involved.
cudaError_t join_capture(cudaStream_t stream, cudaEvent_t event);
// Update captures when a stream is destroyed. Call with the machine's lock held.
void drop_captured_stream(cudaStream_t stream);

}  // namespace PyGPU::host
