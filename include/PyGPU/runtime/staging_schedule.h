// How a staged transfer is cut into runs and parts. A run crosses the bus in one copy, alone or
// joined with the next runs. Threads fill or empty its parts. The schedule is complete before the
// transfer begins, and makes no device call.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "pieces.h"

namespace PyGPU {

// How a transfer is cut and shared. The sizes are upper bounds in bytes.
struct StagingPlan {
  unsigned threads;         // that fill or empty parts
  std::size_t piece_bytes;  // of the pieces that are gathered and scattered
  std::size_t part_bytes;   // of the pieces that a thread takes at once
  std::size_t run_bytes;    // of a run, if the transfer tapers
  std::size_t copy_bytes;   // of one copy over the bus, if several runs are joined
  // True if there are several runs, of which the last are short, and in an upload also the first:
  // as short as a piece may be. Then the bus does not wait long for the first copy, and little is
  // left to do after the last.
  bool tapers;
  bool past_cache;  // whether contiguous bytes are written past the processor's cache
  bool has_stream;  // whether it uses the buffer's stream instead of the null stream
};

namespace staging {

// Memory that is used in rotation: each chunk follows the one before. The device is faster on
// memory that no core has used lately, so there is more of it than is in flight.
class Rotation {
 public:
  explicit Rotation(std::size_t nbytes) : nbytes_(nbytes) {}
  // Return the offset of the next chunk, of at most all bytes.
  std::size_t next(std::size_t nbytes);

 private:
  std::size_t nbytes_, head_ = 0;
};

// Pieces that follow each other on the device. `chunk` is their offset in page-locked memory.
struct Run {
  std::size_t first, count;  // pieces
  std::size_t at, nbytes;    // in the dense array
  std::size_t chunk;
  std::size_t parts_end;    // number of the parts of all runs up to and including this one
  std::size_t part_pieces;  // of each part except the last
  std::size_t after;        // number of runs that must have left their chunks before this begins
};

class Schedule {
 public:
  Schedule(const Pieces& pieces, const StagingPlan& plan, bool up, Rotation& rotation);

  const std::vector<Run>& runs() const { return runs_; }
  std::size_t part_count() const { return runs_.back().parts_end; }
  // Return whether a chunk is used twice.
  bool reuses_chunks() const { return runs_.back().after > 0; }
  // Return the run of a part.
  std::size_t run_of(std::size_t part) const;
  std::size_t parts_begin(std::size_t run) const { return run ? runs_[run - 1].parts_end : 0; }
  std::size_t parts_of(std::size_t run) const { return runs_[run].parts_end - parts_begin(run); }
  // Return the pieces of a part, which is one of that run's, as (first, count).
  std::pair<std::size_t, std::size_t> pieces_of(std::size_t part, std::size_t run) const;

 private:
  std::vector<Run> runs_;
};

}  // namespace staging
}  // namespace PyGPU
