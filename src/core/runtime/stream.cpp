// Streams, events and their order. See stream.h.
#include "PyGPU/runtime/stream.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

namespace PyGPU {
namespace {

// Non-blocking streams that programs have created.
struct NonBlocking {
  std::mutex lock;
  std::vector<std::weak_ptr<const Stream>> streams;
};
NonBlocking& non_blocking() {
  static auto& known = *new NonBlocking;
  return known;
}

}  // namespace

void StreamUses::add(int device) {
  const std::lock_guard<std::mutex> hold(lock_);
  if (std::find(devices_.begin(), devices_.end(), device) == devices_.end())
    devices_.push_back(device);
}

bool StreamUses::is_over() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return !stream_ || is_gone(device_, epoch_);
}

bool StreamUses::is_captured() const {
  const std::lock_guard<std::mutex> hold(lock_);
  return stream_ && !is_gone(device_, epoch_) && PyGPU::is_captured(stream_);
}

cudaError_t StreamUses::join() const {
  const std::lock_guard<std::mutex> hold(lock_);
  if (!stream_ || is_gone(device_, epoch_)) return cudaSuccess;
  return order_after(cudaStream_t(), stream_, device_);
}

bool StreamUses::join_all() const {
  const std::lock_guard<std::mutex> hold(lock_);
  if (PyGPU::is_captured(stream_)) return true;  // the recorded work is discarded with the stream
  bool all = true;
  for (int device : devices_) {
    const cudaError_t error = on_device(device, [&] {
      return PyGPU::is_captured(cudaStream_t()) ? cudaErrorStreamCaptureImplicit
                                                : order_after(cudaStream_t(), stream_, device_);
    });
    if (!error) continue;
    (void)cudaGetLastError();
    all = false;
  }
  return all;
}

void StreamUses::end() {
  // Recorded work cannot wait for work that is not recorded, so this thread waits. The lock is not
  // held meanwhile, because other threads continue.
  if (!join_all() && waiting_in_relaxed_mode([this] { return cudaStreamSynchronize(stream_); }))
    (void)cudaGetLastError();
  const std::lock_guard<std::mutex> hold(lock_);
  stream_ = nullptr;
}

cudaError_t StreamTraits::release(Handle handle) {
  if (is_gone(handle.device, handle.epoch)) return cudaSuccess;
  return call_that_enqueues([&] {
    handle.uses->end();
    return cudaStreamDestroy(handle.stream);
  });
}

namespace {

// Let `owner` own the handle that `create(handle)` makes on the current device.
template <class Traits, class Create>
Status make(UniqueHandle<Traits>& owner, Create create) {
  int device = 0;
  if (!enter_runtime()) return refused_status();
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  return returned_to_caller(make_owned(owner, device, create));
}

}  // namespace

Stream::Stream(unsigned flags, int priority) : flags_(flags) {
  status = make(handle_, [=](StreamTraits::Handle& handle) {
    const cudaError_t error = cudaStreamCreateWithPriority(&handle.stream, flags, priority);
    if (!error) handle.uses = std::make_shared<StreamUses>(handle.stream, handle.device);
    return error;
  });
}

bool Stream::alive() const { return get() && !is_gone(handle_.get().device, handle_.get().epoch); }

Event::Event(unsigned flags) : has_timing_(!(flags & cudaEventDisableTiming)) {
  status = make(handle_, [=](EventTraits::Handle& handle) {
    return cudaEventCreateWithFlags(&handle.value, flags);
  });
}

Event::Event(const cudaIpcEventHandle_t& shared) {
  status = make(handle_, [&](EventTraits::Handle& handle) {
    return cudaIpcOpenEventHandle(&handle.value, shared);
  });
}

std::string Event::state_text() const {
  const std::string timing = has_timing_ ? "" : ", without timing";
  switch (recorded_) {
    case Recorded::in_capture: return "recorded in a capture" + timing;
    case Recorded::on_device: return "recorded" + timing;
    case Recorded::never: break;
  }
  return "never recorded" + timing;
}

std::string missing_time_text(const Event& start, const Event& end) {
  const std::pair<const char*, const Event&> both[] = {{"the earlier event ", start},
                                                       {"the later event ", end}};
  for (const auto& [name, event] : both) {
    const std::string which = name;
    if (!event.get()) return which + "was destroyed";
    if (!event.has_timing_) return which + "has no time: its timing is disabled";
    if (event.recorded_ == Event::Recorded::never) return which + "was never recorded";
    if (event.recorded_ == Event::Recorded::in_capture)
      return which + "has no time: it was last recorded on a stream that was captured";
  }
  const int first = start.handle_.get().device, second = end.handle_.get().device;
  if (first == second) return "";
  return "the earlier event is of device " + std::to_string(first) +
         ", the later event of device " + std::to_string(second) +
         ": expected events of one device";
}

cudaError_t order_after(cudaStream_t later, cudaStream_t earlier, int device) {
  std::optional<Event> mark;  // an event must be on the device of the stream that records it
  const cudaError_t error = on_device(device, [&] {
    mark.emplace(cudaEventDisableTiming);
    return mark->status.failed() ? mark->status.code : cudaEventRecord(mark->get(), earlier);
  });
  return error ? error : cudaStreamWaitEvent(later, mark->get(), 0);
}

bool is_non_blocking(const StreamRef& stream, int device) {
  unsigned flags = 0;
  if (!stream.handle) return false;
  if (stream.owner && stream.owner->device() != device) return true;
  // A query would invalidate the capture of a captured stream, so treat it as unordered.
  if (is_captured(stream.handle)) return true;
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  check("cudaStreamGetFlags", cudaStreamGetFlags(stream.handle, &flags));
  return flags & cudaStreamNonBlocking;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error) (void)cudaGetLastError();  // in particular the error about a blocking stream's capture
  return error == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
}

cudaError_t CaptureModeTraits::release(Handle handle) {
  return cudaThreadExchangeStreamCaptureMode(&handle.before);
}

RelaxedCaptureMode relax_capture_mode() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (!cudaThreadExchangeStreamCaptureMode(&mode)) return RelaxedCaptureMode({mode});
  (void)cudaGetLastError();
  return {};
}

cudaError_t waiting_in_relaxed_mode(const Wait& call) {
  return call_that_waits([&] {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    return call();
  });
}

void remember_non_blocking(const std::shared_ptr<const Stream>& stream) {
  std::lock_guard<std::mutex> hold(non_blocking().lock);
  auto& streams = non_blocking().streams;
  streams.erase(
      std::remove_if(streams.begin(), streams.end(), [](auto& known) { return known.expired(); }),
      streams.end());
  streams.push_back(stream);
}

std::shared_ptr<const Stream> remembered_stream(cudaStream_t handle) {
  std::lock_guard<std::mutex> hold(non_blocking().lock);
  for (const auto& known : non_blocking().streams)
    if (auto stream = known.lock(); stream && stream->alive() && stream->get() == handle)
      return stream;
  return nullptr;
}

void order_after_all(const StreamRef& later, int device) {
  std::vector<std::shared_ptr<const Stream>> earlier;
  {
    std::lock_guard<std::mutex> hold(non_blocking().lock);
    for (const auto& known : non_blocking().streams)
      if (auto stream = known.lock())
        if (stream->alive() && stream->device() == device && stream->get() != later.handle)
          earlier.push_back(std::move(stream));
  }
  const DeviceGuard here = use_device(device);
  const bool null_is_captured = is_captured(cudaStream_t());
  // Recorded work cannot wait for work that is not recorded, so this thread waits for it.
  const bool waits = later.handle ? is_captured(later.handle) : null_is_captured;
  const auto order = [&](cudaStream_t stream) {
    if (!waits)
      return call_that_enqueues([&] { return order_after(later.handle, stream, device); });
    return waiting_in_relaxed_mode([stream] { return cudaStreamSynchronize(stream); });
  };
  // The null stream is ordered after all blocking streams.
  if (later.handle && !null_is_captured) check("cudaStreamWaitEvent", order(cudaStream_t()));
  for (const auto& stream : earlier)
    if (!is_captured(stream->get())) check("cudaStreamWaitEvent", order(stream->get()));
}

}  // namespace PyGPU
