// Errors left by other libraries, the fork guard, and reports of failed releases. See error.h.
#include "PyGPU/runtime/error.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>

namespace PyGPU {
namespace {

thread_local cudaError_t returned = cudaSuccess;

std::atomic<bool> was_used{false};
std::atomic<bool> in_forked_child{false};
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { in_forked_child = was_used.load(); });

}  // namespace

Status reported(cudaError_t code) {
  const bool is_fault =
      code == cudaErrorIllegalAddress || code == cudaErrorAssert || code == cudaErrorLaunchFailure;
  return {code, is_fault ? last_report() : ""};
}

void throw_unread_error() {
  if (!capabilities.shares_last_error) return;
  const cudaError_t left = cudaPeekAtLastError();
  if (left == cudaSuccess) return;
  (void)cudaGetLastError();
  if (std::exchange(returned, cudaSuccess) == left) return;
  // A library that handles its failed allocation leaves nothing undone.
  if (left == cudaErrorMemoryAllocation) {
    std::fprintf(stderr,
                 "PyGPU: note: an earlier call outside PyGPU failed (%s), and its library left the "
                 "error unread\n",
                 cudaGetErrorString(left));
    return;
  }
  std::string detail = reported(left).detail;
  if (!detail.empty()) detail += "; ";
  throw DeviceError("an earlier call outside PyGPU",
                    {left, detail + "another library left this error unread, perhaps of a launch; "
                                    "this call did nothing"});
}

void mark_as_returned(cudaError_t error) { returned = error; }

bool forked() { return in_forked_child.load(std::memory_order_relaxed); }

bool enter_runtime() {
  if (!was_used.load(std::memory_order_relaxed)) was_used = true;
  return !forked() && !in_host_function;
}

Status refused_status() {
  if (!forked())
    return {cudaErrorNotPermitted,
            "a function that a stream calls cannot use the runtime: let it signal another thread"};
  return {cudaErrorInitializationError,
          "this process was forked from one that had used the device; start it with "
          "multiprocessing's 'spawn' method instead"};
}

void report_failed_release(const char* what, cudaError_t error) noexcept {
  (void)cudaGetLastError();
  if (forked()) return;  // the parent releases what it allocated
  // The runtime is unloading, or the device was reset: nothing is left to release.
  if (error == cudaErrorCudartUnloading || error == cudaErrorContextIsDestroyed) return;
  std::fprintf(stderr, "PyGPU: releasing %s failed: %s\n", what, cudaGetErrorString(error));
}

}  // namespace PyGPU
