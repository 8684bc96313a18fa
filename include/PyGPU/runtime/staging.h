// Ring of page-locked memory through which several threads copy pageable memory.
//
// The driver copies pageable memory through one small page-locked buffer in one thread, which
// reaches a fraction of the bus's bandwidth. While some parts of a larger buffer are on the bus,
// several threads fill or empty others. They also share the page faults of fresh memory.
#pragma once

#include <functional>
#include <memory>

#include "staging_job.h"
#include "transfer_settings.h"

namespace PyGPU {

class Ring;
// Return the ring of the current device, or null if it has no page-locked memory for a transfer:
// that is allocated once transfers have moved a quarter of its bytes. `nbytes` is counted.
std::shared_ptr<Ring> ring_of(int device, std::size_t nbytes, const TransferSettings& settings);
// Release the rings that were created with other settings.
void release_other_rings(const TransferSettings& settings);

// Return the plan for a transfer of that size by at most `most_threads` threads.
StagingPlan plan_staging(std::size_t nbytes, bool up, unsigned most_threads,
                         const TransferSettings& settings);

// Copy through the ring, after the work that the legacy null stream waits for. An upload of at most
// one chunk, and a quarter of the ring, is one copy on that stream, if it is dense. Any other
// transfer is several copies, and work that other threads enqueue meanwhile may run between them,
// as between the pieces of the runtime's own pageable downloads. Transfers of more than one chunk
// use the ring's own stream. `moved` is called in this thread now and then, with the bytes that all
// threads have copied; its exceptions are rethrown when no copy is under way. Returns false,
// without a copy, if another thread uses the ring, or if copies of a failed transfer may still be
// under way. A transfer of at least 16 MB waits for the ring, at most a second.
bool stage(Ring& ring, const StagedTransfer& transfer, const StagingPlan& plan,
           const std::function<void(std::size_t moved)>& moved, Status& status);

}  // namespace PyGPU
