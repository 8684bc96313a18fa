// What a running kernel enqueues: launches of other kernels, copies and fills. All of it runs once
// the blocks of the kernel's grid have ended, and before the launch of that grid returns.
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

struct Child {
  std::function<cudaError_t()> copy;  // this, or a grid:
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  void (*threads)(void*) = nullptr;
  std::vector<ParameterLine> context;  // a copy: the kernel's own is gone by then
  const char* kernel = "";
  bool is_tail = false;  // comes after all else that its parent enqueued
};

// To be called in a kernel.
void enqueue_child(Child child);

// Launch, or record the launch of, a kernel whose arguments are kept for it.
cudaError_t launch_kept(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                        void (*threads)(void*), std::shared_ptr<void> context, const char* kernel);

// Do `copy(stream)`, a copy or a fill, at once, or in its order where a kernel asks for it.
template <class Copy>
cudaError_t copy_in_order(cudaStream_t stream, Copy copy) {
  if (!in_kernel()) return enqueue(stream, copy);
  if (!Machine::get().knows(stream)) return cudaErrorInvalidResourceHandle;
  Child child;
  child.copy = [copy] { return copy(nullptr); };  // the stream may be gone by then
  child.is_tail = stream == cudaStreamTailLaunch;
  enqueue_child(std::move(child));
  return cudaSuccess;
}

}  // namespace PyGPU::host
