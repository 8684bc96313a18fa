// Work that a running kernel enqueues: launches of other kernels, copies and fills.
//
// This work runs after all blocks of the kernel's grid have ended and before the grid's launch
// returns.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "PyGPU/vendor/host.h"
#include "capture.h"
#include "check_access.h"
#include "fault.h"
#include "machine.h"

namespace PyGPU::host {

// One enqueued item: a copy or fill if `copy` is set, otherwise a grid.
struct Child {
  std::function<cudaError_t()> copy;  // a copy or fill; empty for a grid
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  void (*threads)(void*) = nullptr;
  // A copy of the arguments: the kernel's own are gone when the child runs.
  std::vector<ParameterLine> context;
  const char* kernel = "";
  bool is_tail = false;  // runs after everything else that its parent enqueued
};

// Enqueue a child of the running kernel. Call it only inside a kernel.
void enqueue_child(Child child);

// Launch a kernel whose arguments are in `context`, or record its launch if the stream is captured.
// A recorded launch keeps `context` alive.
cudaError_t launch_owned(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                         void (*threads)(void*), std::shared_ptr<void> context, const char* kernel);

// Enqueue `copy`, a copy or a fill. Inside a kernel, enqueue the copy as a child instead.
template <class Copy>
cudaError_t enqueue_copy(cudaStream_t stream, Copy copy) {
  if (!in_kernel()) return enqueue(stream, copy);
  if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
  Child child;
  child.copy = copy;
  child.is_tail = stream == cudaStreamTailLaunch;
  enqueue_child(std::move(child));
  return cudaSuccess;
}

}  // namespace PyGPU::host
