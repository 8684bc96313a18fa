// Graphs of captured work on the `host` target.
#pragma once

#include "host.h"

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};

using cudaGraph_t = struct PyGPUHostGraph*;
using cudaGraphExec_t = struct PyGPUHostGraphExec*;

PYGPU_HOST_CALL(cudaStreamBeginCapture, cudaStream_t stream, cudaStreamCaptureMode mode)
PYGPU_HOST_CALL(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t* graph)
PYGPU_HOST_CALL(cudaThreadExchangeStreamCaptureMode, cudaStreamCaptureMode* mode)
PYGPU_HOST_CALL(cudaGraphDestroy, cudaGraph_t graph)
PYGPU_HOST_CALL(cudaGraphExecDestroy, cudaGraphExec_t exec)
PYGPU_HOST_CALL(cudaGraphLaunch, cudaGraphExec_t exec, cudaStream_t stream)
PYGPU_HOST_CALL(cudaHostGraphInstantiate, cudaGraphExec_t* exec, cudaGraph_t graph)
PYGPU_HOST_CALL(cudaHostGraphRecord, cudaStream_t stream, cudaGraph_t graph)
PYGPU_HOST_CALL(cudaHostGraphUpdate, cudaGraphExec_t exec, cudaGraph_t graph)

namespace PyGPU {
inline const auto instantiate_graph = cudaHostGraphInstantiate;
inline const auto update_graph = cudaHostGraphUpdate;
inline const auto record_graph = cudaHostGraphRecord;
}  // namespace PyGPU
