// Captures and graphs. See graph.h.
#include "PyGPU/runtime/graph.h"

#include <algorithm>
#include <mutex>

#include "PyGPU/runtime/host_function.h"

namespace PyGPU {

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
  if (capture) check("cudaStreamEndCapture", capture->abandon());
}

void Graph::end() {
  if (!capture_) throw DeviceError("capture", {cudaErrorIllegalState, "no capture was begun"});
  const std::unique_ptr<Capture> capture = std::move(capture_);
  const DeviceGuard here = use_device(capture->device());
  auto work = std::make_shared<Work>();
  work->recorded = UniqueHandle<RecordedTraits>(capture->end());
  work->owners = std::move(capture->owners);
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
    check("cudaGraphInstantiate", make_owned(work->exec, capture->device(), create));
  }
  work_ = std::move(work);
}

std::string Graph::state_text() const {
  const auto on = [](int device) { return " on device " + std::to_string(device); };
  if (capture_ && !forked()) return "capturing a stream" + on(capture_->device());
  if (!work_) return "without work";
  const GraphTraits::Handle& graph = work_->exec.get();
  const std::string text = "with captured work" + on(graph.device);
  if (forked()) return text + " of the parent process";
  return graph.gone() ? text + ", destroyed by cudaDeviceReset" : text;
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
  if (std::any_of(work->owners.used.begin(), work->owners.used.end(), is_freed) ||
      std::any_of(work->owners.taken.begin(), work->owners.taken.end(), is_freed))
    throw DeviceError("Graph.launch", {cudaErrorInvalidDevicePointer,
                                       "memory that the graph uses was freed (gpudata.free())"});
  const DeviceGuard here = use_device(graph.device);
  if (Capture* const outer = Capture::current()) outer->keep(work);
  StreamOrder order(stream, work->owners.used);
  order.run([&] {
    const auto& called = work->owners.called;
    if (stream.handle && is_captured(stream.handle)) {
      check("cudaGraphAddChildGraphNode", record_graph(stream.handle, work->recorded.get()));
      if (Capture* const outer = Capture::current())
        outer->owners.called.insert(outer->owners.called.end(), called.begin(), called.end());
      return;
    }
    for (const auto& function : called) function->expect();
    const cudaError_t error = call_that_waits([&] {
      const std::lock_guard<std::mutex> hold(work->launches);
      return cudaGraphLaunch(graph.value, stream.handle);
    });
    if (error)
      for (const auto& function : called) function->cancel();
    check("cudaGraphLaunch", error);
  });
}

}  // namespace PyGPU
