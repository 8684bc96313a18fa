// Where the host machine's memory comes from: the C library; the system, for large blocks. These
// lie on huge pages, whose first access costs far less; it still costs as much as a pass over the
// memory, so some of those that are freed are kept for the next of their size. Until then nothing
// can reach them.
//
// Not thread-safe but for the size of a page: the machine's lock is held.
#pragma once

#include <cstddef>

namespace PyGPU::host {

std::size_t page_size();
// Null where there is no memory.
void* take_pages(std::size_t nbytes);
void give_back_pages(void* address, std::size_t nbytes);
// Return to the system what is kept.
void drop_kept_pages();

}  // namespace PyGPU::host
