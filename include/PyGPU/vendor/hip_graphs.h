// Graphs of captured work under CUDA's names.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>

#define cudaGraph_t hipGraph_t
#define cudaGraphExec_t hipGraphExec_t
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphLaunch hipGraphLaunch
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamCaptureMode hipStreamCaptureMode
#define cudaStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define cudaStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define cudaThreadExchangeStreamCaptureMode hipThreadExchangeStreamCaptureMode

namespace PyGPU {

inline hipError_t instantiate_graph(hipGraphExec_t* exec, hipGraph_t graph) {
  return hipGraphInstantiate(exec, graph, nullptr, nullptr, 0);
}

// Takes over the parameters of a graph of the same shape; an error where the shapes differ.
inline hipError_t update_graph(hipGraphExec_t exec, hipGraph_t graph) {
  hipGraphNode_t node{};
  hipGraphExecUpdateResult result{};
  return hipGraphExecUpdate(exec, graph, &node, &result);
}

// Makes a graph part of what a stream that is captured records: launches of graphs are not
// recorded.
inline hipError_t record_graph(hipStream_t stream, hipGraph_t graph) {
  hipStreamCaptureStatus status{};
  unsigned long long number = 0;
  hipGraph_t whole{};
  const hipGraphNode_t* earlier{};
  std::size_t count = 0;
  hipGraphNode_t node{};
  if (const hipError_t error =
          hipStreamGetCaptureInfo_v2(stream, &status, &number, &whole, &earlier, &count))
    return error;
  if (status != hipStreamCaptureStatusActive) return hipErrorStreamCaptureInvalidated;
  if (const hipError_t error = hipGraphAddChildGraphNode(&node, whole, earlier, count, graph))
    return error;
  return hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies);
}

}  // namespace PyGPU
