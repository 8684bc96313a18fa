// Copies of bytes between host and device. See transfer.h.
#include "PyGPU/runtime/transfer.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "PyGPU/runtime/bounce.h"
#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/cores.h"
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

// Sizes measured on an H200 by benchmarks/transfer_calls.py: from which several threads copy, and
// from which one thread copies what is gathered through the ring.
constexpr std::size_t usual_threshold = std::size_t(512) << 10, gathered_from = 4096;
static_assert(longest_bounce == usual_threshold - usual_threshold / 4, "see shared_from()");

constexpr std::size_t never = SIZE_MAX;

// On `host` a plain copy is as fast, and on one core threads cannot help. PYGPU_STAGING overrides
// it (bytes; 0: never).
std::size_t first_threshold() {
  const std::size_t usual = PYGPU_HAVE_GPU && usable_cores() > 1 ? usual_threshold : 0;
  const std::size_t threshold = number_setting("PYGPU_STAGING", usual, 0, INT64_MAX);
  return threshold ? threshold : never;
}

// Return the size from which several threads share a copy. Downloads gain from that at smaller
// sizes than uploads, whose first copy waits until the threads have filled its memory.
std::size_t shared_from(const TransferSettings& settings, bool up) {
  return up ? settings.threshold : settings.threshold - settings.threshold / 4;
}

// Current settings. Transfers that are one call of the runtime need not read the others.
struct Settings {
  std::mutex lock;
  TransferSettings now{std::clamp(usable_cores() / 2, 1u, 8u), 4, std::size_t(2) << 20,
                       first_threshold(), never};
  std::atomic<std::size_t> short_up{short_below(true)}, short_down{short_below(false)};
  std::atomic<bool> is_on{now.threshold != never};

  // Return the size below which a copy is one call.
  std::size_t short_below(bool up) const {
    return std::min({shared_from(now, up), now.shown, plain_piece});
  }
  static Settings& get() {
    static auto& settings = *new Settings;
    return settings;
  }
};

// A forked child must not find the lock held.
[[maybe_unused]] const int lock_is_kept_over_forks =
    pthread_atfork([] { Settings::get().lock.lock(); }, [] { Settings::get().lock.unlock(); },
                   [] { Settings::get().lock.unlock(); });

// Return the type of the memory at an address; memory that the runtime does not know is
// unregistered.
cudaMemoryType memory_type(const void* address) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    (void)cudaGetLastError();
    return cudaMemoryTypeUnregistered;
  }
  return attributes.type;
}

// Return whether the runtime would stage this memory. Page-locked memory needs no staging.
bool is_pageable(const void* host) { return memory_type(host) == cudaMemoryTypeUnregistered; }

Status plain_copy(void* device, void* host, std::size_t nbytes, bool up) {
  return up ? cudaMemcpy(device, host, nbytes, cudaMemcpyHostToDevice)
            : cudaMemcpy(host, device, nbytes, cudaMemcpyDeviceToHost);
}

Status plain_rows(void* device, std::size_t device_pitch, void* host, std::size_t host_pitch,
                  std::size_t width, std::size_t count, bool up) {
  return up ? cudaMemcpy2D(device, device_pitch, host, host_pitch, width, count,
                           cudaMemcpyHostToDevice)
            : cudaMemcpy2D(host, host_pitch, device, device_pitch, width, count,
                           cudaMemcpyDeviceToHost);
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
  DeviceRows rows{};

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
      const std::size_t count = std::min(at_once, plan.rows - row);
      const cudaError_t error =
          cudaMemcpy2D(to + Index(row) * plan.dst_pitch, std::size_t(plan.dst_pitch),
                       from + Index(row) * plan.src_pitch, std::size_t(plan.src_pitch), plan.width,
                       count, up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
      if (error) return error;
      watch.moved((row + count) * plan.width);
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

  // Return whether a copy through page-locked memory is faster than the runtime's.
  bool is_staged(const TransferSettings& settings, bool contiguous) const {
    const std::size_t nbytes = dense.nbytes();
    if (settings.threshold == never || TransferWatch::is_watching()) return false;
    if (!capabilities.waits_beside_captures && Capture::is_any_active()) return false;
    if (!contiguous) return is_shared(settings) || nbytes >= gathered_from;
    return is_shared(settings) && is_pageable(host);
  }

  bool is_shared(const TransferSettings& settings) const {
    return dense.nbytes() >= shared_from(settings, up);
  }

  // Copy through page-locked memory. Returns false, without a copy, if there is none for now.
  bool staged(const TransferSettings& settings, TransferWatch& watch, Status& status) const {
    const std::size_t nbytes = dense.nbytes();
    int current = 0;
    status = cudaGetDevice(&current);
    if (status.failed()) return true;
    const std::shared_ptr<Ring> ring = ring_of(current, nbytes, settings);
    if (!ring) return false;
    const unsigned most = is_shared(settings) ? settings.threads : 1;
    const StagingPlan plan = plan_staging(nbytes, up, most, settings);
    const Pieces pieces(dense, layout, plan.piece_bytes);
    const StagedTransfer staged{
        device + pieces.dense_offset(), host + pieces.host_offset(), pieces, nbytes, up, rows};
    return stage(
        *ring, staged, plan, [&](std::size_t now) { watch.moved(now); }, status);
  }

  Status run() const {
    const std::size_t nbytes = dense.nbytes();
    const TransferSettings settings = transfer_settings();
    const Pieces whole(dense, layout, nbytes);
    TransferWatch watch(nbytes, up, nbytes >= settings.shown);
    if (CopyPlan plan; !whole.contiguous() && is_pitched(plan))
      return watch.during([&] { return by_rows(plan, watch); });

    const std::size_t most = whole.contiguous() ? plain_piece : settings.chunk_bytes;
    const bool stages = is_staged(settings, whole.contiguous());
    if (!(stages || nbytes > most) || !is_allocated(device + whole.dense_offset(), nbytes))
      return watch.during([&] { return by_pieces(whole, watch); });
    return watch.during([&] {
      Status status;
      if (stages && staged(settings, watch, status)) return status;
      return by_pieces(Pieces(dense, layout, most), watch);
    });
  }

  // Copy to or from a pitched array on the device.
  Status run_pitched() const {
    const TransferSettings settings = transfer_settings();
    const std::size_t nbytes = dense.nbytes(), pitch = rows.pitch;
    const auto extent = layout.extent();
    TransferWatch watch(nbytes, up, nbytes >= settings.shown);
    return watch.during([&] {
      Status status;
      if (is_staged(settings, false) && is_pageable(host + extent.first) &&
          is_pageable(host + extent.second - 1) &&
          is_allocated(device, nbytes / rows.width * pitch - (pitch - rows.width)) &&
          staged(settings, watch, status))
        return status;
      return plain_rows(device, pitch, host, std::size_t(layout.strides()[0]), rows.width,
                        nbytes / rows.width, up);
    });
  }
};

// Copy contiguous bytes by one call, from or to the block of page-locked memory if that is faster.
Status copy_short(void* device, void* host, std::size_t nbytes, bool up) {
  if (Settings::get().is_on.load(std::memory_order_relaxed) && is_short_for_bounce(nbytes, up) &&
      is_pageable(host))
    if (const std::optional<Status> status = copy_by_bounce(device, host, nbytes, up))
      return *status;
  return plain_copy(device, host, nbytes, up);
}

Status transfer(void* device, void* host, std::size_t nbytes, bool up) {
  if (!enter_runtime()) return refused_status();
  if (nbytes == 0) return plain_copy(device, host, nbytes, up);
  if (Capture::current()) return refusal_to_wait();
  const Settings& settings = Settings::get();
  if (nbytes < (up ? settings.short_up : settings.short_down).load(std::memory_order_relaxed))
    return copy_short(device, host, nbytes, up);
  const Layout bytes({Index(nbytes)}, 1);
  return Transfer{static_cast<char*>(device), bytes, static_cast<char*>(host), bytes, up}.run();
}

Status transfer(void* device, const Layout& dense, void* host, const Layout& layout, bool up) {
  if (dense.nbytes() == 0) return {};
  if (!enter_runtime()) return refused_status();
  if (Capture::current()) return refusal_to_wait();
  return Transfer{static_cast<char*>(device), dense, static_cast<char*>(host), layout, up}.run();
}

Status transfer_rows(void* device, std::size_t device_pitch, void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t count, bool up) {
  if (!enter_runtime()) return refused_status();
  if (Capture::current()) return refusal_to_wait();
  const auto longest = std::size_t(INT64_MAX) / std::max<std::size_t>(count, 1);
  const bool is_valid = width && count && width <= device_pitch && width <= host_pitch &&
                        device_pitch <= longest && host_pitch <= longest;
  if (!is_valid)  // nothing to copy, or an error that the runtime reports
    return plain_rows(device, device_pitch, host, host_pitch, width, count, up);
  const Layout dense({Index(count), Index(width)}, 1),
      layout({Index(count), Index(width)}, {Index(host_pitch), 1}, 1);
  return Transfer{static_cast<char*>(device), dense, static_cast<char*>(host), layout, up,
                  {width, device_pitch}}
      .run_pitched();
}

// Make a download, and record that the launches before it are over: it waits for them, unless it is
// empty.
template <class Download>
Status that_waits(bool is_empty, Download download) {
  if (is_empty) return download();
  const NullStreamLaunches earlier = launches_on_null_stream();
  const Status status = download();
  if (!status.failed()) record_over(earlier);
  return status;
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
    settings.short_up = settings.short_below(true);
    settings.short_down = settings.short_below(false);
    settings.is_on = wanted.threshold != never;
  }
  // A forked child has copies of the rings but not of their threads, for which the end of a ring
  // waits. It makes no transfers.
  if (!forked()) release_other_rings(wanted);
}

Status upload(void* device, const void* host, std::size_t nbytes) {
  return transfer(device, const_cast<void*>(host), nbytes, true);
}

Status download(void* host, const void* device, std::size_t nbytes) {
  return that_waits(nbytes == 0,
                    [&] { return transfer(const_cast<void*>(device), host, nbytes, false); });
}

Status upload_rows(void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                   std::size_t width, std::size_t count) {
  return transfer_rows(device, device_pitch, const_cast<void*>(host), host_pitch, width, count,
                       true);
}

Status download_rows(void* host, std::size_t host_pitch, const void* device,
                     std::size_t device_pitch, std::size_t width, std::size_t count) {
  return that_waits(width == 0 || count == 0, [&] {
    return transfer_rows(const_cast<void*>(device), device_pitch, host, host_pitch, width, count,
                         false);
  });
}

Status upload(void* device, const Layout& dense, const void* host, const Layout& layout) {
  return transfer(device, dense, const_cast<void*>(host), layout, true);
}

Status download(void* host, const Layout& layout, const void* device, const Layout& dense) {
  return that_waits(dense.nbytes() == 0, [&] {
    return transfer(const_cast<void*>(device), dense, host, layout, false);
  });
}

namespace {

// Return the kind of a copy whose kind the runtime would find out, if it is between host and
// device.
cudaMemcpyKind known_kind(const void* dst, const void* src, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDefault || !Settings::get().is_on) return kind;
  const cudaMemoryType to = memory_type(dst), from = memory_type(src);
  if (to == cudaMemoryTypeDevice && from == cudaMemoryTypeUnregistered)
    return cudaMemcpyHostToDevice;
  if (to == cudaMemoryTypeUnregistered && from == cudaMemoryTypeDevice)
    return cudaMemcpyDeviceToHost;
  return kind;
}

}  // namespace

Status copy_blocking(void* dst, const void* src, std::size_t nbytes, cudaMemcpyKind kind) {
  switch (known_kind(dst, src, kind)) {
    case cudaMemcpyHostToDevice: return upload(dst, src, nbytes);
    case cudaMemcpyDeviceToHost: return download(dst, src, nbytes);
    default: return cudaMemcpy(dst, src, nbytes, kind);
  }
}

Status copy_rows_blocking(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                          std::size_t width, std::size_t count, cudaMemcpyKind kind) {
  switch (known_kind(dst, src, kind)) {
    case cudaMemcpyHostToDevice: return upload_rows(dst, dst_pitch, src, src_pitch, width, count);
    case cudaMemcpyDeviceToHost: return download_rows(dst, dst_pitch, src, src_pitch, width, count);
    default: return cudaMemcpy2D(dst, dst_pitch, src, src_pitch, width, count, kind);
  }
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
