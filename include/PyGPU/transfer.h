// Moving bytes between host and device.
#pragma once

#include <cstddef>

#include "layout.h"
#include "stream.h"

namespace PyGPU {

// Blocking copies in the order of the legacy null stream, as cudaMemcpy. Large pageable memory goes
// through a ring of page-locked chunks that several threads fill or empty (src/core/transfer.cpp).
Status upload(void* device, const void* host, std::size_t nbytes);
Status download(void* host, const void* device, std::size_t nbytes);

// From device memory to device memory of the same shape, in the order of `stream`.
Status copy_elements(void* dst, const Layout& dst_layout, const void* src, const Layout& src_layout,
                     cudaStream_t stream);

}  // namespace PyGPU
