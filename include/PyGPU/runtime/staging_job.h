// One staged transfer under way: its copies over the bus, and the threads that fill or empty them.
//
// One thread, the director, calls the runtime. The other threads only copy pieces between the
// host's memory and page-locked memory; the director does the same instead of idling. Page-locked
// memory is used in rotation: a piece lies at its offset on the device, modulo that memory's size.
// One copy transfers pieces that follow each other: those of an upload that are full, and those of
// a download for which there is room, so that the bus does not wait for the processor.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "memory.h"
#include "pieces.h"
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

// How a transfer is cut and shared. The sizes are upper bounds in bytes.
struct StagingPlan {
  unsigned threads;         // that fill or empty pieces
  std::size_t piece_bytes;  // that a thread fills or empties at once
  std::size_t copy_bytes;   // of one copy over the bus
  bool past_cache;          // whether contiguous bytes are written past the processor's cache
  bool has_stream;          // whether it uses the buffer's stream instead of the null stream
};

namespace staging {

// Page-locked memory, and the stream and the events of copies from and to it. One job at a time
// uses it.
struct Buffer {
  // Allocate all on the current device.
  explicit Buffer(std::size_t nbytes_);

  // Wait for the copies on a stream, after an error.
  void settle_after_error(cudaStream_t used);
  // Return whether no copy is under way. Waits again if an earlier wait has failed.
  bool settle();

  char* address() const { return static_cast<char*>(memory.get().address); }

  Memory memory;
  std::size_t nbytes;
  // Offset at which the next job begins. The device is faster on memory that no core has used
  // lately, so there is more of it than is in flight.
  std::size_t next = 0;
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
  // The director: work until all copies are enqueued, and a download's pieces have been taken.
  // Rethrows what `after` throws.
  void direct(const After& after);
  // Another thread: work until no piece is left.
  void help();
  // The director, when the other threads have returned: wait for the last copy. Returns the
  // outcome of the transfer.
  cudaError_t end();
  // The director, after an exception: wait for the copies that are under way.
  void cancel();

 private:
  struct Copy {
    std::size_t end;  // bytes of all copies up to and including this one
    cudaEvent_t done;
  };

  bool is_directed() const;
  bool succeeded(cudaError_t outcome);
  // Return the number after the last piece of the copy that can be enqueued next.
  std::size_t end_of_copy();
  void enqueue_ready();
  void end_oldest();
  bool has_arrived();
  void wait_for_oldest();
  // Return whether a piece whose last byte has this offset may be filled or emptied.
  bool is_open(std::size_t end) const { return end <= over_ + (transfer_.up ? room_ : 0); }
  bool take_open_piece(std::size_t& piece);
  void fill_or_empty(std::size_t piece);
  void copy_bytes(char* to, const char* from, std::size_t nbytes) const;
  cudaError_t enqueue(std::size_t at, std::size_t nbytes) const;
  cudaError_t enqueue_bytes(char* device, char* chunk, std::size_t nbytes) const;
  cudaError_t enqueue_rows(char* device, char* chunk, std::size_t rows) const;
  std::size_t end_of(std::size_t piece) const;
  // Return the page-locked memory of the bytes at an offset on the device.
  char* chunk(std::size_t at) const { return buffer_.address() + (start_ + at) % turn_; }
  // Return the place of a copy by its number.
  Copy& copy(std::size_t number) { return copies_[number % copies_.size()]; }

  const StagedTransfer& transfer_;
  const StagingPlan plan_;
  Buffer& buffer_;
  const cudaStream_t stream_;
  const std::size_t all_;    // pieces
  const std::size_t turn_;   // bytes after which memory is used again
  const std::size_t room_;   // bytes that may be in page-locked memory at once
  std::size_t start_;        // offset of the first byte in page-locked memory
  const bool watches_each_;  // whether each copy has an event, or only the last

  // Only the director uses these: the first piece, and byte, that is not enqueued, and the first
  // piece of a download that has not left its memory.
  std::size_t enqueued_ = 0, enqueued_bytes_ = 0, emptied_ = 0;
  std::vector<Copy> copies_;  // in rotation: those on their way, and the next
  std::size_t copies_begun_ = 0, copies_over_ = 0;
  cudaError_t error_ = cudaSuccess;

  std::atomic<std::size_t> over_{0};  // bytes whose copies are over
  std::atomic<std::size_t> next_{0};  // the first piece that no thread has taken
  std::atomic<std::size_t> moved_{0};
  std::atomic<bool> ended_{false};              // by an error or an exception
  std::unique_ptr<std::atomic<bool>[]> ready_;  // which pieces were filled or emptied
};

}  // namespace staging
}  // namespace PyGPU
