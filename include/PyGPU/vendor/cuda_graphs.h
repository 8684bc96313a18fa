// Graph calls that differ between versions of CUDA.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace PyGPU {

inline cudaError_t instantiate_graph(cudaGraphExec_t* exec, cudaGraph_t graph) {
#if CUDART_VERSION >= 12000
  return cudaGraphInstantiate(exec, graph, 0);
#else
  return cudaGraphInstantiate(exec, graph, nullptr, nullptr, 0);
#endif
}

// Copy the parameters of a graph of the same shape; an error if the shapes differ.
inline cudaError_t update_graph(cudaGraphExec_t exec, cudaGraph_t graph) {
#if CUDART_VERSION >= 12000
  cudaGraphExecUpdateResultInfo result{};
  return cudaGraphExecUpdate(exec, graph, &result);
#else
  cudaGraphNode_t node{};
  cudaGraphExecUpdateResult result{};
  return cudaGraphExecUpdate(exec, graph, &node, &result);
#endif
}

// Add a graph to the work that a captured stream records. Needed because a launch of a graph is not
// recorded.
inline cudaError_t record_graph(cudaStream_t stream, cudaGraph_t graph) {
  cudaStreamCaptureStatus status{};
  unsigned long long number = 0;
  cudaGraph_t whole{};
  const cudaGraphNode_t* earlier{};
  std::size_t count = 0;
  cudaGraphNode_t node{};
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData* edges{};
  if (const cudaError_t error =
          cudaStreamGetCaptureInfo(stream, &status, &number, &whole, &earlier, &edges, &count))
    return error;
#else
  if (const cudaError_t error =
          cudaStreamGetCaptureInfo_v2(stream, &status, &number, &whole, &earlier, &count))
    return error;
#endif
  if (status != cudaStreamCaptureStatusActive) return cudaErrorStreamCaptureInvalidated;
  if (const cudaError_t error = cudaGraphAddChildGraphNode(&node, whole, earlier, count, graph))
    return error;
#if CUDART_VERSION >= 13000
  return cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                             cudaStreamSetCaptureDependencies);
#else
  return cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies);
#endif
}

}  // namespace PyGPU
