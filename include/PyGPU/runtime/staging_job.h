// One staged transfer under way: its copies over the bus, and the threads that fill or empty them.
//
// One thread, the director, calls the runtime. The other threads only copy bytes between the host's
// memory and page-locked memory; the director does the same instead of idling. A download's copies
// are enqueued as far ahead as there is page-locked memory, so that the bus does not wait for the
// processor. An upload's runs are enqueued once they are full, all that follow each other as one
// copy, for each copy costs the device some microseconds.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "memory.h"
#include "pieces.h"
#include "staging_schedule.h"
#include "stream.h"

namespace PyGPU {

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

// Page-locked memory, and the stream and the events of copies from and to it. One job at a time
// uses it.
struct Buffer {
  // Allocate all on the current device.
  explicit Buffer(std::size_t nbytes);

  // Wait for the copies on a stream, after an error.
  void settle_after_error(cudaStream_t used);
  // Return whether no copy is under way. Waits again if an earlier wait has failed.
  bool settle();

  char* address() const { return static_cast<char*>(memory.get().address); }

  Memory memory;
  Rotation rotation;
  Stream stream{cudaStreamNonBlocking, 0};
  // The work before a job. A thread may sleep while it waits for this event, which costs the device
  // up to 1.6 us more than an event that a thread waits for in a loop.
  Event earlier{cudaEventDisableTiming | cudaEventBlockingSync};
  std::deque<Event> done;               // of copies; a thread that waits for one does not sleep
  std::vector<cudaStream_t> unsettled;  // streams on which copies may be under way
  Status status;                        // of the allocations
};

class Job {
 public:
  // Called by the director with the bytes that have been filled or emptied.
  using After = std::function<void(std::size_t moved)>;

  Job(const StagedTransfer& transfer, const StagingPlan& plan, Buffer& buffer);

  // The director: do what needs no other threads. Call them after this returns.
  void begin();
  // The director: work until all copies are enqueued, and a download's parts have been taken.
  // Rethrows what `after` throws.
  void direct(const After& after);
  // Another thread: work until no part is left.
  void help();
  // The director, when the other threads have returned: wait for the last copy. Returns the
  // outcome of the transfer.
  cudaError_t end();
  // The director, after an exception: wait for the copies that are under way.
  void cancel();

 private:
  struct Copy {
    std::size_t runs_end;  // number of the runs of all copies up to and including this one
    cudaEvent_t done;
  };

  bool is_directed() const;
  bool succeeded(cudaError_t outcome);
  void enqueue_ready();
  bool is_ready(std::size_t run);
  Run join_full_runs(std::size_t& end) const;
  void end_oldest();
  void open_runs();
  bool has_arrived();
  void wait_for_oldest();
  bool take_open_part(std::size_t& part);
  // Fill or empty a part, and call `between()` between its pieces.
  template <class Between>
  void fill_or_empty(std::size_t part, Between between);
  void copy_bytes(char* to, const char* from, std::size_t nbytes) const;
  cudaError_t enqueue(const Run& run) const;
  cudaError_t enqueue_bytes(char* device, char* chunk, std::size_t nbytes) const;
  cudaError_t enqueue_rows(char* device, char* chunk, std::size_t rows) const;
  // Return the place of a copy by its number.
  Copy& copy(std::size_t number) { return copies_[number % copies_.size()]; }

  const StagedTransfer& transfer_;
  const StagingPlan plan_;
  Buffer& buffer_;
  const cudaStream_t stream_;
  const Schedule schedule_;
  const std::size_t all_;    // runs
  const bool watches_each_;  // whether each copy has an event, or only the last

  // Only the director uses these: numbers of runs that were enqueued, that have arrived, and, in a
  // download, that have left their chunks.
  std::size_t enqueued_ = 0, arrived_ = 0, emptied_ = 0;
  std::vector<Copy> copies_;  // in rotation: those on their way, and the next
  std::size_t copies_begun_ = 0, copies_over_ = 0;
  cudaError_t error_ = cudaSuccess;

  std::atomic<std::size_t> open_{0};  // runs that may be filled or emptied
  std::atomic<std::size_t> next_{0};  // the first part that no thread has taken
  std::atomic<std::size_t> moved_{0};
  std::atomic<bool> ended_{false};                          // by an error or an exception
  std::unique_ptr<std::atomic<std::size_t>[]> parts_left_;  // to be filled or emptied, of each run
};

}  // namespace staging
}  // namespace PyGPU
