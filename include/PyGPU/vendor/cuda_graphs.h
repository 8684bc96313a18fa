// Graphs of captured work: what differs between CUDA's versions.
#pragma once

#include <cuda_runtime.h>

namespace PyGPU {

inline cudaError_t instantiate_graph(cudaGraphExec_t* exec, cudaGraph_t graph) {
#if CUDART_VERSION >= 12000
  return cudaGraphInstantiate(exec, graph, 0);
#else
  return cudaGraphInstantiate(exec, graph, nullptr, nullptr, 0);
#endif
}

// Takes over the parameters of a graph of the same shape; an error where the shapes differ.
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

}  // namespace PyGPU
