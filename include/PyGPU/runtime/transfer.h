// Copies of bytes between host and device.
#pragma once

#include <cstddef>

#include "layout.h"
#include "stream.h"
#include "transfer_settings.h"

namespace PyGPU {

// Blocking copies in the order of the legacy null stream, like cudaMemcpy. Large pageable memory is
// staged through a ring of page-locked chunks that several threads fill or empty (staging.h).
Status upload(void* device, const void* host, std::size_t nbytes);
Status download(void* host, const void* device, std::size_t nbytes);

// Copy between a dense array on the device and any layout of its shape on the host. Both addresses
// are those of the first elements. Elements are gathered and scattered in chunks.
Status upload(void* device, const Layout& dense, const void* host, const Layout& layout);
Status download(void* host, const Layout& layout, const void* device, const Layout& dense);

// Copy between device memory of the same shape, in the order of `stream`.
Status copy_elements(void* dst, const Layout& dst_layout, const void* src, const Layout& src_layout,
                     cudaStream_t stream);

}  // namespace PyGPU
