// Lanes of threads, streams and page-locked memory. See staging.h.
#include "PyGPU/runtime/staging.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "PyGPU/runtime/cores.h"
#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/quiet_thread.h"
#include "PyGPU/runtime/staging_job.h"
#include "PyGPU/runtime/thread_team.h"

namespace PyGPU {
namespace {

constexpr std::size_t KB = 1 << 10, MB = 1 << 20;

// A thread waits for its copies in a loop for this long, which is more than a run takes on an idle
// bus, and then by a call of the runtime.
constexpr std::chrono::microseconds looks_for{200};

// Transfers of at least this size wait for the ring while another thread uses it. They do not wait
// for ever: the other thread may be in Python, in a watcher that waits for this very transfer.
constexpr std::size_t waits_for_turn = 16 * MB;
constexpr std::chrono::seconds longest_wait{1};

}  // namespace

namespace staging {

// Return whether this thread has no unread error: a query that answers "not ready" would replace
// it.
bool may_query() { return cudaPeekAtLastError() == cudaSuccess; }

cudaError_t wait_for(cudaEvent_t event) {
  if (!may_query()) return cudaEventSynchronize(event);
  cudaError_t state = cudaSuccess;
  const auto is_over = [&] { return (state = cudaEventQuery(event)) != cudaErrorNotReady; };
  if (spin_until(is_over, looks_for)) return state;
  (void)cudaGetLastError();
  return cudaEventSynchronize(event);
}

// Copy on the bus, or waiting for it.
struct Flight {
  Run run{};
  std::size_t chunk = 0;  // offset in the lane's memory
  bool overlaps(std::size_t start, std::size_t nbytes) const {
    return start < chunk + run.nbytes && chunk < start + nbytes;
  }
};

// Memory that is used in rotation: each copy's part follows the one before. The device reads and
// writes memory faster if no core has used it lately, so there is more of it than is in flight.
class Rotation {
 public:
  explicit Rotation(std::size_t nbytes) : nbytes_(nbytes) {}
  // Return the offset of the next part.
  std::size_t next(std::size_t nbytes) {
    if (head_ + nbytes > nbytes_) head_ = 0;
    return std::exchange(head_, head_ + nbytes);
  }

 private:
  const std::size_t nbytes_;
  std::size_t head_ = 0;
};

// A stream and a part of the page-locked memory, which one thread uses.
class Lane {
 public:
  Lane(char* memory, std::size_t nbytes, unsigned most_in_flight)
      : memory_(memory), rotation_(nbytes), in_flight_(std::min(most_in_flight, 2u)) {}

  Status make_events() {
    if (stream_.status.failed()) return stream_.status;
    for (std::size_t i = 0; i < most_flights; ++i)
      if (done_.emplace_back(cudaEventDisableTiming | cudaEventBlockingSync).status.failed())
        return done_.back().status;
    return {};
  }

  // Work until the job ends. No copy of this lane is in flight afterwards, however it ends.
  void work(Job& job, const Job::After& after) {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    begun_ = ended_ = 0;
    try {
      job.transfer.up ? upload(job, after) : download(job, after);
    } catch (...) {
      job.ended = true;
      job.succeeded(cudaStreamSynchronize(stream_.get()));
      throw;
    }
    if (job.ended) job.succeeded(cudaStreamSynchronize(stream_.get()));
  }

 private:
  static constexpr std::size_t most_flights = 16;

  void upload(Job& job, const Job::After& after) {
    const auto end_oldest = [&] { return wait_for_oldest(job) && (++ended_, true); };
    for (Run run; job.take(run);) {
      std::size_t chunk = 0;
      if (!make_room(run.nbytes, chunk, end_oldest)) return;
      job.fill_or_empty(run, memory_ + chunk);
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
      job.fill_or_empty(flight.run, memory_ + flight.chunk);
      job.count(flight.run, after);
      return true;
    };
    for (;;) {
      Run run;
      if (begun_ - ended_ < in_flight_ && job.take(run)) {
        std::size_t chunk = 0;
        if (!make_room(run.nbytes, chunk, end_oldest) || !enqueue(job, run, chunk)) return;
      } else if (begun_ == ended_ || job.ended || !end_oldest()) {
        return;
      }
    }
  }

  // Find room for a run behind the last one; ends flights until the room is free.
  template <class EndOldest>
  bool make_room(std::size_t nbytes, std::size_t& chunk, EndOldest end_oldest) {
    chunk = rotation_.next(nbytes);
    const auto is_taken = [&] {
      for (std::size_t i = ended_; i < begun_; ++i)
        if (flights_[i % most_flights].overlaps(chunk, nbytes)) return true;
      return begun_ - ended_ == most_flights;
    };
    while (is_taken())
      if (!end_oldest()) return false;
    return true;
  }

  bool enqueue(Job& job, const Run& run, std::size_t chunk) {
    const std::size_t slot = begun_ % most_flights;
    flights_[slot] = {run, chunk};
    if (!job.succeeded(job.enqueue(run, memory_ + chunk, stream_.get())) ||
        !job.succeeded(cudaEventRecord(done_[slot].get(), stream_.get())))
      return false;
    ++begun_;
    return true;
  }

  bool wait_for_oldest(Job& job) {
    return job.succeeded(wait_for(done_[ended_ % most_flights].get()));
  }

  char* const memory_;
  Rotation rotation_;
  Stream stream_{cudaStreamNonBlocking, 0};
  std::deque<Event> done_;  // of each flight's slot
  Flight flights_[most_flights];
  std::size_t begun_ = 0, ended_ = 0;  // numbers of flights of this job
  const std::size_t in_flight_;
};

std::string pci_bus_id(int device) {
  char text[32] = "";
  if (cudaDeviceGetPCIBusId(text, sizeof text, device)) (void)cudaGetLastError();
  return text;
}

void stay_near(const std::optional<cpu_set_t>& cores) {
  if (cores) (void)pthread_setaffinity_np(pthread_self(), sizeof *cores, &*cores);
}

// Return whether the null stream has no work. False if that is unknown.
bool is_null_stream_idle() {
  if (!null_stream_query_includes_all || !may_query()) return false;
  const cudaError_t state = cudaStreamQuery(cudaStream_t());
  if (state) (void)cudaGetLastError();  // the next call reports an error that is not "not ready"
  return !state;
}

}  // namespace staging

using staging::Job;
using staging::Lane;

// Page-locked memory and threads of one device. They saturate the bus, so only one transfer at a
// time uses them.
class Ring {
 public:
  Ring(int device, const TransferSettings& settings)
      : device_(device),
        epoch_(device_epoch(device)),
        settings_(settings),
        nbytes_(settings.threads * settings.chunks * settings.chunk_bytes),
        near_(cores_near(staging::pci_bus_id(device))),
        team_([this] { staging::stay_near(near_); }) {}

  bool matches(const TransferSettings& other) const {
    return settings_.threads == other.threads && settings_.chunks == other.chunks &&
           settings_.chunk_bytes == other.chunk_bytes;
  }
  bool is_gone() const { return PyGPU::is_gone(device_, epoch_); }

  // Return whether there is memory for a transfer. It is allocated once transfers have earned it.
  bool has_memory(std::size_t nbytes) {
    const std::lock_guard<std::mutex> hold(growth_);
    const bool has_room = nbytes <= nbytes_ || nbytes > most_whole();
    if (state_ != State::none) return has_room && state_ == State::ready;
    seen_ += std::min(nbytes, SIZE_MAX - seen_);
    if (seen_ < nbytes_ / 4) return false;
    const Status status = near_ ? prepare_near() : prepare();
    state_ = status.failed() ? State::failed : State::ready;  // it is asked for once
    if (status.failed()) {
      (void)cudaGetLastError();
      lanes_.clear();
      moved_.reset();
      memory_ = Memory();
    }
    return has_room && state_ == State::ready;
  }

  // Return whether a transfer of that size is one copy over the bus.
  bool is_whole(std::size_t nbytes) const { return nbytes <= std::min(nbytes_, most_whole()); }

  bool run(const StagedTransfer& transfer, const StagingPlan& plan, const Job::After& after,
           Status& status) {
    std::unique_lock<std::timed_mutex> turn(turn_, std::defer_lock);
    if (transfer.nbytes < waits_for_turn) {
      if (!turn.try_lock()) return false;
    } else {
      // Not by steady_clock, whose waits need glibc 2.30.
      const auto end = std::chrono::system_clock::now() + longest_wait;
      if (!turn.try_lock_until(end)) return false;
    }
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    Job job{transfer, plan};
    if (is_whole(transfer.nbytes)) {
      status = transfer.up ? upload_whole(job) : download_whole(job);
      if (!status.failed()) after(transfer.nbytes);
    } else {
      if (!staging::is_null_stream_idle()) status = cudaStreamSynchronize(cudaStream_t());
      if (!status.failed()) status = by_lanes(job, after);
    }
    return true;
  }

 private:
  std::size_t most_whole() const { return 8 * settings_.chunk_bytes; }

  // Like prepare(), in a thread near the device: a thread's memory comes from its own node.
  Status prepare_near() {
    Status status;
    const auto work = [&] {
      staging::stay_near(near_);
      status = cudaSetDevice(device_);
      if (!status.failed()) status = prepare();
    };
    try {
      start_quiet_thread(work).join();
    } catch (const std::system_error&) {  // no more threads
      return prepare();
    }
    return status;
  }

  Status prepare() {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    Status status = take_memory(memory_, MemoryKind::pinned, nbytes_);
    if (!status.failed()) status = moved_.emplace(cudaEventDisableTiming).status;
    const std::size_t each = nbytes_ / settings_.threads;
    for (unsigned i = 0; i < settings_.threads && !status.failed(); ++i)
      status = lanes_.emplace_back(address() + i * each, each, settings_.chunks).make_events();
    return status;
  }
  char* address() const { return static_cast<char*>(memory_.get().address); }

  // Enqueue all of a transfer on the null stream, where no other work comes in between.
  cudaError_t enqueue_whole(Job& job, char* chunk) {
    const staging::Run whole{0, job.transfer.pieces.count(), 0, job.transfer.nbytes};
    cudaError_t error = job.enqueue(whole, chunk, cudaStream_t());
    if (!error) error = cudaEventRecord(moved_->get(), cudaStream_t());
    if (error) (void)cudaStreamSynchronize(cudaStream_t());  // some rows may be on their way
    return error;
  }

  static void copy_parts(Job& job, char* chunk) {
    for (staging::Run run; job.take(run);) job.fill_or_empty(run, chunk + run.at);
  }

  cudaError_t upload_whole(Job& job) {
    char* const chunk = address() + rotation_.next(job.transfer.nbytes);
    team_.run(job.plan.lanes, [&](unsigned) { copy_parts(job, chunk); });
    const cudaError_t error = enqueue_whole(job, chunk);
    return error ? error : staging::wait_for(moved_->get());
  }

  // Return more than the time that an idle bus of 40 GB/s takes.
  static std::chrono::microseconds time_on_bus(std::size_t nbytes) {
    return std::chrono::microseconds(50 + nbytes / 40000);
  }

  // The other threads wake while the bytes are on the bus, unless other work comes before them.
  cudaError_t download_whole(Job& job) {
    char* const chunk = address() + rotation_.next(job.transfer.nbytes);
    const bool comes_soon = staging::is_null_stream_idle();
    cudaError_t error = enqueue_whole(job, chunk);
    if (!error && !comes_soon) error = staging::wait_for(moved_->get());
    if (error) return error;
    enum { on_the_bus, here, lost };
    std::atomic<int> bytes{comes_soon ? on_the_bus : here};
    team_.run(job.plan.lanes, [&](unsigned number) {
      if (number == 0 && comes_soon) {
        error = staging::wait_for(moved_->get());
        bytes = error ? lost : here;
      }
      wait_until([&bytes] { return bytes != on_the_bus; }, time_on_bus(job.transfer.nbytes));
      if (bytes == here) copy_parts(job, chunk);
    });
    return error;
  }

  cudaError_t by_lanes(Job& job, const Job::After& after) {
    team_.run(job.plan.lanes, [&](unsigned number) {
      Lane& lane = lanes_[number];
      if (number == 0) return lane.work(job, after);
      if (job.succeeded(cudaSetDevice(device_))) lane.work(job, {});
      if (job.ended) (void)cudaGetLastError();  // nobody reads it in this thread; see may_query()
    });
    return job.error;
  }

  const int device_;
  const unsigned epoch_;
  const TransferSettings settings_;
  const std::size_t nbytes_;
  std::mutex growth_;
  std::timed_mutex turn_;
  enum class State { none, ready, failed } state_ = State::none;
  std::size_t seen_ = 0;
  Memory memory_;
  staging::Rotation rotation_{nbytes_};
  std::optional<Event> moved_;
  std::deque<Lane> lanes_;
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

std::shared_ptr<Ring> ring_of(int device, std::size_t nbytes, const TransferSettings& settings) {
  std::shared_ptr<Ring> ring = find_ring(device, settings);
  return ring->has_memory(nbytes) ? ring : nullptr;
}

void release_other_rings(const TransferSettings& settings) {
  std::vector<std::shared_ptr<Ring>> released;  // released after the lock
  const std::lock_guard<std::mutex> hold(rings().lock);
  for (auto& [device, ring] : rings().of_device)
    if (ring && !ring->matches(settings)) released.push_back(std::move(ring));
}

// The sizes are the best of those that were measured on an H200 (benchmarks/README.md). The
// times near them differ by a few percent, so that they are not measured anew on each machine. If
// each run is a call of the runtime, many short ones cost time, and a few long ones leave lanes
// without work. Runs of 2 MB fill a core's cache, so that what the device reads has left it;
// shorter ones are written past it.
StagingPlan plan_staging(const Ring& ring, std::size_t nbytes, bool up, unsigned most_lanes,
                         const TransferSettings& settings) {
  const auto bounded = [&](std::size_t size) { return std::min(size, settings.chunk_bytes); };
  StagingPlan plan{};
  plan.lanes = unsigned(std::clamp<std::size_t>(nbytes / bounded(256 * KB), 1, most_lanes));
  if (ring.is_whole(nbytes)) {
    plan.run_bytes = plan.piece_bytes =
        bounded(std::clamp<std::size_t>(nbytes / (4 * plan.lanes), 32 * KB, 256 * KB));
    plan.past_cache = up;
  } else if (up) {
    const bool is_large = nbytes >= 48 * MB;
    plan.run_bytes = plan.piece_bytes = bounded(is_large ? 2 * MB : MB);
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
