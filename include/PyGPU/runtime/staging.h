// Ring of page-locked chunks through which several threads copy pageable memory.
//
// The driver copies pageable memory through one small page-locked buffer in one thread, which
// reaches a fraction of the bus's bandwidth. A ring has several lanes that do so in parallel. A
// lane is a thread with a stream and a few page-locked chunks: one chunk is on the bus while the
// CPU fills or empties another. The threads also share the page faults of fresh memory.
#pragma once

#include <functional>
#include <memory>

#include "error.h"
#include "pieces.h"
#include "transfer_settings.h"

namespace PyGPU {

struct StagedTransfer {
  char* device;  // lowest address of the dense array
  char* host;    // address from which pieces count
  const Pieces& pieces;
  bool up;
};

class Ring;
// Return the ring of the current device, created at its first use. Null without page-locked memory.
std::shared_ptr<Ring> ring_of(int device, const TransferSettings& settings);
// Release the rings that were created with other settings.
void release_other_rings(const TransferSettings& settings);

// Return a piece size that keeps all lanes busy and does not exceed a chunk.
std::size_t staged_piece_bytes(std::size_t nbytes, const TransferSettings& settings);

// Copy through the ring. `moved` is called in this thread after each piece that it copied, with the
// bytes that all threads have copied. Its exceptions are rethrown after all lanes have stopped.
Status stage(Ring& ring, int device, const StagedTransfer& transfer,
             const std::function<void(std::size_t moved)>& moved);

}  // namespace PyGPU
