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

// Least bytes of a download's copy for each thread. Its last copies become short, so that little is
// left to do after them.
constexpr std::size_t least_for_each = 16 << 10;

}  // namespace

Buffer::Buffer(std::size_t nbytes_) : nbytes(nbytes_) {
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

// A piece may extend beyond the end of a turn, by less than a piece. So two pieces less than a turn
// can be in use.
Job::Job(const StagedTransfer& transfer, const StagingPlan& plan, Buffer& buffer)
    : transfer_(transfer),
      plan_(plan),
      buffer_(buffer),
      stream_(plan.has_stream ? buffer.stream.get() : cudaStream_t()),
      all_(transfer.pieces.count()),
      turn_(buffer.nbytes - plan.piece_bytes),
      room_(turn_ - 2 * plan.piece_bytes),
      start_(buffer.next),
      watches_each_(!transfer.up || transfer.nbytes > room_),
      ready_(new std::atomic<bool>[all_]()) {
  if (start_ + transfer.nbytes > turn_) start_ = 0;  // a short transfer is in one place
  constexpr std::size_t cache_line = 64;
  buffer.next = (start_ + transfer.nbytes + cache_line - 1) / cache_line * cache_line % turn_;
  copies_.reserve(buffer.done.size());
  for (const Event& event : buffer.done) copies_.push_back({0, event.get()});
}

// The other threads wait in loops, so they are not called before the device has done what was
// enqueued earlier, for which this thread may sleep. An upload's threads do not wait for it, unless
// they use memory again. A short transfer by one thread waits for it together with its copies, in
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
    std::size_t piece = 0;
    const bool took = take_open_piece(piece);
    if (took) fill_or_empty(piece);
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
  for (std::size_t piece; (piece = next_++) < all_; fill_or_empty(piece)) {
    const std::size_t end = end_of(piece);
    wait_until([&] { return is_open(end) || ended_; }, looks_for);
    if (ended_) return;
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
  return transfer_.up ? enqueued_ == all_ : over_ == transfer_.nbytes && next_ >= all_;
}

bool Job::succeeded(cudaError_t outcome) {
  if (outcome == cudaSuccess) return true;
  error_ = outcome;
  ended_ = true;
  return false;
}

std::size_t Job::end_of(std::size_t piece) const {
  const Pieces::Piece found = transfer_.pieces.piece(piece);
  return found.at + found.nbytes;
}

// An upload without a stream of its own is one copy.
std::size_t Job::end_of_copy() {
  const std::size_t left = transfer_.nbytes - enqueued_bytes_;
  std::size_t most = plan_.copy_bytes, freed = 0;
  if (!transfer_.up) {
    while (emptied_ < all_ && ready_[emptied_]) ++emptied_;
    freed = emptied_ < all_ ? transfer_.pieces.piece(emptied_).at : transfer_.nbytes;
    most = std::min(most, std::max(left / 2, least_for_each * plan_.threads));
  }
  std::size_t end = enqueued_;
  for (; end < all_; ++end) {
    const std::size_t last = end_of(end);
    if (transfer_.up ? !ready_[end] : last > freed + room_) break;
    const char* const chunk_end = chunk(enqueued_bytes_) + (last - enqueued_bytes_);
    const bool follows = chunk(last) == chunk_end || end + 1 == all_;
    if (end > enqueued_ && last - enqueued_bytes_ > most) break;
    if (!follows) return end + 1;
  }
  // Each copy costs the device some microseconds, so copies are short only near the ends.
  const std::size_t least = std::min(plan_.copy_bytes - plan_.piece_bytes,
                                     std::min(enqueued_bytes_, left) / plan_.threads);
  const std::size_t full = end > enqueued_ ? end_of(end - 1) - enqueued_bytes_ : 0;
  const bool waits = plan_.has_stream ? full < least : end < all_;
  return transfer_.up && waits ? enqueued_ : end;
}

void Job::enqueue_ready() {
  while (enqueued_ < all_ && !ended_) {
    if (watches_each_ && copies_begun_ - copies_over_ == copies_.size()) return;
    const std::size_t end = end_of_copy();
    if (end == enqueued_) return;
    const std::size_t end_bytes = end_of(end - 1);
    if (!succeeded(enqueue(enqueued_bytes_, end_bytes - enqueued_bytes_))) return;
    if (watches_each_ || end == all_) {
      copy(copies_begun_).end = end_bytes;
      if (!succeeded(cudaEventRecord(copy(copies_begun_).done, stream_))) return;
      ++copies_begun_;
    }
    enqueued_ = end;
    enqueued_bytes_ = end_bytes;
  }
}

void Job::end_oldest() { over_ = copy(copies_over_++).end; }

bool Job::has_arrived() {
  if (!watches_each_ || ended_ || !may_query()) return false;
  const std::size_t before = over_;
  while (copies_over_ < copies_begun_) {
    const cudaError_t state = state_of(copy(copies_over_).done);
    if (state == cudaErrorNotReady || !succeeded(state)) break;
    end_oldest();
  }
  return over_ != before;
}

void Job::wait_for_oldest() {
  const bool has_copies = watches_each_ && copies_over_ < copies_begun_;
  if (!has_copies)  // the other threads have all that can be done
    std::this_thread::sleep_for(pause_for_threads);
  else if (succeeded(cudaEventSynchronize(copy(copies_over_).done)))
    end_oldest();
}

bool Job::take_open_piece(std::size_t& piece) {
  piece = next_;
  do
    if (piece >= all_ || !is_open(end_of(piece))) return false;
  while (!next_.compare_exchange_weak(piece, piece + 1));
  return true;
}

void Job::fill_or_empty(std::size_t number) {
  const Pieces& pieces = transfer_.pieces;
  const Pieces::Piece piece = pieces.piece(number);
  char* const middle = chunk(piece.at);
  char* const host = transfer_.host;
  if (!pieces.contiguous())
    transfer_.up ? pieces.gather(piece, middle, host) : pieces.scatter(piece, middle, host);
  else if (transfer_.up)
    copy_bytes(middle, host + piece.host_at, piece.nbytes);
  else
    copy_bytes(host + piece.host_at, middle, piece.nbytes);
  moved_ += piece.nbytes;
  ready_[number] = true;
}

void Job::copy_bytes(char* to, const char* from, std::size_t nbytes) const {
  plan_.past_cache ? copy_past_cache(to, from, nbytes) : void(std::memcpy(to, from, nbytes));
}

// Enqueue the copy of bytes. Among rows with a pitch, they are the rest of a row, whole rows, and
// the beginning of another.
cudaError_t Job::enqueue(std::size_t at, std::size_t nbytes) const {
  const auto [width, pitch] = transfer_.rows;
  char* from = chunk(at);
  if (!width) return enqueue_bytes(transfer_.device + at, from, nbytes);
  cudaError_t outcome = cudaSuccess;
  for (const std::size_t end = at + nbytes; at < end && !outcome;) {
    char* const device = transfer_.device + at / width * pitch + at % width;
    const std::size_t rows = at % width ? 0 : (end - at) / width;
    const std::size_t moved = rows ? rows * width : std::min(width - at % width, end - at);
    outcome = rows ? enqueue_rows(device, from, rows) : enqueue_bytes(device, from, moved);
    at += moved;
    from += moved;
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
