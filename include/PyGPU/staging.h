// The ring of page-locked chunks through which several threads move pageable memory.
//
// The driver copies pageable memory through one small page-locked buffer with one thread, which
// reaches a fraction of the bus's bandwidth. Several lanes do the same at once: a lane is a thread
// with a stream and a few page-locked chunks, so that one chunk is on the bus while the processor
// fills (or empties) another. The threads also share the page faults of fresh memory.
#pragma once

#include <functional>
#include <memory>

#include "pieces.h"
#include "transfer.h"

namespace PyGPU {

struct StagedTransfer {
  char* device;  // the lowest address of the dense array
  char* host;    // where the pieces count from
  const Pieces& pieces;
  bool up;
};

class Ring;
// The ring of the current device, made when it is first asked for. Null without page-locked memory.
std::shared_ptr<Ring> ring_of(int device, const TransferSettings& settings);
// Let go of rings that were made by other settings.
void release_other_rings(const TransferSettings& settings);

// Pieces that keep all lanes busy, no larger than a chunk.
std::size_t staged_piece_bytes(std::size_t nbytes, const TransferSettings& settings);

// `moved` is called in this thread, after each piece that it has moved, with the bytes that all
// have moved so far. What it throws is thrown once no lane works any more.
Status stage(Ring& ring, int device, const StagedTransfer& transfer,
             const std::function<void(std::size_t moved)>& moved);

}  // namespace PyGPU
