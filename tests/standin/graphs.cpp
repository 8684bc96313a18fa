// Captured streams and graphs of the stand-in.
#include <map>
#include <mutex>
#include <thread>

#include "machine.h"

using namespace standin;

namespace {

struct Captured {
  hipStreamCaptureMode mode;
  std::thread::id thread;
};
std::mutex lock;
std::map<hipStream_t, Captured> captured_streams;

cudaGraph_t graph_of(hipGraph_t graph) { return reinterpret_cast<cudaGraph_t>(graph); }
cudaGraphExec_t exec_of(hipGraphExec_t exec) { return reinterpret_cast<cudaGraphExec_t>(exec); }

}  // namespace

bool standin::forbids_pools() {
  const std::lock_guard<std::mutex> hold(lock);
  for (const auto& [stream, captured] : captured_streams)
    if (captured.mode == hipStreamCaptureModeGlobal ||
        (captured.mode == hipStreamCaptureModeThreadLocal &&
         captured.thread == std::this_thread::get_id()))
      return true;
  return false;
}

STANDIN_EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream_of(stream), &captured);
  if (status) *status = hipStreamCaptureStatus(captured);
  return finish(status ? error : cudaErrorInvalidValue);
}
STANDIN_EXPORT hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  const cudaError_t error = cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureMode(mode));
  const std::lock_guard<std::mutex> hold(lock);
  if (!error) captured_streams[stream] = {mode, std::this_thread::get_id()};
  return finish(error);
}
STANDIN_EXPORT hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  const cudaError_t error =
      cudaStreamEndCapture(stream_of(stream), reinterpret_cast<cudaGraph_t*>(graph));
  const std::lock_guard<std::mutex> hold(lock);
  captured_streams.erase(stream);
  return finish(error);
}
STANDIN_EXPORT hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  if (!mode) return finish(cudaErrorInvalidValue);
  cudaStreamCaptureMode exchanged = cudaStreamCaptureMode(*mode);
  const cudaError_t error = cudaThreadExchangeStreamCaptureMode(&exchanged);
  *mode = hipStreamCaptureMode(exchanged);
  return finish(error);
}
STANDIN_EXPORT hipError_t hipGraphDestroy(hipGraph_t graph) {
  return finish(cudaGraphDestroy(graph_of(graph)));
}
STANDIN_EXPORT hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return finish(cudaGraphExecDestroy(exec_of(exec)));
}
STANDIN_EXPORT hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph,
                                              hipGraphNode_t*, char*, size_t) {
  return finish(
      cudaHostGraphInstantiate(reinterpret_cast<cudaGraphExec_t*>(exec), graph_of(graph)));
}
STANDIN_EXPORT hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t*,
                                             hipGraphExecUpdateResult* result) {
  const cudaError_t error = cudaHostGraphUpdate(exec_of(exec), graph_of(graph));
  if (result) *result = error ? hipGraphExecUpdateError : hipGraphExecUpdateSuccess;
  return finish(error);
}
// A graph that is being recorded is known by its stream; its nodes are in that stream's order.
STANDIN_EXPORT hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream,
                                                     hipStreamCaptureStatus* status,
                                                     unsigned long long* number, hipGraph_t* graph,
                                                     const hipGraphNode_t** nodes, size_t* count) {
  if (number) *number = 0;
  if (graph) *graph = reinterpret_cast<hipGraph_t>(stream);
  if (nodes) *nodes = nullptr;
  if (count) *count = 0;
  return hipStreamIsCapturing(stream, status);
}
STANDIN_EXPORT hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                                    const hipGraphNode_t*, size_t,
                                                    hipGraph_t child) {
  if (!node) return finish(cudaErrorInvalidValue);
  *node = reinterpret_cast<hipGraphNode_t>(child);
  return finish(cudaHostGraphRecord(reinterpret_cast<cudaStream_t>(graph), graph_of(child)));
}
STANDIN_EXPORT hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream,
                                                             hipGraphNode_t* nodes, size_t,
                                                             unsigned) {
  return finish(stream && nodes ? cudaSuccess : cudaErrorInvalidValue);
}
STANDIN_EXPORT hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return finish(cudaGraphLaunch(exec_of(exec), stream_of(stream)));
}
