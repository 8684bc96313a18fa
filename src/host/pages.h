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
// Return true if such memory has pages of its own, `mapped_bytes(nbytes)` and one that is never
// accessible.
bool has_own_pages(std::size_t nbytes);
std::size_t mapped_bytes(std::size_t nbytes);
// Return memory of so many mapped bytes to the system without caching it.
void unmap_pages(void* address, std::size_t mapped);
// Return all cached pages to the system.
void release_cached_pages();

}  // namespace PyGPU::host
