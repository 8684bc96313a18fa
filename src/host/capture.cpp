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

std::atomic<int> recordings{0};

namespace {

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

// Return a number that identifies this thread. Linux reuses its thread identifiers, so a counter is
// used.
std::uint64_t this_thread() {
  static std::atomic<std::uint64_t> count{0};
  thread_local const std::uint64_t number = ++count;
  return number;
}

// Active captures, in no particular order. Guarded by the machine's lock.
std::vector<std::unique_ptr<Recording>>& all() {
  static auto& all = *new std::vector<std::unique_ptr<Recording>>;
  return all;
}

cudaError_t invalidate(Recording& recording, cudaError_t error) {
  recording.is_invalidated = true;
  return error;
}

// Return a capture that blocks the legacy stream, which implicitly synchronizes with all blocking
// streams of its device; null if there is none.
Recording* of_blocking_streams() {
  for (const auto& recording : all())
    if (recording->origin->device == current_device() &&
        !(recording->origin->flags & cudaStreamNonBlocking))
      return recording.get();
  return nullptr;
}

// Return the capture that records the work of `stream`, or null.
Recording* recording_of(cudaStream_t stream) {
  if (recordings == 0 || !is_own(stream)) return nullptr;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  return stream->recording;
}

Work one_after_the_other(const std::vector<Work>& work) {
  return [work](cudaStream_t stream) {
    for (const Work& one : work)
      if (const cudaError_t error = one(stream)) return error;
    return cudaSuccess;
  };
}

void drop(Recording& recording) {
  for (cudaStream_t stream : Machine::get().streams)
    if (stream->recording == &recording) stream->recording = nullptr;
  for (cudaEvent_t event : Machine::get().events)
    if (event->recording == &recording) event->recording = nullptr;
  auto& list = all();
  list.erase(std::find_if(list.begin(), list.end(),
                          [&](const auto& one) { return one.get() == &recording; }));
  --recordings;
}

}  // namespace

Admission admit(cudaStream_t stream) {
  Machine& machine = Machine::get();
  if (!machine.knows(stream)) return {cudaErrorInvalidResourceHandle, nullptr};
  std::lock_guard<std::mutex> hold(machine.lock);
  if (is_own(stream)) {
    Recording* const recording = stream->recording;
    if (recording && recording->is_invalidated) return {cudaErrorStreamCaptureInvalidated, nullptr};
    return {cudaSuccess, recording};
  }
  Recording* const recording = of_blocking_streams();
  if (!recording || stream == cudaStreamPerThread) return {};
  return {invalidate(*recording, cudaErrorStreamCaptureImplicit), nullptr};
}

void record(cudaStream_t stream, Recording& recording, Work work) {
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  recording.work.push_back(std::move(work));
  stream->is_joined = stream == recording.origin;
}

cudaError_t refuse_captured(cudaStream_t stream) {
  if (recordings == 0) return cudaSuccess;
  const Admission found = admit(stream);
  if (found.error || !found.recording) return found.error;
  return invalidate(*found.recording, cudaErrorStreamCaptureUnsupported);
}

cudaError_t refuse_captured() {
  if (recordings == 0) return cudaSuccess;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  cudaError_t error = cudaSuccess;
  for (const auto& recording : all())
    if (recording->origin->device == current_device())
      error = invalidate(*recording, cudaErrorStreamCaptureUnsupported);
  return error;
}

cudaError_t refuse_unsafe() {
  if (recordings == 0 || mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  cudaError_t error = cudaSuccess;
  for (const auto& recording : all()) {
    const bool concerns =
        recording->mode == cudaStreamCaptureModeGlobal
            ? mode_of_thread == cudaStreamCaptureModeGlobal || recording->thread == this_thread()
            : recording->mode == cudaStreamCaptureModeThreadLocal &&
                  recording->thread == this_thread();
    if (concerns) error = invalidate(*recording, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t mark(cudaStream_t stream, cudaEvent_t event) {
  event->recording = nullptr;
  if (recordings == 0) return cudaSuccess;
  const Admission found = admit(stream);
  if (found.error) return found.error;
  event->recording = found.recording;
  event->captured_on = stream;
  return cudaSuccess;
}

cudaError_t join(cudaStream_t stream, cudaEvent_t event) {
  if (recordings == 0) return cudaSuccess;
  const Admission found = admit(stream);
  if (found.error) return found.error;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  Recording* const earlier = event->recording;
  if (found.recording && !earlier)
    return invalidate(*found.recording, cudaErrorStreamCaptureIsolation);
  if (!earlier) return cudaSuccess;
  if (found.recording && found.recording != earlier) {
    (void)invalidate(*earlier, cudaErrorStreamCaptureMerge);
    return invalidate(*found.recording, cudaErrorStreamCaptureMerge);
  }
  if (!is_own(stream)) return invalidate(*earlier, cudaErrorStreamCaptureImplicit);
  if (!found.recording) {
    stream->recording = earlier;
    stream->is_joined = false;
  }
  if (stream != event->captured_on) event->captured_on->is_joined = true;
  return cudaSuccess;
}

void forget(cudaStream_t stream) {
  if (!stream->recording) return;
  for (cudaEvent_t event : Machine::get().events)
    if (event->captured_on == stream) event->recording = nullptr;
  if (stream->recording->origin == stream)
    drop(*stream->recording);
  else
    (void)invalidate(*stream->recording, cudaErrorStreamCaptureInvalidated);
}

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] {
    Machine& machine = Machine::get();
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    if (!is_own(stream)) return cudaErrorStreamCaptureUnsupported;
    if (!machine.knows(stream)) return cudaErrorInvalidResourceHandle;
    std::lock_guard<std::mutex> hold(machine.lock);
    if (stream->recording) return cudaErrorIllegalState;
    all().push_back(std::make_unique<Recording>(Recording{stream, this_thread(), mode, false, {}}));
    stream->recording = all().back().get();
    stream->is_joined = true;
    ++recordings;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] {
    Machine& machine = Machine::get();
    if (!graph) return cudaErrorInvalidValue;
    *graph = nullptr;
    if (!is_own(stream)) return cudaErrorIllegalState;
    if (!machine.knows(stream)) return cudaErrorInvalidResourceHandle;
    std::lock_guard<std::mutex> hold(machine.lock);
    Recording* const recording = stream->recording;
    if (!recording) return cudaErrorIllegalState;
    if (recording->origin != stream) return invalidate(*recording, cudaErrorStreamCaptureUnmatched);
    if (recording->mode != cudaStreamCaptureModeRelaxed && recording->thread != this_thread())
      return invalidate(*recording, cudaErrorStreamCaptureWrongThread);
    const bool is_joined = std::all_of(
        machine.streams.begin(), machine.streams.end(),
        [&](cudaStream_t one) { return one->recording != recording || one->is_joined; });
    const cudaError_t error = recording->is_invalidated ? cudaErrorStreamCaptureInvalidated
                              : !is_joined              ? cudaErrorStreamCaptureUnjoined
                                                        : cudaSuccess;
    if (!error) *graph = new PyGPUHostGraph{std::move(recording->work)};
    drop(*recording);
    return error;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&] {
    if (!status) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    Machine& machine = Machine::get();
    if (!machine.knows(stream)) return cudaErrorInvalidResourceHandle;
    if (recordings == 0) return cudaSuccess;
    std::lock_guard<std::mutex> hold(machine.lock);
    if (!is_own(stream)) {
      const bool is_blocked = stream != cudaStreamPerThread && of_blocking_streams();
      return is_blocked ? cudaErrorStreamCaptureImplicit : cudaSuccess;
    }
    if (const Recording* const recording = stream->recording)
      *status = recording->is_invalidated ? cudaStreamCaptureStatusInvalidated
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
    if (!Machine::get().knows(stream)) return cudaErrorInvalidResourceHandle;
    if (Recording* const recording = recording_of(stream))
      return invalidate(*recording, cudaErrorStreamCaptureUnsupported);
    return enqueue(stream, one_after_the_other(exec->work));
  });
}

cudaError_t cudaHostGraphRecord(cudaStream_t stream, cudaGraph_t graph) {
  return call([&] {
    if (!graph) return cudaErrorInvalidValue;
    if (!Machine::get().knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!recording_of(stream)) return cudaErrorIllegalState;
    return enqueue(stream, one_after_the_other(graph->work));
  });
}
