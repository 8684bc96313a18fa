// Settings of transfers: threads, chunks and thresholds of staged copies.
#pragma once

#include <cstddef>

namespace PyGPU {

// Settings of later transfers in all threads.
struct TransferSettings {
  unsigned threads;         // maximum number
  unsigned chunks;          // page-locked memory, in chunks for each thread; all threads share it
  std::size_t chunk_bytes;  // maximum size of one copy over the bus
  // Bytes from which several threads copy pageable memory to the device; from the device, they do
  // so from three quarters of it. SIZE_MAX: all copies are the runtime's.
  std::size_t threshold;
  std::size_t shown;  // bytes from which the watcher is shown the transfer; SIZE_MAX: never
};
TransferSettings transfer_settings();
// Replace the settings. Page-locked memory that is no longer needed is released; the memory of
// running transfers is released at their end.
void set_transfer_settings(const TransferSettings& settings);

}  // namespace PyGPU
