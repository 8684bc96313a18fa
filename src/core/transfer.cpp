// Moving bytes between host and device. See transfer.h.
//
// The driver copies pageable memory through one small page-locked buffer with one thread, which
// reaches a fraction of the bus's bandwidth. Above a threshold several lanes do the same at once: a
// lane is a thread with a stream and two page-locked chunks, so that one chunk is on the bus while
// the processor fills (or empties) the other. The threads also share the page faults of fresh
// memory.
#include "PyGPU/transfer.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "PyGPU/copy_plan.h"
#include "PyGPU/memory.h"

namespace PyGPU {
namespace {

constexpr std::size_t chunk_bytes = std::size_t(4) << 20;
constexpr std::size_t least_piece = std::size_t(1) << 20;
constexpr unsigned most_lanes = 8;

// Bytes from which the lanes pay off; measured by benchmarks/transfer.py. PYGPU_STAGING overrides
// it (bytes; 0 switches the lanes off). On `host` a plain copy is as fast.
std::size_t threshold() {
  static const std::size_t value = [] {
    const char* text = std::getenv("PYGPU_STAGING");
    const std::size_t asked = text ? std::strtoull(text, nullptr, 10) : 0;
    if (text) return asked ? asked : SIZE_MAX;
    return PYGPU_HAVE_GPU ? std::size_t(16) << 20 : SIZE_MAX;
  }();
  return value;
}

unsigned usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? unsigned(CPU_COUNT(&set)) : 1;
}

struct Lane {
  Stream stream{cudaStreamNonBlocking, 0};
  Memory chunk[2];
  Event done[2]{Event(cudaEventDisableTiming), Event(cudaEventDisableTiming)};

  Status prepare() {
    for (Memory& memory : chunk) {
      const Status status = take_memory(memory, MemoryKind::pinned, chunk_bytes);
      if (status.failed()) return status;
    }
    if (stream.status.failed()) return stream.status;
    return done[0].status.failed() ? done[0].status : done[1].status;
  }
};

// One transfer: lanes take pieces until none is left or one has failed. A piece is a chunk, or less
// where that keeps every lane busy.
struct Job {
  char* device;
  char* host;
  std::size_t nbytes;
  std::size_t piece_bytes = std::clamp(nbytes / (2 * most_lanes), least_piece, chunk_bytes);
  std::atomic<std::size_t> next{0};
  std::atomic<cudaError_t> error{cudaSuccess};

  struct Piece {
    std::size_t at, size;
  };
  bool take(Piece& piece) {
    piece.at = next.fetch_add(piece_bytes);
    if (piece.at >= nbytes || error != cudaSuccess) return false;
    piece.size = std::min(piece_bytes, nbytes - piece.at);
    return true;
  }
  bool good(cudaError_t outcome) {
    if (outcome != cudaSuccess) error.store(outcome);
    return outcome == cudaSuccess;
  }

  void upload(Lane& lane) {
    Piece piece;
    for (int slot = 0; take(piece); slot = 1 - slot) {
      char* chunk = static_cast<char*>(lane.chunk[slot].get().address);
      if (!good(cudaEventSynchronize(lane.done[slot].get()))) break;  // the chunk is free again
      std::memcpy(chunk, host + piece.at, piece.size);
      if (!good(cudaMemcpyAsync(device + piece.at, chunk, piece.size, cudaMemcpyHostToDevice,
                                lane.stream.get())) ||
          !good(cudaEventRecord(lane.done[slot].get(), lane.stream.get())))
        break;
    }
    good(cudaStreamSynchronize(lane.stream.get()));
  }

  void download(Lane& lane) {
    Piece piece[2];
    auto fetch = [&](int slot) {
      return take(piece[slot]) &&
             good(cudaMemcpyAsync(lane.chunk[slot].get().address, device + piece[slot].at,
                                  piece[slot].size, cudaMemcpyDeviceToHost, lane.stream.get())) &&
             good(cudaEventRecord(lane.done[slot].get(), lane.stream.get()));
    };
    int slot = 0;
    bool more = fetch(slot);
    while (more) {
      const bool another = fetch(1 - slot);
      if (!good(cudaEventSynchronize(lane.done[slot].get()))) break;
      std::memcpy(host + piece[slot].at, lane.chunk[slot].get().address, piece[slot].size);
      slot = 1 - slot;
      more = another;
    }
    good(cudaStreamSynchronize(lane.stream.get()));
  }
};

// The lanes of one device. They saturate the bus, so one large transfer at a time uses them.
class Staging {
 public:
  static Staging& of(int device) {
    static std::mutex lock;
    static auto& all = *new std::map<int, Staging>;  // outlives the runtime: never freed
    std::lock_guard<std::mutex> hold(lock);
    return all[device];
  }

  // Creates the lanes once. False without page-locked memory: then use plain copies.
  bool prepare(int device) {
    std::lock_guard<std::mutex> turn(turn_);
    if (epoch_ != device_epoch(device)) lanes_.clear();
    epoch_ = device_epoch(device);
    if (!lanes_.empty()) return true;
    std::deque<Lane> lanes(std::clamp(usable_cores() / 2, 1u, most_lanes));
    for (Lane& lane : lanes) {
      if (lane.prepare().failed()) {
        (void)cudaGetLastError();
        return false;
      }
    }
    lanes_.swap(lanes);
    return true;
  }

  Status run(Job& job, void (Job::*work)(Lane&), int device) {
    std::lock_guard<std::mutex> turn(turn_);
    const std::size_t pieces = (job.nbytes + job.piece_bytes - 1) / job.piece_bytes;
    const std::size_t count = std::min(lanes_.size(), pieces);
    for (std::size_t i = 0; i < count; ++i)  // as cudaMemcpy does
      if (const cudaError_t error = order_after(lanes_[i].stream.get(), cudaStream_t(), device))
        return error;
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 1; i < count; ++i) {
        threads.emplace_back([&job, work, device, &lane = lanes_[i]] {
          if (job.good(cudaSetDevice(device))) (job.*work)(lane);
        });
      }
    } catch (const std::system_error&) {  // no more threads: use those that started
    }
    (job.*work)(lanes_[0]);
    for (std::thread& thread : threads) thread.join();
    return job.error.load();
  }

 private:
  std::mutex turn_;
  std::deque<Lane> lanes_;
  unsigned epoch_ = 0;
};

// Would the runtime stage this memory itself? Page-locked memory needs no staging.
bool is_pageable(const void* host) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) {
    (void)cudaGetLastError();
    return true;
  }
  return attributes.type == cudaMemoryTypeUnregistered;
}

Status plain_copy(void* device, const void* host, std::size_t nbytes, bool up) {
  return up ? cudaMemcpy(device, host, nbytes, cudaMemcpyHostToDevice)
            : cudaMemcpy(const_cast<void*>(host), device, nbytes, cudaMemcpyDeviceToHost);
}

// Is all of it allocated? Else some pieces would be copied before one fails. What lies behind an
// allocation may belong to the next one, which some libraries map there.
bool is_allocated(const void* device, std::size_t nbytes) {
  const char* at = static_cast<const char*>(device);
  const char* const end = at + nbytes;
  while (at < end) {
    void* start = nullptr;
    std::size_t size = 0;
    if (address_range(&start, &size, const_cast<char*>(at))) {
      (void)cudaGetLastError();
      return false;
    }
    const char* const next = static_cast<char*>(start) + size;
    if (next <= at) return false;
    at = next;
  }
  return true;
}

Status transfer(void* device, const void* host, std::size_t nbytes, bool up) {
  if (!enter_runtime()) return forked_status();
  if (nbytes >= threshold() && is_pageable(host) && is_allocated(device, nbytes)) {
    int current = 0;
    if (const cudaError_t error = cudaGetDevice(&current)) return error;
    Staging& staging = Staging::of(current);
    if (!staging.prepare(current)) return plain_copy(device, host, nbytes, up);
    Job job{static_cast<char*>(device), static_cast<char*>(const_cast<void*>(host)), nbytes};
    return staging.run(job, up ? &Job::upload : &Job::download, current);
  }
  return plain_copy(device, host, nbytes, up);
}

}  // namespace

Status upload(void* device, const void* host, std::size_t nbytes) {
  return transfer(device, host, nbytes, true);
}

Status download(void* host, const void* device, std::size_t nbytes) {
  const Status status = transfer(const_cast<void*>(device), host, nbytes, false);
  if (!status.failed() && nbytes) seen_current_idle(true);
  return status;
}

Status copy_elements(void* dst, const Layout& dst_layout, const void* src, const Layout& src_layout,
                     cudaStream_t stream) {
  const CopyPlan plan = plan_copy(dst_layout, src_layout);
  if (dst_layout.size() == 0) return {};
  if (!enter_runtime()) return forked_status();
  char* to = static_cast<char*>(dst) + plan.dst_offset;
  const char* from = static_cast<const char*>(src) + plan.src_offset;
  Axes at = plan.loop_shape;
  for (int axis = 0; axis < at.size(); ++axis) at[axis] = 0;
  for (;;) {
    const cudaError_t error =
        plan.rows == 1
            ? cudaMemcpyAsync(to, from, plan.width, cudaMemcpyDeviceToDevice, stream)
            : cudaMemcpy2DAsync(to, std::size_t(plan.dst_pitch), from, std::size_t(plan.src_pitch),
                                plan.width, plan.rows, cudaMemcpyDeviceToDevice, stream);
    if (error) return error;
    int axis = at.size() - 1;  // count up like an odometer
    for (; axis >= 0; --axis) {
      to += plan.loop_dst[axis];
      from += plan.loop_src[axis];
      if (++at[axis] < plan.loop_shape[axis]) break;
      to -= plan.loop_dst[axis] * plan.loop_shape[axis];
      from -= plan.loop_src[axis] * plan.loop_shape[axis];
      at[axis] = 0;
    }
    if (axis < 0) return {};
  }
}

}  // namespace PyGPU
