// Ring of page-locked memory through which several threads copy pageable memory.
//
// The driver copies pageable memory through one small page-locked buffer in one thread, which
// reaches a fraction of the bus's bandwidth. A ring has several lanes that do so in parallel. A
// lane is a thread with a stream and page-locked memory: while one part of it is on the bus, the
// processor fills or empties another. The threads also share the page faults of fresh memory.
#pragma once

#include <functional>
#include <memory>

#include "error.h"
#include "pieces.h"
#include "transfer_settings.h"

namespace PyGPU {

// How a transfer is cut and shared. Its sizes are bounds.
struct StagingPlan {
  unsigned lanes;
  std::size_t piece_bytes;  // of the pieces that are gathered and scattered
  std::size_t run_bytes;    // of the runs of pieces that one call moves over the bus
  bool past_cache;          // whether contiguous bytes are written past the processor's cache
};
// Return the plan for a transfer of that size; `lanes` is at most `most_lanes`.
StagingPlan plan_staging(std::size_t nbytes, bool up, unsigned most_lanes,
                         const TransferSettings& settings);

// Rows of a pitched array on the device. A width of 0 means a dense array.
struct DeviceRows {
  std::size_t width = 0, pitch = 0;
};

struct StagedTransfer {
  char* device;  // lowest address of the array on the device
  char* host;    // address from which pieces count
  const Pieces& pieces;
  std::size_t nbytes;
  bool up;
  DeviceRows rows{};
};

class Ring;
// Return the ring of the current device with at least `lanes` lanes, which are made once transfers
// have moved a quarter of the bytes that the lanes hold; `nbytes` is counted. Null until then, and
// without page-locked memory.
std::shared_ptr<Ring> ring_of(int device, unsigned lanes, std::size_t nbytes,
                              const TransferSettings& settings);
// Release the rings that were created with other settings.
void release_other_rings(const TransferSettings& settings);

// Copy through the ring, after the work that the legacy null stream waits for. `moved` is called in
// this thread after each run of pieces that it copied, with the bytes that all threads have copied.
// Its exceptions are rethrown after all lanes have stopped. Returns false, without a copy, if
// another thread uses the ring and `nbytes` are too few to wait for it.
bool stage(Ring& ring, const StagedTransfer& transfer, const StagingPlan& plan,
           const std::function<void(std::size_t moved)>& moved, Status& status);

}  // namespace PyGPU
