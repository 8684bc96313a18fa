// Captures and graphs. See graph.h.
#include "PyGPU/runtime/graph.h"

#include <algorithm>
#include <map>
#include <mutex>

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

std::shared_ptr<Storage> Capture::take(std::size_t nbytes) {
  // Work on one stream runs in order, so later work may overwrite memory that nobody references.
  if (!forks_)
    for (const std::shared_ptr<Storage>& storage : taken_)
      if (storage.use_count() == 1 && storage->nbytes() == nbytes && storage->alive() &&
          !storage->is_exposed() && storage->device() == current_device())
        return storage;
  taken_.push_back(Storage::take(nbytes, MemoryKind::device));
  return taken_.back();
}

void Capture::uses(const std::shared_ptr<Storage>& storage, const StreamRef& stream) {
  forks_ = forks_ || stream.handle != stream_.handle;
  if (!holds(taken_, storage.get()) && !holds(used_, storage.get())) used_.push_back(storage);
}

Status refusal_to_wait() {
  return {cudaErrorStreamCaptureUnsupported,
          "this thread captures a stream: its work runs when the graph is launched, so nothing "
          "can be waited for now"};
}

void throw_if_capturing(const char* call) {
  if (Capture::current()) throw DeviceError(call, refusal_to_wait());
}

cudaError_t GraphTraits::destroy(const Handle& graph) {
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  return cudaGraphExecDestroy(graph.value);
}

void Graph::begin(const StreamRef& stream) {
  if (capture_)
    throw DeviceError("capture", {cudaErrorIllegalState, "this graph captures a stream already"});
  capture_ = std::make_unique<Capture>(stream);
}

void Graph::abandon() {
  const std::unique_ptr<Capture> capture = std::move(capture_);
  if (capture) check("cudaStreamEndCapture", capture->unended_.reset());
}

void Graph::end() {
  if (!capture_) throw DeviceError("capture", {cudaErrorIllegalState, "no capture was begun"});
  const std::unique_ptr<Capture> capture = std::move(capture_);
  const DeviceGuard here = use_device(capture->device_);
  auto work = std::make_shared<Work>();
  work->recorded = UniqueHandle<RecordedTraits>(capture->end());
  work->taken = std::move(capture->taken_);
  work->used = std::move(capture->used_);
  work->kept = std::move(capture->kept_);
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  // Update in place only if no other graph has recorded this graph's earlier work.
  const bool is_own = work_ && work_.use_count() == 1;
  if (is_own && !work_->exec.get().gone() &&
      !update_graph(work_->exec.get().value, work->recorded.get())) {
    work->exec = std::move(work_->exec);
  } else {
    (void)cudaGetLastError();
    const auto create = [&](GraphTraits::Handle& graph) {
      return call_that_waits([&] { return instantiate_graph(&graph.value, work->recorded.get()); });
    };
    check("cudaGraphInstantiate", make_owned(work->exec, capture->device_, create));
  }
  work_ = std::move(work);
}

void Graph::launch(const StreamRef& stream) const {
  if (!work_)
    throw DeviceError("Graph.launch",
                      {cudaErrorInvalidValue, "nothing was captured yet; capture a stream first"});
  const std::shared_ptr<Work> work = work_;
  const GraphTraits::Handle& graph = work->exec.get();
  require_not_gone("Graph.launch", graph.device, graph.epoch,
                   "cudaDeviceReset has destroyed the graph");
  const auto is_freed = [](const auto& storage) { return !storage->alive(); };
  if (std::any_of(work->used.begin(), work->used.end(), is_freed) ||
      std::any_of(work->taken.begin(), work->taken.end(), is_freed))
    throw DeviceError("Graph.launch", {cudaErrorInvalidDevicePointer,
                                       "memory that the graph uses was freed (gpudata.free())"});
  const DeviceGuard here = use_device(graph.device);
  if (Capture* const outer = Capture::current()) outer->keep(work);
  StreamOrder order(stream, work->used);
  order.run([&] {
    if (stream.handle && is_captured(stream.handle))
      return check("cudaGraphAddChildGraphNode", record_graph(stream.handle, work->recorded.get()));
    check("cudaGraphLaunch",
          call_that_waits([&] { return cudaGraphLaunch(graph.value, stream.handle); }));
  });
}

}  // namespace PyGPU
