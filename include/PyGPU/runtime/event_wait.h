// Waiting for events by looking at them in a loop, so that the thread continues some microseconds
// earlier than after a blocking call.
#pragma once

#include <chrono>

#include "error.h"

namespace PyGPU {

// How long to look at an event in a loop, before the thread waits in the runtime: more than a copy
// of some MB takes on an idle bus.
constexpr std::chrono::microseconds looks_for{200};

// Return whether this thread has no unread error: a query that answers "not ready" would replace
// it.
inline bool may_query() { return cudaPeekAtLastError() == cudaSuccess; }

// Return the state of an event, cudaErrorNotReady if its work is not done. Requires may_query().
cudaError_t state_of(cudaEvent_t event);

// Wait for an event. Returns the outcome.
cudaError_t wait_for(cudaEvent_t event);

}  // namespace PyGPU
