// Source of the host machine's memory: malloc for small allocations, the system's pages for large
// ones.
//
// Large allocations use huge pages, whose first access costs far less than that of small pages. The
// first access still costs as much as one pass over the memory. So some freed allocations are
// cached for the next request of the same size, and are inaccessible until then.
//
// Not thread-safe, except page_size(): call with the machine's lock held.
#pragma once

#include <cstddef>

namespace PyGPU::host {

std::size_t page_size();
// Return memory, or null if there is none.
void* allocate_pages(std::size_t nbytes);
void free_pages(void* address, std::size_t nbytes);
// Return all cached pages to the system.
void release_cached_pages();

}  // namespace PyGPU::host
