// The page-locked memory and the threads of each device. See staging.h.
#include "PyGPU/runtime/staging.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "PyGPU/runtime/cores.h"
#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/quiet_thread.h"
#include "PyGPU/runtime/thread_team.h"

namespace PyGPU {
namespace {

constexpr std::size_t KB = 1 << 10, MB = 1 << 20;

// Transfers of at least this size wait for the ring while another thread uses it. They do not wait
// for ever: the other thread may be in Python, in a watcher that waits for this very transfer.
constexpr std::size_t waits_for_turn = 16 * MB;
constexpr std::chrono::seconds longest_wait{1};

std::string pci_bus_id(int device) {
  char text[32] = "";
  if (cudaDeviceGetPCIBusId(text, sizeof text, device)) (void)cudaGetLastError();
  return text;
}

void stay_near(const std::optional<cpu_set_t>& cores) {
  if (cores) (void)pthread_setaffinity_np(pthread_self(), sizeof *cores, &*cores);
}

}  // namespace

// Page-locked memory and threads of one device. They saturate the bus, so only one transfer at a
// time uses them.
class Ring {
 public:
  Ring(int device, const TransferSettings& settings)
      : device_(device),
        epoch_(device_epoch(device)),
        settings_(settings),
        nbytes_(settings.threads * settings.chunks * settings.chunk_bytes),
        near_(cores_near(pci_bus_id(device))),
        team_([this] { stay_near(near_); }) {}

  bool matches(const TransferSettings& other) const {
    return settings_.threads == other.threads && settings_.chunks == other.chunks &&
           settings_.chunk_bytes == other.chunk_bytes;
  }
  bool is_gone() const { return PyGPU::is_gone(device_, epoch_); }

  // Return whether there is memory for a transfer. It is allocated once transfers have earned it.
  bool has_memory(std::size_t nbytes) {
    const std::lock_guard<std::mutex> hold(growth_);
    if (was_asked_for_) return buffer_.has_value();
    seen_ += std::min(nbytes, SIZE_MAX - seen_);
    if (seen_ < nbytes_ / 4) return false;
    was_asked_for_ = true;
    prepare();
    if (buffer_ && buffer_->status.failed()) {
      (void)cudaGetLastError();
      buffer_.reset();
    }
    return buffer_.has_value();
  }

  bool run(const StagedTransfer& transfer, const StagingPlan& plan,
           const staging::Job::After& after, Status& status) {
    std::unique_lock<std::timed_mutex> turn(turn_, std::defer_lock);
    if (transfer.nbytes < waits_for_turn) {
      if (!turn.try_lock()) return false;
    } else {
      // Not by steady_clock, whose waits need glibc 2.30.
      const auto end = std::chrono::system_clock::now() + longest_wait;
      if (!turn.try_lock_until(end)) return false;
    }
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    if (!buffer_->settle()) return false;
    staging::Job job(transfer, plan, *buffer_);
    try {
      job.begin();
      team_.run(plan.threads, [&](unsigned number) { number ? job.help() : job.direct(after); });
    } catch (...) {
      job.cancel();
      throw;
    }
    status = job.end();
    return true;
  }

 private:
  void allocate() {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    buffer_.emplace(nbytes_);
  }

  // Allocate in a thread near the device, for a thread's memory comes from its own node.
  void prepare() {
    if (!near_) return allocate();
    const auto work = [&] {
      stay_near(near_);
      if (cudaSetDevice(device_) == cudaSuccess) allocate();
    };
    try {
      start_quiet_thread(work).join();
    } catch (const std::system_error&) {  // no more threads
      allocate();
    }
  }

  const int device_;
  const unsigned epoch_;
  const TransferSettings settings_;
  const std::size_t nbytes_;
  std::mutex growth_;
  std::timed_mutex turn_;
  bool was_asked_for_ = false;
  std::size_t seen_ = 0;
  std::optional<staging::Buffer> buffer_;
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
// times near them differ by a few percent, so that they are not measured anew on each machine.
StagingPlan plan_staging(std::size_t nbytes, bool up, unsigned most_threads,
                         const TransferSettings& settings) {
  const std::size_t longest =
      std::min(settings.chunk_bytes, settings.threads * settings.chunks * settings.chunk_bytes / 4);
  const auto piece_of = [&](std::size_t size) { return std::min(size, longest); };
  StagingPlan plan{};
  plan.has_stream = nbytes > longest;
  // More threads fill memory faster than the bus empties it, and take bandwidth from the bus.
  // From 80 MB on, all threads were faster nevertheless.
  if (up && plan.has_stream && nbytes < 80 * MB)
    most_threads = std::min(most_threads, nbytes < 40 * MB ? 5u : 6u);
  const std::size_t share = std::min(settings.chunk_bytes, 128 * KB);
  plan.threads = unsigned(std::clamp<std::size_t>(nbytes / share, 1, most_threads));
  plan.copy_bytes = longest;
  if (!up)
    plan.piece_bytes = piece_of(nbytes < 16 * MB ? 64 * KB : 128 * KB);
  else if (plan.has_stream)
    plan.piece_bytes = piece_of(256 * KB);
  else
    plan.piece_bytes =
        piece_of(std::clamp<std::size_t>(nbytes / (4 * plan.threads), 32 * KB, 256 * KB));
  plan.past_cache = up ? nbytes < 192 * MB : nbytes >= 32 * MB;
  return plan;
}

bool stage(Ring& ring, const StagedTransfer& transfer, const StagingPlan& plan,
           const staging::Job::After& moved, Status& status) {
  return ring.run(transfer, plan, moved, status);
}

}  // namespace PyGPU
