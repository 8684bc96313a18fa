// Stream capture and graphs of the host machine. See capture.h.
#include "capture.h"

#include <algorithm>
#include <memory>

struct PyGPUHostGraph {
  std::vector<PyGPU::host::Work> work;
};

struct PyGPUHostGraphExec {
  std::vector<PyGPU::host::Work> work;
};

namespace PyGPU::host {

std::atomic<int> active_captures{0};

namespace {

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

// Return a number that identifies this thread. Linux reuses its thread identifiers, so a counter is
// used.
std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> count{0};
  thread_local const std::uint64_t number = ++count;
  return number;
}

// Active captures, in no particular order. Guarded by the machine's lock.
std::vector<std::unique_ptr<Capture>>& captures() {
  static auto& captures = *new std::vector<std::unique_ptr<Capture>>;
  return captures;
}

// Invalidate a capture and return `error`, the reason.
cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.is_invalidated = true;
  return error;
}

// Return a capture that blocks the legacy stream, which implicitly synchronizes with all blocking
// streams of its device; null if there is none.
Capture* blocking_capture() {
  for (const auto& capture : captures())
    if (capture->origin->device == current_device() &&
        !(capture->origin->flags & cudaStreamNonBlocking))
      return capture.get();
  return nullptr;
}

// Return the capture that records the work of `stream`, or null.
Capture* capture_of(cudaStream_t stream) {
  if (active_captures == 0 || !is_created(stream)) return nullptr;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  return stream->capture;
}

Work run_in_order(const std::vector<Work>& work) {
  return [work] {
    for (const Work& one : work)
      if (const cudaError_t error = one()) return error;
    return cudaSuccess;
  };
}

// Remove a capture from its streams and events, and destroy it. Call with the machine's lock held.
void end_capture(Capture& capture) {
  for (cudaStream_t stream : Machine::get().streams)
    if (stream->capture == &capture) stream->capture = nullptr;
  for (cudaEvent_t event : Machine::get().events)
    if (event->capture == &capture) event->capture = nullptr;
  auto& list = captures();
  list.erase(std::find_if(list.begin(), list.end(),
                          [&](const auto& one) { return one.get() == &capture; }));
  --active_captures;
}

}  // namespace

Admission admit(cudaStream_t stream) {
  Machine& machine = Machine::get();
  if (!machine.is_valid(stream)) return {cudaErrorInvalidResourceHandle, nullptr};
  std::lock_guard<std::mutex> hold(machine.lock);
  if (is_created(stream)) {
    Capture* const capture = stream->capture;
    if (capture && capture->is_invalidated) return {cudaErrorStreamCaptureInvalidated, nullptr};
    return {cudaSuccess, capture};
  }
  Capture* const capture = blocking_capture();
  if (!capture || stream == cudaStreamPerThread) return {};
  return {invalidate(*capture, cudaErrorStreamCaptureImplicit), nullptr};
}

void capture_work(cudaStream_t stream, Capture& capture, Work work) {
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  capture.work.push_back(std::move(work));
  stream->is_joined = stream == capture.origin;
}

cudaError_t refuse_captured(cudaStream_t stream) {
  if (active_captures == 0) return cudaSuccess;
  const Admission found = admit(stream);
  if (found.error || !found.capture) return found.error;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  if (stream->capture) (void)invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_captured() {
  if (active_captures == 0) return cudaSuccess;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  cudaError_t error = cudaSuccess;
  for (const auto& capture : captures())
    if (capture->origin->device == current_device())
      error = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  return error;
}

cudaError_t refuse_unsafe() {
  if (active_captures == 0 || mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  cudaError_t error = cudaSuccess;
  for (const auto& capture : captures()) {
    const bool is_affected =
        capture->mode == cudaStreamCaptureModeGlobal
            ? mode_of_thread == cudaStreamCaptureModeGlobal || capture->thread == thread_number()
            : capture->mode == cudaStreamCaptureModeThreadLocal &&
                  capture->thread == thread_number();
    if (is_affected) error = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t capture_event(cudaStream_t stream, cudaEvent_t event) {
  event->capture = nullptr;
  if (active_captures == 0) return cudaSuccess;
  const Admission found = admit(stream);
  if (found.error) return found.error;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  event->capture = found.capture;
  event->captured_on = stream;
  return cudaSuccess;
}

cudaError_t join_capture(cudaStream_t stream, cudaEvent_t event) {
  if (active_captures == 0) return cudaSuccess;
  const Admission found = admit(stream);
  if (found.error) return found.error;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  Capture* const earlier = event->capture;
  if (found.capture && !earlier) return invalidate(*found.capture, cudaErrorStreamCaptureIsolation);
  if (!earlier) return cudaSuccess;
  if (found.capture && found.capture != earlier) {
    (void)invalidate(*earlier, cudaErrorStreamCaptureMerge);
    return invalidate(*found.capture, cudaErrorStreamCaptureMerge);
  }
  if (!is_created(stream)) return invalidate(*earlier, cudaErrorStreamCaptureImplicit);
  if (!found.capture) {
    stream->capture = earlier;
    stream->is_joined = false;
  }
  if (stream != event->captured_on) event->captured_on->is_joined = true;
  return cudaSuccess;
}

void drop_captured_stream(cudaStream_t stream) {
  if (!stream->capture) return;
  for (cudaEvent_t event : Machine::get().events)
    if (event->captured_on == stream) event->capture = nullptr;
  if (stream->capture->origin == stream)
    end_capture(*stream->capture);
  else
    (void)invalidate(*stream->capture, cudaErrorStreamCaptureInvalidated);
}

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] {
    Machine& machine = Machine::get();
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    if (!is_created(stream)) return cudaErrorStreamCaptureUnsupported;
    if (!machine.is_valid(stream)) return cudaErrorInvalidResourceHandle;
    std::lock_guard<std::mutex> hold(machine.lock);
    if (stream->capture) return cudaErrorIllegalState;
    captures().push_back(
        std::make_unique<Capture>(Capture{stream, thread_number(), mode, false, {}}));
    stream->capture = captures().back().get();
    stream->is_joined = true;
    ++active_captures;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] {
    Machine& machine = Machine::get();
    if (!graph) return cudaErrorInvalidValue;
    *graph = nullptr;
    if (!is_created(stream)) return cudaErrorIllegalState;
    if (!machine.is_valid(stream)) return cudaErrorInvalidResourceHandle;
    std::lock_guard<std::mutex> hold(machine.lock);
    Capture* const capture = stream->capture;
    if (!capture) return cudaErrorIllegalState;
    if (capture->origin != stream) return invalidate(*capture, cudaErrorStreamCaptureUnmatched);
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != thread_number())
      return invalidate(*capture, cudaErrorStreamCaptureWrongThread);
    const bool is_joined =
        std::all_of(machine.streams.begin(), machine.streams.end(),
                    [&](cudaStream_t one) { return one->capture != capture || one->is_joined; });
    const cudaError_t error = capture->is_invalidated ? cudaErrorStreamCaptureInvalidated
                              : !is_joined            ? cudaErrorStreamCaptureUnjoined
                                                      : cudaSuccess;
    if (!error) *graph = new PyGPUHostGraph{std::move(capture->work)};
    end_capture(*capture);
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&] {
    if (!status) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    Machine& machine = Machine::get();
    if (!machine.is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (active_captures == 0) return cudaSuccess;
    std::lock_guard<std::mutex> hold(machine.lock);
    if (!is_created(stream)) {
      const bool is_blocked = stream != cudaStreamPerThread && blocking_capture();
      return is_blocked ? cudaErrorStreamCaptureImplicit : cudaSuccess;
    }
    if (const Capture* const capture = stream->capture)
      *status = capture->is_invalidated ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&] {
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    std::swap(*mode, mode_of_thread);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] {
    if (!graph) return cudaErrorInvalidValue;
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!exec || !graph) return cudaErrorInvalidValue;
    *exec = new PyGPUHostGraphExec{graph->work};
    return cudaSuccess;
  });
}

cudaError_t cudaHostGraphUpdate(cudaGraphExec_t exec, cudaGraph_t graph) {
  return call([&] {
    if (!exec || !graph) return cudaErrorInvalidValue;
    if (exec->work.size() != graph->work.size()) return cudaErrorGraphExecUpdateFailure;
    exec->work = graph->work;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!exec) return cudaErrorInvalidValue;
    delete exec;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] {
    if (!exec) return cudaErrorInvalidValue;
    if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(stream)) return error;
    return enqueue(stream, run_in_order(exec->work));
  });
}

cudaError_t cudaHostGraphRecord(cudaStream_t stream, cudaGraph_t graph) {
  return call([&] {
    if (!graph) return cudaErrorInvalidValue;
    if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (!capture_of(stream)) return cudaErrorIllegalState;
    return enqueue(stream, run_in_order(graph->work));
  });
}
