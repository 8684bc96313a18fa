// One staged transfer: which pieces are next, how they are copied, and what went wrong.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

#include "error.h"
#include "pieces.h"
#include "streaming_copy.h"

namespace PyGPU {

// How a transfer is cut and shared. Its sizes are bounds.
struct StagingPlan {
  unsigned lanes;           // threads
  std::size_t piece_bytes;  // of the pieces that are gathered and scattered
  std::size_t run_bytes;    // of the runs of pieces that a thread takes
  bool past_cache;          // whether contiguous bytes are written past the processor's cache
};

// Rows of a pitched array on the device. A width of 0 means a dense array.
struct DeviceRows {
  std::size_t width = 0, pitch = 0;
};

struct StagedTransfer {
  char* device;  // lowest address of the array on the device
  char* host;    // address from which pieces count
  const Pieces& pieces;
  std::size_t nbytes;
  bool up;
  DeviceRows rows{};
};

namespace staging {

// Pieces that follow each other on the device.
struct Run {
  std::size_t first, count;
  std::size_t at, nbytes;  // in the dense array
};

// Threads take runs until none is left, one has failed, or the transfer was ended.
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

}  // namespace staging
}  // namespace PyGPU
