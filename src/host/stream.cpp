// Streams and events of the host machine.
//
// Work is complete when its call returns. So a stream is always idle, and an event's time is the
// moment of its recording.
#include "capture.h"
#include "machine.h"

namespace PyGPU::host {
namespace {

using Clock = std::chrono::steady_clock;

cudaError_t check(cudaStream_t stream) {
  return Machine::get().is_valid(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t check(cudaEvent_t event) {
  return Machine::get().is_valid(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t check_to_wait(cudaEvent_t event) {
  if (const cudaError_t error = check(event)) return error;
  return event->capture ? cudaErrorCapturedEvent : refuse_unsafe();
}

cudaError_t check_to_wait(cudaStream_t stream) {
  if (const cudaError_t error = check(stream)) return error;
  const cudaError_t error = refuse_captured(stream);
  return error ? error : refuse_unsafe();
}

}  // namespace
}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&] {
    if (!stream || (flags & ~cudaStreamNonBlocking)) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    (void)priority;  // the only priority is 0; CUDA clamps values outside the range
    *stream = new PyGPUHostStream{current_device(), flags, 0, nullptr, true};
    machine.streams.insert(*stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    if (!machine.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    drop_captured_stream(stream);
    machine.streams.erase(stream);
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return check_to_wait(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] { return check_to_wait(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&] {
    if (flags > 1) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    const cudaError_t error = check(event);
    return error ? error : join_capture(stream, event);
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call([&] {
    if (!flags) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    *flags = is_created(stream) ? stream->flags : unsigned(cudaStreamDefault);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] {
    if (!priority) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    *priority = is_created(stream) ? stream->priority : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, std::size_t,
                                     unsigned flags) {
  return call([&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = check(stream)) return error;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const Allocation* block = machine.find(address);
    return block && block->space == Space::managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] {
    constexpr unsigned known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const bool shared = flags & cudaEventInterprocess;
    if (!event || (flags & ~known) || (shared && !(flags & cudaEventDisableTiming)))
      return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    *event = new PyGPUHostEvent{current_device(), flags, false, {}, nullptr, nullptr};
    machine.events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    if (!machine.events.erase(event)) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] {
    if (const cudaError_t error = check(event)) return error;
    if (const cudaError_t error = check(stream)) return error;
    const int device = is_created(stream) ? stream->device : current_device();
    if (event->device != device) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = capture_event(stream, event)) return error;
    if (event->capture) return cudaSuccess;  // an event in a graph has no time
    event->recorded = true;
    event->time = Clock::now();
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return check_to_wait(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] { return check_to_wait(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&] {
    if (!milliseconds) return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end}) {
      if (const cudaError_t error = check(event)) return error;
      if (!event->recorded || (event->flags & cudaEventDisableTiming))
        return cudaErrorInvalidResourceHandle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}
