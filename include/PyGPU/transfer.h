// Moving bytes between host and device.
#pragma once

#include <cstddef>

#include "layout.h"
#include "stream.h"

namespace PyGPU {

// Blocking copies in the order of the legacy null stream, as cudaMemcpy. Large pageable memory goes
// through a ring of page-locked chunks that several threads fill or empty (staging.h).
Status upload(void* device, const void* host, std::size_t nbytes);
Status download(void* host, const void* device, std::size_t nbytes);

// The same between a dense array on the device and any layout of its shape on the host. Both
// addresses are those of the first elements. Elements are gathered and scattered by chunks.
Status upload(void* device, const Layout& dense, const void* host, const Layout& layout);
Status download(void* host, const Layout& layout, const void* device, const Layout& dense);

// From device memory to device memory of the same shape, in the order of `stream`.
Status copy_elements(void* dst, const Layout& dst_layout, const void* src, const Layout& src_layout,
                     cudaStream_t stream);

// How later transfers of all threads are done.
struct TransferSettings {
  unsigned threads, chunks;  // at most so many threads, with so many chunks each
  std::size_t chunk_bytes;
  std::size_t threshold;  // from so many bytes on pageable memory is staged; SIZE_MAX: never
  std::size_t shown;      // from so many bytes on the watcher is shown them; SIZE_MAX: never
};
TransferSettings transfer_settings();
// Page-locked memory that is no longer needed is released, that of transfers under way at their
// end.
void set_transfer_settings(const TransferSettings& settings);

}  // namespace PyGPU
