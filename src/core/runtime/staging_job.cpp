// Copies and threads of one staged transfer. See staging_job.h.
#include "PyGPU/runtime/staging_job.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "PyGPU/runtime/event_wait.h"
#include "PyGPU/runtime/streaming_copy.h"
#include "PyGPU/runtime/thread_team.h"

namespace PyGPU::staging {
namespace {

constexpr std::chrono::microseconds pause_for_threads{20};

// Return whether the null stream has no work. False if that is unknown.
bool is_null_stream_idle() {
  if (!null_stream_query_includes_all || !may_query()) return false;
  const cudaError_t state = cudaStreamQuery(cudaStream_t());
  if (state) (void)cudaGetLastError();  // the next call reports an error that is not "not ready"
  return !state;
}

}  // namespace

Job::Job(const StagedTransfer& transfer, const StagingPlan& plan, char* memory, Rotation& rotation,
         std::deque<Event>& events)
    : transfer_(transfer),
      past_cache_(plan.past_cache),
      memory_(memory),
      events_(events),
      schedule_(transfer.pieces, plan, transfer.up, rotation),
      all_(schedule_.runs().size()),
      watches_each_(!transfer.up || schedule_.reuses_chunks()),
      parts_left_(new std::atomic<std::size_t>[all_]) {
  for (std::size_t run = 0; run < all_; ++run) parts_left_[run] = schedule_.parts_of(run);
  open_runs();
}

// The threads wait in loops, so they are not called before the device can go on with the transfer.
// That is, an upload's first copies may be late, but not those for which chunks are used again.
void Job::begin() {
  if (transfer_.up && !watches_each_) return;
  const bool comes_soon = is_null_stream_idle();
  if (transfer_.up) {
    if (!comes_soon) succeeded(cudaStreamSynchronize(cudaStream_t()));
    return;
  }
  enqueue_ready();
  if (!comes_soon && !ended_) succeeded(wait_for(event_of(0)));
}

void Job::direct(const After& after) {
  std::size_t run = 0, told = 0;
  const auto goes_on = [&] {
    enqueue_ready();
    const bool arrived = has_arrived();
    std::size_t part = 0;
    const bool took = take_open_part(part, run);
    if (took) fill_or_empty(part, run);
    if (const std::size_t now = moved_; now != told) after(told = now);
    return arrived || took || is_directed();
  };
  try {
    while (!is_directed())
      if (!spin_until(goes_on, looks_for)) wait_for_oldest();
  } catch (...) {
    ended_ = true;  // run() of the team waits for the other threads
    throw;
  }
}

void Job::help() {
  const std::size_t parts = schedule_.part_count();
  for (std::size_t part, run = 0; (part = next_++) < parts;) {
    run = run_of(part, run);
    wait_until([&] { return open_ > run || ended_; }, looks_for);
    if (ended_) return;
    fill_or_empty(part, run);
  }
}

cudaError_t Job::end() {
  if (ended_)
    (void)cudaStreamSynchronize(cudaStream_t());  // some copies may be on their way
  else if (transfer_.up)
    succeeded(wait_for(event_of(all_ - 1)));
  return error_;
}

void Job::cancel() {
  ended_ = true;
  (void)end();
}

bool Job::is_directed() const {
  if (ended_) return true;
  return transfer_.up ? enqueued_ == all_ : arrived_ == all_ && next_ >= schedule_.part_count();
}

bool Job::succeeded(cudaError_t outcome) {
  if (outcome == cudaSuccess) return true;
  error_ = outcome;
  ended_ = true;
  return false;
}

void Job::enqueue_ready() {
  for (; enqueued_ < all_ && !ended_; ++enqueued_) {
    const Run& run = schedule_.runs()[enqueued_];
    if (transfer_.up) {
      if (parts_left_[enqueued_]) return;
    } else {
      while (emptied_ < arrived_ && !parts_left_[emptied_]) ++emptied_;
      if (emptied_ < run.after) return;
    }
    if (watches_each_ && enqueued_ - arrived_ == events_.size()) return;
    if (!succeeded(enqueue(run))) return;
    if (!watches_each_ && enqueued_ + 1 < all_) continue;
    if (!succeeded(cudaEventRecord(event_of(enqueued_), cudaStream_t()))) return;
  }
}

void Job::open_runs() {
  std::size_t open = open_;
  if (transfer_.up)
    while (open < all_ && schedule_.runs()[open].after <= arrived_) ++open;
  else
    open = arrived_;
  open_ = open;
}

bool Job::has_arrived() {
  if (!watches_each_ || arrived_ == enqueued_ || ended_ || !may_query()) return false;
  const std::size_t before = arrived_;
  while (arrived_ < enqueued_) {
    const cudaError_t state = state_of(event_of(arrived_));
    if (state == cudaErrorNotReady || !succeeded(state)) break;
    ++arrived_;
  }
  if (arrived_ == before) return false;
  open_runs();
  return true;
}

void Job::wait_for_oldest() {
  if (!watches_each_ || arrived_ == enqueued_) {  // the other threads have all that can be done
    std::this_thread::sleep_for(pause_for_threads);
  } else if (succeeded(cudaEventSynchronize(event_of(arrived_)))) {
    ++arrived_;
    open_runs();
  }
}

std::size_t Job::run_of(std::size_t part, std::size_t run) const {
  while (schedule_.runs()[run].parts_end <= part) ++run;
  return run;
}

bool Job::take_open_part(std::size_t& part, std::size_t& run) {
  part = next_;
  do {
    if (part >= schedule_.part_count()) return false;
    run = run_of(part, run);
    if (run >= open_) return false;
  } while (!next_.compare_exchange_weak(part, part + 1));
  return true;
}

void Job::fill_or_empty(std::size_t part, std::size_t run) {
  const Pieces& pieces = transfer_.pieces;
  const Run& all = schedule_.runs()[run];
  const auto [first, count] = schedule_.pieces_of(part, run);
  const Pieces::Piece begin = pieces.piece(first), last = pieces.piece(first + count - 1);
  const std::size_t nbytes = last.at + last.nbytes - begin.at;
  char* const chunk = memory_ + all.chunk + (begin.at - all.at);
  if (pieces.contiguous()) {
    char* const host = transfer_.host + begin.host_at;
    char *const to = transfer_.up ? chunk : host, *const from = transfer_.up ? host : chunk;
    past_cache_ ? copy_past_cache(to, from, nbytes) : void(std::memcpy(to, from, nbytes));
  } else {
    for (std::size_t i = first; i < first + count; ++i) {
      const Pieces::Piece piece = pieces.piece(i);
      char* const at = chunk + (piece.at - begin.at);
      transfer_.up ? pieces.gather(piece, at, transfer_.host)
                   : pieces.scatter(piece, at, transfer_.host);
    }
  }
  moved_ += nbytes;
  --parts_left_[run];
}

// Enqueue the copy of a run. Among rows with a pitch, a run is the rest of a row, whole rows, and
// the begin of another.
cudaError_t Job::enqueue(const Run& run) const {
  const auto [width, pitch] = transfer_.rows;
  char* chunk = memory_ + run.chunk;
  if (!width) return enqueue_bytes(transfer_.device + run.at, chunk, run.nbytes);
  cudaError_t outcome = cudaSuccess;
  for (std::size_t at = run.at, end = run.at + run.nbytes; at < end && !outcome;) {
    char* const device = transfer_.device + at / width * pitch + at % width;
    const std::size_t rows = at % width ? 0 : (end - at) / width;
    const std::size_t nbytes = rows ? rows * width : std::min(width - at % width, end - at);
    outcome = rows ? enqueue_rows(device, chunk, rows) : enqueue_bytes(device, chunk, nbytes);
    at += nbytes;
    chunk += nbytes;
  }
  return outcome;
}

cudaError_t Job::enqueue_bytes(char* device, char* chunk, std::size_t nbytes) const {
  return transfer_.up
             ? cudaMemcpyAsync(device, chunk, nbytes, cudaMemcpyHostToDevice, cudaStream_t())
             : cudaMemcpyAsync(chunk, device, nbytes, cudaMemcpyDeviceToHost, cudaStream_t());
}

cudaError_t Job::enqueue_rows(char* device, char* chunk, std::size_t rows) const {
  const auto [width, pitch] = transfer_.rows;
  return transfer_.up ? cudaMemcpy2DAsync(device, pitch, chunk, width, width, rows,
                                          cudaMemcpyHostToDevice, cudaStream_t())
                      : cudaMemcpy2DAsync(chunk, width, device, pitch, width, rows,
                                          cudaMemcpyDeviceToHost, cudaStream_t());
}

}  // namespace PyGPU::staging
