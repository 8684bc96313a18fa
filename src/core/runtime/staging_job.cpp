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

// Most copies under way at once.
constexpr std::size_t most_copies = 63;

}  // namespace

Buffer::Buffer(std::size_t nbytes) : rotation(nbytes) {
  for (const Status& made :
       {take_memory(memory, MemoryKind::pinned, nbytes), stream.status, earlier.status})
    if (made.failed()) {
      status = made;
      return;
    }
  while (done.size() < most_copies && !status.failed())
    status = done.emplace_back(cudaEventDisableTiming).status;
}

void Buffer::settle_after_error(cudaStream_t used) {
  unsettled.push_back(used);
  (void)settle();
}

bool Buffer::settle() {
  while (!unsettled.empty() && !cudaStreamSynchronize(unsettled.back())) unsettled.pop_back();
  if (!unsettled.empty()) (void)cudaGetLastError();  // the caller has an error of its own
  return unsettled.empty();
}

Job::Job(const StagedTransfer& transfer, const StagingPlan& plan, Buffer& buffer)
    : transfer_(transfer),
      plan_(plan),
      buffer_(buffer),
      stream_(plan.has_stream ? buffer.stream.get() : cudaStream_t()),
      schedule_(transfer.pieces, plan, transfer.up, buffer.rotation),
      all_(schedule_.runs().size()),
      watches_each_(!transfer.up || schedule_.reuses_chunks()),
      parts_left_(new std::atomic<std::size_t>[all_]) {
  for (std::size_t run = 0; run < all_; ++run) parts_left_[run] = schedule_.parts_of(run);
  copies_.reserve(buffer.done.size());
  for (const Event& event : buffer.done) copies_.push_back({0, event.get()});
  open_runs();
}

// The other threads wait in loops, so they are not called before the device has done what was
// enqueued earlier, for which this thread may sleep. An upload's threads do not wait for it, unless
// they use a chunk again. A short transfer by one thread waits for it together with its copies, in
// a loop, as cudaMemcpy does.
void Job::begin() {
  const cudaEvent_t earlier = buffer_.earlier.get();
  const bool marks_earlier = plan_.has_stream || (plan_.threads > 1 && !transfer_.up);
  if (marks_earlier) {
    if (!succeeded(cudaEventRecord(earlier, cudaStream_t()))) return;
    if (plan_.has_stream && !succeeded(cudaStreamWaitEvent(stream_, earlier, 0))) return;
  }
  if (transfer_.up) {
    if (watches_each_) succeeded(wait_for(earlier));
    return;
  }
  if (!marks_earlier) return;
  enqueue_ready();
  if (!ended_) succeeded(wait_for(earlier));
}

void Job::direct(const After& after) {
  std::size_t told = 0;
  const auto goes_on = [&] {
    enqueue_ready();
    const bool arrived = has_arrived();
    std::size_t part = 0;
    const bool took = take_open_part(part);
    if (took) fill_or_empty(part, [this] { enqueue_ready(); });
    if (const std::size_t now = moved_; now != told) after(told = now);
    return arrived || took || is_directed();
  };
  try {
    while (!is_directed()) {
      // A thread that may not query learns of no arrival in the loop, so it does not spin.
      const auto looks = may_query() ? looks_for : std::chrono::microseconds(0);
      if (!spin_until(goes_on, looks)) wait_for_oldest();
    }
  } catch (...) {
    ended_ = true;  // the other threads return; ThreadTeam::run waits for that
    throw;
  }
}

void Job::help() {
  const std::size_t parts = schedule_.part_count();
  for (std::size_t part; (part = next_++) < parts;) {
    const std::size_t run = schedule_.run_of(part);
    wait_until([&] { return open_ > run || ended_; }, looks_for);
    if (ended_) return;
    fill_or_empty(part, [] {});
  }
}

cudaError_t Job::end() {
  const bool waits = !ended_ && transfer_.up;
  if (waits && (!plan_.has_stream || succeeded(wait_for(buffer_.earlier.get()))))
    succeeded(wait_for(copy(copies_begun_ - 1).done));
  if (ended_) cancel();
  return error_;
}

void Job::cancel() {
  ended_ = true;
  buffer_.settle_after_error(stream_);
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

bool Job::is_ready(std::size_t run) {
  if (transfer_.up) return !parts_left_[run];
  while (emptied_ < arrived_ && !parts_left_[emptied_]) ++emptied_;
  return emptied_ >= schedule_.runs()[run].after;
}

// Join the next run of an upload and the full ones after it. `end`, the number after the next run,
// becomes the number after the last one.
Run Job::join_full_runs(std::size_t& end) const {
  const std::vector<Run>& runs = schedule_.runs();
  Run joined = runs[enqueued_];
  for (; end < all_ && !parts_left_[end]; ++end) {
    const bool follows = runs[end].chunk == joined.chunk + joined.nbytes;
    if (!follows || joined.nbytes + runs[end].nbytes > plan_.copy_bytes) break;
    joined.nbytes += runs[end].nbytes;
  }
  return joined;
}

void Job::enqueue_ready() {
  while (enqueued_ < all_ && !ended_ && is_ready(enqueued_)) {
    if (watches_each_ && copies_begun_ - copies_over_ == copies_.size()) return;
    std::size_t end = enqueued_ + 1;
    const Run run = transfer_.up ? join_full_runs(end) : schedule_.runs()[enqueued_];
    if (!succeeded(enqueue(run))) return;
    if (watches_each_ || end == all_) {
      copy(copies_begun_).runs_end = end;
      if (!succeeded(cudaEventRecord(copy(copies_begun_).done, stream_))) return;
      ++copies_begun_;
    }
    enqueued_ = end;
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

void Job::end_oldest() {
  arrived_ = copy(copies_over_++).runs_end;
  open_runs();
}

bool Job::has_arrived() {
  if (!watches_each_ || ended_ || !may_query()) return false;
  const std::size_t before = arrived_;
  while (copies_over_ < copies_begun_) {
    const cudaError_t state = state_of(copy(copies_over_).done);
    if (state == cudaErrorNotReady || !succeeded(state)) break;
    end_oldest();
  }
  return arrived_ != before;
}

void Job::wait_for_oldest() {
  const bool has_copies = watches_each_ && copies_over_ < copies_begun_;
  if (!has_copies)  // the other threads have all that can be done
    std::this_thread::sleep_for(pause_for_threads);
  else if (succeeded(cudaEventSynchronize(copy(copies_over_).done)))
    end_oldest();
}

bool Job::take_open_part(std::size_t& part) {
  part = next_;
  do
    if (part >= schedule_.part_count() || schedule_.run_of(part) >= open_) return false;
  while (!next_.compare_exchange_weak(part, part + 1));
  return true;
}

template <class Between>
void Job::fill_or_empty(std::size_t part, Between between) {
  const Pieces& pieces = transfer_.pieces;
  const std::size_t run = schedule_.run_of(part);
  const Run& all = schedule_.runs()[run];
  auto [first, count] = schedule_.pieces_of(part, run);
  for (; count; --count, ++first) {
    const Pieces::Piece piece = pieces.piece(first);
    char* const chunk = buffer_.address() + all.chunk + (piece.at - all.at);
    char* const host = transfer_.host;
    if (!pieces.contiguous())
      transfer_.up ? pieces.gather(piece, chunk, host) : pieces.scatter(piece, chunk, host);
    else if (transfer_.up)
      copy_bytes(chunk, host + piece.host_at, piece.nbytes);
    else
      copy_bytes(host + piece.host_at, chunk, piece.nbytes);
    moved_ += piece.nbytes;
    if (count > 1) between();
  }
  --parts_left_[run];
}

void Job::copy_bytes(char* to, const char* from, std::size_t nbytes) const {
  plan_.past_cache ? copy_past_cache(to, from, nbytes) : void(std::memcpy(to, from, nbytes));
}

// Enqueue the copy of a run. Among rows with a pitch, a run is the rest of a row, whole rows, and
// the beginning of another.
cudaError_t Job::enqueue(const Run& run) const {
  const auto [width, pitch] = transfer_.rows;
  char* chunk = buffer_.address() + run.chunk;
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
  return transfer_.up ? cudaMemcpyAsync(device, chunk, nbytes, cudaMemcpyHostToDevice, stream_)
                      : cudaMemcpyAsync(chunk, device, nbytes, cudaMemcpyDeviceToHost, stream_);
}

cudaError_t Job::enqueue_rows(char* device, char* chunk, std::size_t rows) const {
  const auto [width, pitch] = transfer_.rows;
  return transfer_.up ? cudaMemcpy2DAsync(device, pitch, chunk, width, width, rows,
                                          cudaMemcpyHostToDevice, stream_)
                      : cudaMemcpy2DAsync(chunk, width, device, pitch, width, rows,
                                          cudaMemcpyDeviceToHost, stream_);
}

}  // namespace PyGPU::staging
