// Copies of bytes between host and device. See transfer.h.
#include "PyGPU/runtime/transfer.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/settings.h"
#include "PyGPU/runtime/staging.h"
#include "PyGPU/runtime/transfer_watch.h"

namespace PyGPU {
namespace {

// Most bytes of one plain call, so that long transfers can be watched and interrupted.
constexpr std::size_t plain_piece = std::size_t(64) << 20;

// Shortest page-locked row, in bytes, that is copied in place; shorter rows are copied by chunks.
constexpr std::size_t long_row = 4096;
constexpr Index most_pitch = (Index(1) << 31) - 1;

unsigned usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? unsigned(CPU_COUNT(&set)) : 1;
}

// Return the size in bytes from which staging is faster, measured by benchmarks/transfer.py. On
// `host` a plain copy is as fast. PYGPU_STAGING overrides it (bytes; 0: never).
std::size_t first_threshold() {
  const std::size_t usual = PYGPU_HAVE_GPU ? std::size_t(16) << 20 : SIZE_MAX;
  const std::size_t threshold = number_setting("PYGPU_STAGING", usual, 0, INT64_MAX);
  return threshold ? threshold : SIZE_MAX;
}

// Current settings. Transfers below `simple_below` bytes need not read the others.
struct Settings {
  std::mutex lock;
  TransferSettings now{std::clamp(usable_cores() / 2, 1u, 8u), 2, std::size_t(4) << 20,
                       first_threshold(), SIZE_MAX};
  std::atomic<std::size_t> simple_below{simple()};

  std::size_t simple() const { return std::min({now.threshold, now.shown, plain_piece}); }
  static Settings& get() {
    static auto& settings = *new Settings;
    return settings;
  }
};

// Return whether the runtime would stage this memory. Page-locked memory needs no staging.
bool is_pageable(const void* host) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) {
    (void)cudaGetLastError();
    return true;
  }
  return attributes.type == cudaMemoryTypeUnregistered;
}

Status plain_copy(void* device, void* host, std::size_t nbytes, bool up) {
  return up ? cudaMemcpy(device, host, nbytes, cudaMemcpyHostToDevice)
            : cudaMemcpy(host, device, nbytes, cudaMemcpyDeviceToHost);
}

// Return whether all bytes are allocated; otherwise some pieces would be copied before one fails.
// The range may cover adjacent allocations, which some libraries map one after another.
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

// One transfer, starting at the first elements.
struct Transfer {
  char* device;
  const Layout& dense;
  char* host;
  const Layout& layout;
  bool up;

  // Return whether one pitched copy can move it all. Page-locked memory with long rows needs no
  // gathering.
  bool is_pitched(CopyPlan& plan) const {
    plan = up ? plan_copy(dense, layout) : plan_copy(layout, dense);
    const auto [low, high] = layout.extent();
    return plan.calls() == 1 && plan.width >= long_row &&
           std::max(plan.dst_pitch, plan.src_pitch) <= most_pitch && !is_pageable(host + low) &&
           !is_pageable(host + high - 1);
  }

  Status by_rows(const CopyPlan& plan, TransferWatch& watch) const {
    char* const to = (up ? device : host) + plan.dst_offset;
    const char* const from = (up ? host : device) + plan.src_offset;
    const std::size_t at_once = std::max<std::size_t>(plain_piece / plan.width, 1);
    for (std::size_t row = 0; row < plan.rows; row += at_once) {
      const std::size_t rows = std::min(at_once, plan.rows - row);
      const cudaError_t error =
          cudaMemcpy2D(to + Index(row) * plan.dst_pitch, std::size_t(plan.dst_pitch),
                       from + Index(row) * plan.src_pitch, std::size_t(plan.src_pitch), plan.width,
                       rows, up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
      if (error) return error;
      watch.moved((row + rows) * plan.width);
    }
    return {};
  }

  // Copy in this thread: contiguous pieces by plain copies, others through a chunk of this thread.
  Status by_pieces(const Pieces& pieces, TransferWatch& watch) const {
    char* const low = device + pieces.dense_offset();
    char* const first = host + pieces.host_offset();
    std::unique_ptr<char[]> chunk;
    if (!pieces.contiguous()) chunk.reset(new char[pieces.piece(0).nbytes]);
    for (std::size_t i = 0; i < pieces.count(); ++i) {
      const Pieces::Piece piece = pieces.piece(i);
      char* const end = chunk ? chunk.get() : first + piece.host_at;
      if (chunk && up) pieces.gather(piece, end, first);
      const Status status = plain_copy(low + piece.at, end, piece.nbytes, up);
      if (status.failed()) return status;
      if (chunk && !up) pieces.scatter(piece, end, first);
      watch.moved(piece.at + piece.nbytes);
    }
    return {};
  }

  // Copy through the page-locked ring; returns false if there is none.
  bool staged(const TransferSettings& settings, TransferWatch& watch, Status& status) const {
    int current = 0;
    status = cudaGetDevice(&current);
    if (status.failed()) return true;
    const std::shared_ptr<Ring> ring = ring_of(current, settings);
    if (!ring) return false;
    const Pieces pieces(dense, layout, staged_piece_bytes(dense.nbytes(), settings));
    const StagedTransfer whole{device + pieces.dense_offset(), host + pieces.host_offset(), pieces,
                               up};
    status = watch.during(
        [&] { return stage(*ring, current, whole, [&](std::size_t now) { watch.moved(now); }); });
    return true;
  }

  Status run() const {
    const std::size_t nbytes = dense.nbytes();
    const TransferSettings settings = transfer_settings();
    const Pieces whole(dense, layout, nbytes);
    TransferWatch watch(nbytes, up, nbytes >= settings.shown);
    if (CopyPlan plan; !whole.contiguous() && is_pitched(plan))
      return watch.during([&] { return by_rows(plan, watch); });

    const std::size_t most = whole.contiguous() ? plain_piece : settings.chunk_bytes;
    const bool is_one = nbytes <= most && nbytes < settings.threshold;
    if (is_one || !is_allocated(device + whole.dense_offset(), nbytes))
      return watch.during([&] { return by_pieces(whole, watch); });
    Status status;
    const bool stages = nbytes >= settings.threshold && !TransferWatch::is_watching() &&
                        (!whole.contiguous() || is_pageable(host));
    if (stages && staged(settings, watch, status)) return status;
    return watch.during([&] { return by_pieces(Pieces(dense, layout, most), watch); });
  }
};

Status transfer(void* device, void* host, std::size_t nbytes, bool up) {
  if (!enter_runtime()) return refused_status();
  if (nbytes && Capture::current()) return refusal_to_wait();
  if (nbytes < Settings::get().simple_below.load(std::memory_order_relaxed) || nbytes == 0)
    return plain_copy(device, host, nbytes, up);
  const Layout bytes({Index(nbytes)}, 1);
  return Transfer{static_cast<char*>(device), bytes, static_cast<char*>(host), bytes, up}.run();
}

Status transfer(void* device, const Layout& dense, void* host, const Layout& layout, bool up) {
  if (dense.nbytes() == 0) return {};
  if (!enter_runtime()) return refused_status();
  if (Capture::current()) return refusal_to_wait();
  return Transfer{static_cast<char*>(device), dense, static_cast<char*>(host), layout, up}.run();
}

Status with_idle_recorded(const Status& downloaded) {
  if (!downloaded.failed()) record_current_idle(true);
  return downloaded;
}

}  // namespace

TransferSettings transfer_settings() {
  Settings& settings = Settings::get();
  const std::lock_guard<std::mutex> hold(settings.lock);
  return settings.now;
}

void set_transfer_settings(const TransferSettings& wanted) {
  Settings& settings = Settings::get();
  {
    const std::lock_guard<std::mutex> hold(settings.lock);
    settings.now = wanted;
    settings.simple_below = settings.simple();
  }
  release_other_rings(wanted);
}

Status upload(void* device, const void* host, std::size_t nbytes) {
  return transfer(device, const_cast<void*>(host), nbytes, true);
}

Status download(void* host, const void* device, std::size_t nbytes) {
  const Status status = transfer(const_cast<void*>(device), host, nbytes, false);
  return nbytes ? with_idle_recorded(status) : status;
}

Status upload(void* device, const Layout& dense, const void* host, const Layout& layout) {
  return transfer(device, dense, const_cast<void*>(host), layout, true);
}

Status download(void* host, const Layout& layout, const void* device, const Layout& dense) {
  return with_idle_recorded(transfer(const_cast<void*>(device), dense, host, layout, false));
}

Status copy_elements(void* dst, const Layout& dst_layout, const void* src, const Layout& src_layout,
                     cudaStream_t stream) {
  const CopyPlan plan = plan_copy(dst_layout, src_layout);
  if (dst_layout.size() == 0) return {};
  if (!enter_runtime()) return refused_status();
  char* to = static_cast<char*>(dst) + plan.dst_offset;
  const char* from = static_cast<const char*>(src) + plan.src_offset;
  Axes at = plan.loop_shape;
  for (int axis = 0; axis < at.size(); ++axis) at[axis] = 0;
  for (;;) {
    const cudaError_t error = call_that_enqueues([&] {
      return plan.rows == 1
                 ? cudaMemcpyAsync(to, from, plan.width, cudaMemcpyDeviceToDevice, stream)
                 : cudaMemcpy2DAsync(to, std::size_t(plan.dst_pitch), from,
                                     std::size_t(plan.src_pitch), plan.width, plan.rows,
                                     cudaMemcpyDeviceToDevice, stream);
    });
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
