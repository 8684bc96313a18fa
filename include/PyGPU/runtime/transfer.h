// Copies of bytes between host and device.
#pragma once

#include <cstddef>

#include "layout.h"
#include "stream.h"
#include "transfer_settings.h"

namespace PyGPU {

// Blocking copies in the order of the legacy null stream, like cudaMemcpy. Pageable memory goes
// through page-locked memory where that is faster: several threads fill or empty it (staging.h),
// and short copies have a block of their own (bounce.h).
Status upload(void* device, const void* host, std::size_t nbytes);
Status download(void* host, const void* device, std::size_t nbytes);

// Copy between a dense array on the device and any layout of its shape on the host. Both addresses
// are those of the first elements. Elements are gathered and scattered in chunks.
Status upload(void* device, const Layout& dense, const void* host, const Layout& layout);
Status download(void* host, const Layout& layout, const void* device, const Layout& dense);

// Copy `count` rows of `width` bytes whose starts are a pitch apart, like cudaMemcpy2D.
Status upload_rows(void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                   std::size_t width, std::size_t count);
Status download_rows(void* host, std::size_t host_pitch, const void* device,
                     std::size_t device_pitch, std::size_t width, std::size_t count);

// Copy in the direction of `kind`, like cudaMemcpy and cudaMemcpy2D: between host and device by the
// functions above.
Status copy_blocking(void* dst, const void* src, std::size_t nbytes, cudaMemcpyKind kind);
Status copy_rows_blocking(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                          std::size_t width, std::size_t count, cudaMemcpyKind kind);

// Copy between device memory of the same shape, in the order of `stream`.
Status copy_elements(void* dst, const Layout& dst_layout, const void* src, const Layout& src_layout,
                     cudaStream_t stream);

}  // namespace PyGPU
