// Settings of transfers: threads, chunks and thresholds of staged copies.
#pragma once

#include <cstddef>

namespace PyGPU {

// Settings of later transfers in all threads.
struct TransferSettings {
  unsigned threads, chunks;  // maximum number of threads, and of chunks per thread
  std::size_t chunk_bytes;
  std::size_t threshold;  // bytes from which pageable memory is staged; SIZE_MAX: never
  std::size_t shown;      // bytes from which the watcher is shown the transfer; SIZE_MAX: never
};
TransferSettings transfer_settings();
// Replace the settings. Page-locked memory that is no longer needed is released; the memory of
// running transfers is released at their end.
void set_transfer_settings(const TransferSettings& settings);

}  // namespace PyGPU
