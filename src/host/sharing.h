// Memory and events that processes share: the runtime's calls cudaIpc*.
//
// A handle names a descriptor of the process that made it, which another process of the same user
// opens by /proc. Descriptors end with their process, so that nothing is left behind.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "machine.h"

namespace PyGPU::host {

// Records of an event, counted over all processes: the event is complete when the last begun record
// has ended. In a page of shared memory.
struct SharedRecords {
  std::atomic<std::uint64_t> begun, ended;
};

// A process's view of an event that it shares with others.
struct SharedEvent {
  SharedRecords* records;
  int descriptor;  // -1 in a process that opened the event
  std::uint64_t key;
  pid_t owner;
  std::uint64_t latest = 0;  // number of the record that this process began last

  void begin_record() { latest = records->begun.fetch_add(1) + 1; }
  void end_record();
  bool is_complete() const { return records->ended.load() >= records->begun.load(); }
  // Wait until the records that have begun have ended. cudaErrorOperatingSystem if the process that
  // made the event has ended. Call without locks.
  cudaError_t wait() const;
};

// Free an allocation that was exported or opened, and return true; false for another allocation.
// Call with the machine's lock held.
bool free_shared(std::uintptr_t address);

}  // namespace PyGPU::host
