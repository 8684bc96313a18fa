// Captured streams and graphs of the stand-in.
#include "machine.h"

using namespace standin;

namespace {

cudaGraph_t graph_of(hipGraph_t graph) { return reinterpret_cast<cudaGraph_t>(graph); }
cudaGraphExec_t exec_of(hipGraphExec_t exec) { return reinterpret_cast<cudaGraphExec_t>(exec); }

}  // namespace

STANDIN_EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream_of(stream), &captured);
  if (status) *status = hipStreamCaptureStatus(captured);
  return finish(status ? error : cudaErrorInvalidValue);
}
STANDIN_EXPORT hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return finish(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureMode(mode)));
}
STANDIN_EXPORT hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return finish(cudaStreamEndCapture(stream_of(stream), reinterpret_cast<cudaGraph_t*>(graph)));
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
STANDIN_EXPORT hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return finish(cudaGraphLaunch(exec_of(exec), stream_of(stream)));
}
