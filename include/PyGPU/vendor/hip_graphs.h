// Graphs of captured work under CUDA's names.
#pragma once

#include <hip/hip_runtime.h>

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

}  // namespace PyGPU
