// Failure injection: a call of the machine that fails on request, to test what comes after it.
#pragma once

#include <atomic>
#include <cstddef>

#include "PyGPU/vendor/host.h"

namespace PyGPU::host {

// PYGPU_HOST_FAIL=n: the n-th call from now on fails; n:name counts those of this name only.
extern std::atomic<long> failures_wanted;  // calls until then; 0: none is to fail

// Is this the call? Counts it.
bool is_to_fail(const char* name);
// Its error: what allocates runs out of memory.
cudaError_t failure_of(const char* name);
// Does the call give something back? It does so, and then fails, as where a GPU reports by it that
// something else went wrong before.
bool releases(const char* name);

// How many are live, textures with surfaces. Under the machine's lock.
std::size_t live_arrays();
std::size_t live_textures();
std::size_t live_modules();

}  // namespace PyGPU::host
