// Failure injection: one chosen runtime call fails, so that tests can exercise error handling.
#pragma once

#include <atomic>

#include "PyGPU/vendor/host.h"

namespace PyGPU::host {

// Calls that remain until one fails; 0 disables the injection. Set by cudaHostFail and at the start
// by PYGPU_HOST_FAIL: with `n` the n-th call fails, with `n:name` the n-th call of that name.
extern std::atomic<long> calls_until_failure;

// Count this call and return true if it must fail.
bool should_fail(const char* name);
// Return the error of an injected failure: out of memory for an allocation, "unknown" otherwise.
cudaError_t injected_error(const char* name);
// Return true if the call releases a resource. Such a call does its work and then fails, as on a
// GPU, where a release can report the error of earlier asynchronous work.
bool is_release(const char* name);

}  // namespace PyGPU::host
