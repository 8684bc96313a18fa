// Lanes of threads, streams and page-locked chunks. See staging.h.
#include "PyGPU/runtime/staging.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "PyGPU/runtime/memory.h"

namespace PyGPU {
namespace staging {

struct Chunk {
  Memory memory;
  Event done{cudaEventDisableTiming};
  Pieces::Piece piece{};  // piece that the chunk holds or will hold
  char* address() const { return static_cast<char*>(memory.get().address); }
};

struct Lane {
  Stream stream{cudaStreamNonBlocking, 0};
  std::vector<Chunk> chunks;

  Status prepare(const TransferSettings& settings) {
    if (stream.status.failed()) return stream.status;
    chunks = std::vector<Chunk>(settings.chunks);
    for (Chunk& chunk : chunks) {
      if (chunk.done.status.failed()) return chunk.done.status;
      const Status status = take_memory(chunk.memory, MemoryKind::pinned, settings.chunk_bytes);
      if (status.failed()) return status;
    }
    return {};
  }
};

// One transfer. Lanes take pieces until none is left, one has failed, or the transfer was ended.
struct Job {
  const StagedTransfer& transfer;
  std::atomic<std::size_t> next{0}, moved{0};
  std::atomic<cudaError_t> error{cudaSuccess};
  std::atomic<bool> ended{false};

  using After = std::function<void(std::size_t moved)>;

  bool take(Pieces::Piece& piece) {
    const std::size_t number = next.fetch_add(1);
    if (number >= transfer.pieces.count() || ended) return false;
    piece = transfer.pieces.piece(number);
    return true;
  }
  bool succeeded(cudaError_t outcome) {
    if (outcome == cudaSuccess) return true;
    error.store(outcome);
    ended = true;
    return false;
  }
  void count(const Pieces::Piece& piece, const After& after) {
    const std::size_t now = moved.fetch_add(piece.nbytes) + piece.nbytes;
    if (after) after(now);
  }

  void upload(Lane& lane, const After& after) {
    for (std::size_t i = 0;; ++i) {
      Chunk& chunk = lane.chunks[i % lane.chunks.size()];
      if (!take(chunk.piece)) return;
      const Pieces::Piece& piece = chunk.piece;
      // The chunk is free once its last copy is done.
      if (!succeeded(cudaEventSynchronize(chunk.done.get()))) return;
      transfer.pieces.gather(piece, chunk.address(), transfer.host);
      if (!succeeded(cudaMemcpyAsync(transfer.device + piece.at, chunk.address(), piece.nbytes,
                                     cudaMemcpyHostToDevice, lane.stream.get())) ||
          !succeeded(cudaEventRecord(chunk.done.get(), lane.stream.get())))
        return;
      count(piece, after);
    }
  }

  void download(Lane& lane, const After& after) {
    const std::size_t chunks = lane.chunks.size();
    std::size_t begun = 0, emptied = 0;
    for (bool more = true;;) {
      while (more && begun - emptied < chunks) {
        Chunk& chunk = lane.chunks[begun % chunks];
        more = take(chunk.piece) &&
               succeeded(cudaMemcpyAsync(chunk.address(), transfer.device + chunk.piece.at,
                                         chunk.piece.nbytes, cudaMemcpyDeviceToHost,
                                         lane.stream.get())) &&
               succeeded(cudaEventRecord(chunk.done.get(), lane.stream.get()));
        begun += more;
      }
      if (emptied == begun || ended) return;
      const Chunk& chunk = lane.chunks[emptied++ % chunks];
      if (!succeeded(cudaEventSynchronize(chunk.done.get()))) return;
      transfer.pieces.scatter(chunk.piece, chunk.address(), transfer.host);
      count(chunk.piece, after);
    }
  }

  // Work until the job ends. No copy of this lane is in flight afterwards, however it ends.
  void work(Lane& lane, const After& after) {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    try {
      transfer.up ? upload(lane, after) : download(lane, after);
    } catch (...) {
      ended = true;
      succeeded(cudaStreamSynchronize(lane.stream.get()));
      throw;
    }
    succeeded(cudaStreamSynchronize(lane.stream.get()));
  }
};

}  // namespace staging

using staging::Job;
using staging::Lane;

// Lanes of one device. They saturate the bus, so only one large transfer at a time uses them.
class Ring {
 public:
  Ring(const TransferSettings& settings, unsigned epoch)
      : lanes_(settings.threads), settings_(settings), epoch_(epoch) {}

  Status prepare() {
    for (Lane& lane : lanes_) {
      const Status status = lane.prepare(settings_);
      if (status.failed()) return status;
    }
    return {};
  }
  bool matches(const TransferSettings& other) const {
    return settings_.threads == other.threads && settings_.chunks == other.chunks &&
           settings_.chunk_bytes == other.chunk_bytes;
  }
  bool matches(unsigned epoch) const { return epoch_ == epoch; }

  Status run(int device, const StagedTransfer& transfer, const Job::After& after) {
    const std::lock_guard<std::mutex> turn(turn_);
    const std::size_t count = std::min(lanes_.size(), transfer.pieces.count());
    for (std::size_t i = 0; i < count; ++i)  // as cudaMemcpy orders its copy
      if (const cudaError_t error = order_after(lanes_[i].stream.get(), cudaStream_t(), device))
        return error;
    Job job{transfer};
    std::vector<std::thread> threads;
    // Reserved here: a failure while threads run would destroy them and call std::terminate.
    threads.reserve(count);
    try {
      for (std::size_t i = 1; i < count; ++i) {
        threads.emplace_back([&job, device, &lane = lanes_[i]] {
          if (job.succeeded(cudaSetDevice(device))) job.work(lane, {});
        });
      }
    } catch (const std::system_error&) {  // no more threads: use those that started
    }
    std::exception_ptr thrown;
    try {
      job.work(lanes_[0], after);
    } catch (...) {
      thrown = std::current_exception();
    }
    for (std::thread& thread : threads) thread.join();
    if (thrown) std::rethrow_exception(thrown);
    return job.error.load();
  }

 private:
  std::mutex turn_;
  std::deque<Lane> lanes_;
  TransferSettings settings_;
  unsigned epoch_;
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

}  // namespace

std::shared_ptr<Ring> ring_of(int device, const TransferSettings& settings) {
  const unsigned epoch = device_epoch(device);
  std::shared_ptr<Ring> replaced;  // released after the lock
  const std::lock_guard<std::mutex> hold(rings().lock);
  std::shared_ptr<Ring>& ring = rings().of_device[device];
  if (ring && ring->matches(settings) && ring->matches(epoch)) return ring;
  replaced = std::move(ring);
  auto made = std::make_shared<Ring>(settings, epoch);
  if (made->prepare().failed()) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return ring = made;
}

void release_other_rings(const TransferSettings& settings) {
  std::vector<std::shared_ptr<Ring>> released;  // released after the lock
  const std::lock_guard<std::mutex> hold(rings().lock);
  for (auto& [device, ring] : rings().of_device)
    if (ring && !ring->matches(settings)) released.push_back(std::move(ring));
}

std::size_t staged_piece_bytes(std::size_t nbytes, const TransferSettings& settings) {
  const std::size_t least = std::min(std::size_t(1) << 20, settings.chunk_bytes);
  return std::clamp(nbytes / (2 * settings.threads), least, settings.chunk_bytes);
}

Status stage(Ring& ring, int device, const StagedTransfer& transfer, const Job::After& moved) {
  return ring.run(device, transfer, moved);
}

}  // namespace PyGPU
