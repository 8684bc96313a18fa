// Lanes of threads, streams and page-locked memory. See staging.h.
#include "PyGPU/runtime/staging.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "PyGPU/runtime/cores.h"
#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/streaming_copy.h"
#include "PyGPU/runtime/thread_team.h"

namespace PyGPU {
namespace {

constexpr std::size_t KB = 1 << 10, MB = 1 << 20;

// A lane waits for its copies in a loop for this long, which is more than a run takes on an idle
// bus, and then sleeps.
constexpr std::chrono::microseconds looks_for{200};

// Transfers of at least this size wait for the ring while another thread uses it.
constexpr std::size_t waits_for_turn = 16 * MB;

}  // namespace

namespace staging {

// Pieces that follow each other on the device.
struct Run {
  std::size_t first, count;
  std::size_t at, nbytes;  // in the dense array
};

// One transfer. Lanes take runs until none is left, one has failed, or the transfer was ended.
struct Job {
  const StagedTransfer& transfer;
  const StagingPlan& plan;
  std::atomic<std::size_t> next{0}, moved{0};
  std::atomic<cudaError_t> error{cudaSuccess};
  std::atomic<bool> ended{false};

  using After = std::function<void(std::size_t moved)>;

  // The last downloaded runs are short, so that all lanes end their copies at about the same time.
  std::size_t pieces_of_next(std::size_t first) const {
    const std::size_t all = transfer.pieces.count(), piece = transfer.pieces.piece(0).nbytes;
    const std::size_t share = transfer.up ? all : (all - first) / (2 * plan.lanes);
    return std::max<std::size_t>(std::min(share, plan.run_bytes / piece), 1);
  }
  bool take(Run& run) {
    const std::size_t all = transfer.pieces.count();
    run.first = next.load(std::memory_order_relaxed);
    do {
      if (run.first >= all || ended) return false;
      run.count = std::min(pieces_of_next(run.first), all - run.first);
    } while (!next.compare_exchange_weak(run.first, run.first + run.count));
    const Pieces::Piece last = transfer.pieces.piece(run.first + run.count - 1);
    run.at = transfer.pieces.piece(run.first).at;
    run.nbytes = last.at + last.nbytes - run.at;
    return true;
  }
  bool succeeded(cudaError_t outcome) {
    if (outcome == cudaSuccess) return true;
    error.store(outcome);
    ended = true;
    return false;
  }
  void count(const Run& run, const After& after) {
    const std::size_t now = moved.fetch_add(run.nbytes) + run.nbytes;
    if (after) after(now);
  }

  // Copy a run between the host's memory and a lane's, `chunk`.
  void fill_or_empty(const Run& run, char* chunk) const {
    const Pieces& pieces = transfer.pieces;
    if (pieces.contiguous()) {
      char* const host = transfer.host + pieces.piece(run.first).host_at;
      char *const to = transfer.up ? chunk : host, *const from = transfer.up ? host : chunk;
      plan.past_cache ? copy_past_cache(to, from, run.nbytes)
                      : void(std::memcpy(to, from, run.nbytes));
      return;
    }
    for (std::size_t i = run.first; i < run.first + run.count; ++i) {
      const Pieces::Piece piece = pieces.piece(i);
      char* const at = chunk + (piece.at - run.at);
      transfer.up ? pieces.gather(piece, at, transfer.host)
                  : pieces.scatter(piece, at, transfer.host);
    }
  }

  // Enqueue the copy of a run between a lane's memory and the device's. Among rows with a pitch, a
  // run is the rest of a row, whole rows, and the begin of another.
  cudaError_t enqueue(const Run& run, char* chunk, cudaStream_t stream) const {
    const auto [width, pitch] = transfer.rows;
    if (!width) return enqueue_bytes(transfer.device + run.at, chunk, run.nbytes, stream);
    cudaError_t outcome = cudaSuccess;
    for (std::size_t at = run.at, end = run.at + run.nbytes; at < end && !outcome;) {
      char* const device = transfer.device + at / width * pitch + at % width;
      const std::size_t rows = at % width ? 0 : (end - at) / width;
      const std::size_t nbytes = rows ? rows * width : std::min(width - at % width, end - at);
      outcome = rows ? enqueue_rows(device, chunk, rows, stream)
                     : enqueue_bytes(device, chunk, nbytes, stream);
      at += nbytes;
      chunk += nbytes;
    }
    return outcome;
  }
  cudaError_t enqueue_bytes(char* device, char* chunk, std::size_t nbytes,
                            cudaStream_t stream) const {
    return transfer.up ? cudaMemcpyAsync(device, chunk, nbytes, cudaMemcpyHostToDevice, stream)
                       : cudaMemcpyAsync(chunk, device, nbytes, cudaMemcpyDeviceToHost, stream);
  }
  cudaError_t enqueue_rows(char* device, char* chunk, std::size_t rows, cudaStream_t stream) const {
    const auto [width, pitch] = transfer.rows;
    return transfer.up ? cudaMemcpy2DAsync(device, pitch, chunk, width, width, rows,
                                           cudaMemcpyHostToDevice, stream)
                       : cudaMemcpy2DAsync(chunk, width, device, pitch, width, rows,
                                           cudaMemcpyDeviceToHost, stream);
  }
};

// Return whether this thread has no unread error: a query that answers "not ready" would replace
// it.
bool may_query() { return cudaPeekAtLastError() == cudaSuccess; }

// Copy on the bus, or waiting for it.
struct Flight {
  Run run{};
  std::size_t chunk = 0;  // offset in the lane's memory
  bool overlaps(std::size_t start, std::size_t nbytes) const {
    return start < chunk + run.nbytes && chunk < start + nbytes;
  }
};

// The lane's memory is a ring: each run follows the one before it. The device reads and writes
// memory faster if no core has used it lately, so the ring is larger than what is in flight.
class Lane {
 public:
  bool is_ready() const { return bool(memory_); }
  std::size_t nbytes() const { return memory_.get().nbytes; }

  Status prepare(const TransferSettings& settings) {
    stream_.emplace(cudaStreamNonBlocking, 0);
    if (stream_->status.failed()) return stream_->status;
    done_.clear();
    for (std::size_t i = 0; i < most_flights; ++i)
      if (done_.emplace_back(cudaEventDisableTiming | cudaEventBlockingSync).status.failed())
        return done_.back().status;
    in_flight_ = std::min<std::size_t>(settings.chunks, 2);
    return take_memory(memory_, MemoryKind::pinned, settings.chunks * settings.chunk_bytes);
  }

  // Work until the job ends. No copy of this lane is in flight afterwards, however it ends.
  void work(Job& job, const Job::After& after) {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    begun_ = ended_ = 0;
    try {
      job.transfer.up ? upload(job, after) : download(job, after);
    } catch (...) {
      job.ended = true;
      job.succeeded(cudaStreamSynchronize(stream_->get()));
      throw;
    }
    if (job.ended) job.succeeded(cudaStreamSynchronize(stream_->get()));
  }

 private:
  static constexpr std::size_t most_flights = 16;

  void upload(Job& job, const Job::After& after) {
    const auto end_oldest = [&] { return wait_for_oldest(job) && (++ended_, true); };
    for (Run run; job.take(run);) {
      std::size_t chunk = 0;
      if (!make_room(run.nbytes, most_flights, chunk, end_oldest)) return;
      job.fill_or_empty(run, address() + chunk);
      if (!enqueue(job, run, chunk)) return;
      job.count(run, after);
    }
    if (begun_ == ended_) return;
    ended_ = begun_ - 1;  // the last copy is done after all others
    end_oldest();
  }

  void download(Job& job, const Job::After& after) {
    const auto end_oldest = [&] {
      if (!wait_for_oldest(job)) return false;
      const Flight& flight = flights_[ended_++ % most_flights];
      job.fill_or_empty(flight.run, address() + flight.chunk);
      job.count(flight.run, after);
      return true;
    };
    for (;;) {
      Run run;
      if (begun_ - ended_ < in_flight_ && job.take(run)) {
        std::size_t chunk = 0;
        if (!make_room(run.nbytes, most_flights, chunk, end_oldest) || !enqueue(job, run, chunk))
          return;
      } else if (begun_ == ended_ || job.ended || !end_oldest()) {
        return;
      }
    }
  }

  char* address() const { return static_cast<char*>(memory_.get().address); }

  // Find room for a run behind the last one; ends flights until the room is free.
  template <class EndOldest>
  bool make_room(std::size_t nbytes, std::size_t most, std::size_t& chunk, EndOldest end_oldest) {
    if (head_ + nbytes > this->nbytes()) head_ = 0;
    chunk = std::exchange(head_, head_ + nbytes);
    const auto is_taken = [&] {
      for (std::size_t i = ended_; i < begun_; ++i)
        if (flights_[i % most_flights].overlaps(chunk, nbytes)) return true;
      return begun_ - ended_ == most;
    };
    while (is_taken())
      if (!end_oldest()) return false;
    return true;
  }

  bool enqueue(Job& job, const Run& run, std::size_t chunk) {
    const std::size_t slot = begun_ % most_flights;
    flights_[slot] = {run, chunk};
    if (!job.succeeded(job.enqueue(run, address() + chunk, stream_->get())) ||
        !job.succeeded(cudaEventRecord(done_[slot].get(), stream_->get())))
      return false;
    ++begun_;
    return true;
  }

  bool wait_for_oldest(Job& job) {
    const cudaEvent_t done = done_[ended_ % most_flights].get();
    if (!may_query()) return job.succeeded(cudaEventSynchronize(done));
    const auto end = std::chrono::steady_clock::now() + looks_for;
    cudaError_t state = cudaEventQuery(done);
    for (; state == cudaErrorNotReady && std::chrono::steady_clock::now() < end;
         state = cudaEventQuery(done))
      relax_processor();
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();
      state = cudaEventSynchronize(done);
    }
    return job.succeeded(state);
  }

  std::optional<Stream> stream_;
  Memory memory_;
  std::deque<Event> done_;  // of each flight's slot
  Flight flights_[most_flights];
  std::size_t begun_ = 0, ended_ = 0;  // numbers of flights of this job
  std::size_t head_ = 0, in_flight_ = 2;
};

std::string pci_bus_id(int device) {
  char text[32] = "";
  if (cudaDeviceGetPCIBusId(text, sizeof text, device)) (void)cudaGetLastError();
  return text;
}

void stay_near(const std::optional<cpu_set_t>& cores) {
  if (cores) (void)pthread_setaffinity_np(pthread_self(), sizeof *cores, &*cores);
}

// Wait for the work that cudaMemcpy would wait for.
cudaError_t wait_for_null_stream() {
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  if (null_stream_query_includes_all && may_query()) {
    const cudaError_t state = cudaStreamQuery(cudaStream_t());
    if (state != cudaErrorNotReady) return state;
    (void)cudaGetLastError();
  }
  return cudaStreamSynchronize(cudaStream_t());
}

}  // namespace staging

using staging::Job;
using staging::Lane;

// Lanes of one device. They saturate the bus, so only one transfer at a time uses them.
class Ring {
 public:
  Ring(int device, const TransferSettings& settings)
      : device_(device),
        epoch_(device_epoch(device)),
        settings_(settings),
        lanes_(settings.threads),
        near_(cores_near(staging::pci_bus_id(device))),
        team_([this] { staging::stay_near(near_); }) {}

  bool matches(const TransferSettings& other) const {
    return settings_.threads == other.threads && settings_.chunks == other.chunks &&
           settings_.chunk_bytes == other.chunk_bytes;
  }
  bool is_gone() const { return PyGPU::is_gone(device_, epoch_); }

  // Return whether there are that many lanes, and make them if transfers have earned them.
  bool has_lanes(unsigned count, std::size_t nbytes) {
    const std::lock_guard<std::mutex> hold(growth_);
    if (ready_ >= count) return true;
    const std::size_t each = settings_.chunks * settings_.chunk_bytes;
    seen_ += std::min(nbytes, SIZE_MAX - seen_);
    if (seen_ / count < each / 4 || has_failed_) return false;
    const auto grow = [&] {
      for (unsigned i = ready_; i < count; ++i)
        if (lanes_[i].prepare(settings_).failed()) {
          (void)cudaGetLastError();
          has_failed_ = true;  // the memory is asked for once
          return;
        }
    };
    if (near_) {  // a thread's memory comes from its own node
      std::thread([&] {
        staging::stay_near(near_);
        if (!cudaSetDevice(device_)) grow();
      }).join();
    } else {
      grow();
    }
    while (ready_ < lanes_.size() && lanes_[ready_].is_ready()) ++ready_;
    return ready_ >= count;
  }

  bool run(const StagedTransfer& transfer, const StagingPlan& plan, const Job::After& after,
           Status& status) {
    std::unique_lock<std::mutex> turn(turn_, std::defer_lock);
    if (transfer.nbytes >= waits_for_turn) turn.lock();
    if (!turn.owns_lock() && !turn.try_lock()) return false;
    if (const cudaError_t error = staging::wait_for_null_stream()) {
      status = error;
      return true;
    }
    Job job{transfer, plan};
    team_.run(plan.lanes, [&](unsigned number) {
      Lane& lane = lanes_[number];
      if (number == 0) return lane.work(job, after);
      if (job.succeeded(cudaSetDevice(device_))) lane.work(job, {});
    });
    status = job.error.load();
    return true;
  }

 private:
  const int device_;
  const unsigned epoch_;
  const TransferSettings settings_;
  std::mutex growth_, turn_;
  std::deque<Lane> lanes_;  // each has memory or none yet
  unsigned ready_ = 0;
  std::size_t seen_ = 0;
  bool has_failed_ = false;
  const std::optional<cpu_set_t> near_;
  ThreadTeam team_;
};

namespace {

struct Rings {
  std::mutex lock;
  std::map<int, std::shared_ptr<Ring>> of_device;
};

Rings& rings() {
  static auto& all = *new Rings;  // outlives the runtime, so it is never freed
  return all;
}

std::shared_ptr<Ring> find_ring(int device, const TransferSettings& settings) {
  std::shared_ptr<Ring> replaced;  // released after the lock
  const std::lock_guard<std::mutex> hold(rings().lock);
  std::shared_ptr<Ring>& ring = rings().of_device[device];
  if (!ring || !ring->matches(settings) || ring->is_gone()) {
    replaced = std::move(ring);
    ring = std::make_shared<Ring>(device, settings);
  }
  return ring;
}

}  // namespace

std::shared_ptr<Ring> ring_of(int device, unsigned lanes, std::size_t nbytes,
                              const TransferSettings& settings) {
  std::shared_ptr<Ring> ring = find_ring(device, settings);
  return ring->has_lanes(lanes, nbytes) ? ring : nullptr;
}

void release_other_rings(const TransferSettings& settings) {
  std::vector<std::shared_ptr<Ring>> released;  // released after the lock
  const std::lock_guard<std::mutex> hold(rings().lock);
  for (auto& [device, ring] : rings().of_device)
    if (ring && !ring->matches(settings)) released.push_back(std::move(ring));
}

// The sizes are the best of those that were measured on H100 and H200 (benchmarks/README.md). The
// times near them differ by a few percent, so that they are not measured anew on each machine. Many
// short runs cost calls of the runtime, and a few long ones leave lanes without work. Runs of 2 MB
// fill a core's cache, so that what the device reads has left it; shorter ones are written past it.
StagingPlan plan_staging(std::size_t nbytes, bool up, unsigned most_lanes,
                         const TransferSettings& settings) {
  const auto bounded = [&](std::size_t size) { return std::min(size, settings.chunk_bytes); };
  const std::size_t least = bounded(256 * KB);
  StagingPlan plan{};
  plan.lanes = unsigned(std::clamp<std::size_t>(nbytes / least, 1, most_lanes));
  if (up) {
    const bool is_large = nbytes >= 48 * MB;
    plan.run_bytes = bounded(is_large ? 2 * MB : std::clamp<std::size_t>(nbytes / 8, 256 * KB, MB));
    plan.piece_bytes = plan.run_bytes;
    plan.past_cache = !is_large;
  } else {
    plan.run_bytes = bounded(2 * MB);
    plan.piece_bytes = bounded(128 * KB);
    plan.past_cache = nbytes >= 32 * MB;
  }
  return plan;
}

bool stage(Ring& ring, const StagedTransfer& transfer, const StagingPlan& plan,
           const Job::After& moved, Status& status) {
  return ring.run(transfer, plan, moved, status);
}

}  // namespace PyGPU
