// Waiting for events in a loop. See event_wait.h.
#include "PyGPU/runtime/event_wait.h"

#include "PyGPU/runtime/thread_team.h"

namespace PyGPU {

cudaError_t state_of(cudaEvent_t event) {
  const cudaError_t state = cudaEventQuery(event);
  if (state == cudaErrorNotReady) (void)cudaGetLastError();
  return state;
}

cudaError_t wait_for(cudaEvent_t event) {
  cudaError_t state = cudaErrorNotReady;
  const auto is_over = [&] { return (state = state_of(event)) != cudaErrorNotReady; };
  return may_query() && spin_until(is_over, looks_for) ? state : cudaEventSynchronize(event);
}

}  // namespace PyGPU
