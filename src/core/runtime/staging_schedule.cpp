// Cutting a staged transfer into runs and parts. See staging_schedule.h.
#include "PyGPU/runtime/staging_schedule.h"

#include <algorithm>

namespace PyGPU::staging {
namespace {

constexpr std::size_t cache_line = 64;

// The shortest run that tapers, and each thread's least share of a download's run.
constexpr std::size_t least_taper = 64 << 10, least_for_each = 16 << 10;

bool overlaps(const Run& one, const Run& other) {
  return one.chunk < other.chunk + other.nbytes && other.chunk < one.chunk + one.nbytes;
}

// Return the most bytes of the next run of those that taper, where `cut` bytes have been cut and
// `left` bytes have not.
std::size_t longest_run(const StagingPlan& plan, bool up, std::size_t cut, std::size_t left) {
  const std::size_t share =
      up ? std::min(cut, left) / plan.threads : std::max(left / 2, least_for_each * plan.threads);
  return std::min(plan.run_bytes, std::max(share, least_taper));
}

// Return the most bytes of a run's parts. Each thread has one of a download's last runs.
std::size_t longest_part(const StagingPlan& plan, bool up, std::size_t run_bytes) {
  const std::size_t share = up ? run_bytes : std::max(run_bytes / plan.threads, least_for_each);
  return std::min(plan.part_bytes, share);
}

}  // namespace

std::size_t Rotation::next(std::size_t nbytes) {
  const std::size_t chunk = head_ + nbytes > nbytes_ ? 0 : head_;
  head_ = (chunk + nbytes + cache_line - 1) / cache_line * cache_line;
  return chunk;
}

Schedule::Schedule(const Pieces& pieces, const StagingPlan& plan, bool up, Rotation& rotation) {
  const std::size_t all = pieces.count(), piece = pieces.piece(0).nbytes;
  const Pieces::Piece last = pieces.piece(all - 1);
  const std::size_t nbytes = last.at + last.nbytes;
  runs_.reserve(plan.tapers ? nbytes / plan.run_bytes + 16 : 1);
  for (std::size_t first = 0, at = 0, parts = 0; first < all;) {
    const std::size_t most = plan.tapers ? longest_run(plan, up, at, nbytes - at) : nbytes;
    Run run{};
    run.first = first;
    run.count = plan.tapers ? std::min(std::max<std::size_t>(most / piece, 1), all - first) : all;
    run.at = at;
    first += run.count;
    at = first < all ? pieces.piece(first).at : nbytes;
    run.nbytes = at - run.at;
    run.chunk = rotation.next(run.nbytes);
    run.part_pieces = std::max<std::size_t>(longest_part(plan, up, most) / piece, 1);
    run.parts_end = parts += (run.count + run.part_pieces - 1) / run.part_pieces;
    run.after = runs_.empty() ? 0 : runs_.back().after;
    for (std::size_t i = runs_.size(); i > run.after; --i)
      if (overlaps(runs_[i - 1], run)) run.after = i;
    runs_.push_back(run);
  }
}

std::size_t Schedule::run_of(std::size_t part) const {
  const auto ends_later = [](std::size_t number, const Run& run) { return number < run.parts_end; };
  return std::size_t(std::upper_bound(runs_.begin(), runs_.end(), part, ends_later) -
                     runs_.begin());
}

std::pair<std::size_t, std::size_t> Schedule::pieces_of(std::size_t part, std::size_t run) const {
  const Run& all = runs_[run];
  const std::size_t first = (part - parts_begin(run)) * all.part_pieces;
  return {all.first + first, std::min(all.part_pieces, all.count - first)};
}

}  // namespace PyGPU::staging
