// Captures of streams, and releases that are postponed. See capture.h.
#include "PyGPU/runtime/capture.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace PyGPU {

std::atomic<int> Capture::active_count_{0};

namespace {

// Captures in progress, by thread, and the streams of lost captures: another thread destroyed their
// Capture, but only the capturing thread can end them.
struct ActiveCaptures {
  std::mutex lock;
  std::map<std::uint64_t, Capture*> captures;
  std::map<std::uint64_t, std::weak_ptr<const Stream>> lost;
};
ActiveCaptures& active_captures() {
  static auto& all = *new ActiveCaptures;
  return all;
}

// Number of this thread. The system's thread ids are reused after a thread ends; these are not.
std::uint64_t this_thread() {
  static std::atomic<std::uint64_t> count{0};
  thread_local const std::uint64_t number = ++count;
  return number;
}

bool holds(const std::vector<std::shared_ptr<Storage>>& all, const Storage* one) {
  return std::any_of(all.begin(), all.end(), [=](const auto& known) { return known.get() == one; });
}

struct Postponed {
  std::mutex lock;
  std::atomic<bool> some{false};
  std::vector<std::shared_ptr<void>> things;
};
Postponed& postponed() {
  static auto& all = *new Postponed;
  return all;
}

}  // namespace

Capture* Capture::in_this_thread() {
  if (forked()) return nullptr;  // the parent process owns the capture
  std::shared_ptr<const Stream> lost;
  {
    const std::lock_guard<std::mutex> hold(active_captures().lock);
    const auto found = active_captures().captures.find(this_thread());
    if (found != active_captures().captures.end()) return found->second;
    const auto left = active_captures().lost.find(this_thread());
    if (left == active_captures().lost.end()) return nullptr;
    lost = left->second.lock();
    active_captures().lost.erase(left);
    --active_count_;
  }
  cudaGraph_t graph{};
  if (lost && lost->alive() && cudaStreamEndCapture(lost->get(), &graph)) (void)cudaGetLastError();
  if (graph) (void)cudaGraphDestroy(graph);
  return nullptr;
}

bool Capture::has_active() {
  const std::lock_guard<std::mutex> hold(active_captures().lock);
  return !forked() && !active_captures().captures.empty();
}

Capture::Capture(const StreamRef& stream)
    : stream_(stream), device_(current_device()), thread_(this_thread()) {
  if (in_this_thread())
    throw DeviceError("capture", {cudaErrorIllegalState,
                                  "this thread captures a stream already: end that capture first"});
  if (!stream.handle)
    throw DeviceError("capture", {cudaErrorStreamCaptureUnsupported,
                                  "stream: the null stream cannot be captured; pass a Stream()"});
  if (stream.owner && stream.owner->device() != device_)
    throw DeviceError("capture",
                      {cudaErrorInvalidValue,
                       "stream: it belongs to device " + std::to_string(stream.owner->device()) +
                           ", the current device is " + std::to_string(device_)});
  check("cudaStreamBeginCapture",
        cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
  unended_ = UniqueHandle<Unended>(this);
  const std::lock_guard<std::mutex> hold(active_captures().lock);
  active_captures().captures[thread_] = this;
  ++active_count_;
}

cudaError_t Capture::Unended::release(Capture* capture) {
  if (forked()) return cudaSuccess;
  cudaGraph_t graph{};
  const cudaError_t error = on_device(capture->device_, [&] { return capture->finish(&graph); });
  if (error) (void)cudaGetLastError();
  if (error == cudaErrorStreamCaptureWrongThread) return error;
  return graph ? cudaGraphDestroy(graph) : cudaSuccess;  // no graph: the capture was invalidated
}

cudaError_t Capture::finish(cudaGraph_t* graph) {
  const cudaError_t error = cudaStreamEndCapture(stream_.handle, graph);
  {
    const std::lock_guard<std::mutex> hold(active_captures().lock);
    active_captures().captures.erase(thread_);
    if (error == cudaErrorStreamCaptureWrongThread && stream_.owner)
      active_captures().lost[thread_] = stream_.owner;
    else
      --active_count_;
  }
  release_postponed();
  return error;
}

cudaGraph_t Capture::end() {
  (void)unended_.give_up();
  cudaGraph_t graph{};
  check("cudaStreamEndCapture", finish(&graph));
  return graph;
}

bool Capture::records(const StreamRef& stream) const {
  return stream.handle == stream_.handle || is_captured(stream.handle);
}

void Capture::uses(const std::shared_ptr<Storage>& storage, const StreamRef& stream) {
  forks_ = forks_ || stream.handle != stream_.handle;
  if (!holds(owners.taken, storage.get()) && !holds(owners.used, storage.get()))
    owners.used.push_back(storage);
}

cudaError_t set_device(int device) {
  if (!Capture::current()) return cudaSetDevice(device);
  // The first use of a device may allocate, which would invalidate the capture.
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  return cudaSetDevice(device);
}

Status record(Event& event, const StreamRef& stream) {
  const Status status = cudaEventRecord(event.get(), stream.handle);
  if (status.failed()) return status;
  const bool is_in_capture = Capture::current() && is_captured(stream.handle);
  event.recorded_ = is_in_capture ? Event::Recorded::in_capture : Event::Recorded::on_device;
  return status;
}

Status refusal_to_wait() {
  return {cudaErrorStreamCaptureUnsupported,
          "this thread captures a stream: its work runs when the graph is launched, so nothing "
          "can be waited for now"};
}

void throw_if_capturing(const char* call) {
  if (Capture::current()) throw DeviceError(call, refusal_to_wait());
}

bool would_invalidate_capture(int device) {
  if (Capture::current()) return true;
  bool answer = false;
  if (on_device(device, [&] {
        answer = is_captured(cudaStream_t());
        return cudaSuccess;
      }))
    (void)cudaGetLastError();
  return answer;
}

bool wait_would_invalidate_capture(int device) {
  return would_invalidate_capture(device) || Capture::is_any_active();
}

void postpone(std::shared_ptr<void> thing) {
  const std::lock_guard<std::mutex> hold(postponed().lock);
  postponed().things.push_back(std::move(thing));
  postponed().some = true;
}

bool has_postponed() { return postponed().some; }

void release_postponed() {
  if (!postponed().some || in_host_function) return;
  // Destroyed after the lock is released, because these releases may postpone others.
  std::vector<std::shared_ptr<void>> ready;
  {
    const std::lock_guard<std::mutex> hold(postponed().lock);
    ready.swap(postponed().things);
    postponed().some = false;
  }
}

}  // namespace PyGPU
