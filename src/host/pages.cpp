// Memory for allocations: pages of the system, a cache of freed pages, and malloc. See pages.h.
#include "pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "machine.h"

namespace PyGPU::host {
namespace {

constexpr std::size_t huge_page = 2 << 20, least = huge_page, largest = 256 << 20;

struct CachedBlock {
  void* address;
  std::size_t nbytes;
};

struct Cache {
  std::vector<CachedBlock> blocks;  // most recently freed last; reused first
  std::size_t nbytes = 0;

  static Cache& get() {
    static Cache& cache = *new Cache;  // never destroyed: arrays may be freed after static objects
    return cache;
  }
  void remove(std::size_t index) {
    nbytes -= blocks[index].nbytes;
    blocks.erase(blocks.begin() + std::ptrdiff_t(index));
  }
};

bool protect(const CachedBlock& block, int access) {
  return mprotect(block.address, mapped_bytes(block.nbytes), access) == 0;
}

// Map pages directly instead of calling malloc, for two reasons. A leak sanitizer reads all memory
// of malloc, and cannot read the protected pages of the cache. The page after the block is never
// accessible, so an overrun stops there.
void* map(std::size_t nbytes) {
  const std::size_t mapped = mapped_bytes(nbytes) + page_size(), room = mapped + huge_page;
  void* const mapping = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(mapping);
  const std::size_t before = (huge_page - start % huge_page) % huge_page;
  char* const address = static_cast<char*>(mapping) + before;
  if (before) munmap(mapping, before);
  munmap(address + mapped, room - mapped - before);
  if (!protect({address, nbytes}, PROT_READ | PROT_WRITE)) {
    munmap(address, mapped);
    return nullptr;
  }
  madvise(address, nbytes, MADV_HUGEPAGE);
  return address;
}

void* allocate(std::size_t nbytes) {
  void* address = nullptr;
  return posix_memalign(&address, Machine::granularity, nbytes) == 0 ? address : nullptr;
}

void unmap(const CachedBlock& block) { unmap_pages(block.address, mapped_bytes(block.nbytes)); }

void release_oldest() {
  Cache& cache = Cache::get();
  const CachedBlock block = cache.blocks.front();
  cache.remove(0);
  unmap(block);
}

void* take_cached(std::size_t nbytes) {
  Cache& cache = Cache::get();
  for (std::size_t i = cache.blocks.size(); i-- > 0;) {
    const CachedBlock block = cache.blocks[i];
    if (block.nbytes != nbytes) continue;
    cache.remove(i);
    if (protect(block, PROT_READ | PROT_WRITE)) return block.address;
    unmap(block);
  }
  return nullptr;
}

}  // namespace

std::size_t page_size() {
  static const std::size_t nbytes = std::size_t(sysconf(_SC_PAGESIZE));
  return nbytes;
}

bool has_own_pages(std::size_t nbytes) { return nbytes >= least; }

std::size_t mapped_bytes(std::size_t nbytes) {
  return (nbytes + page_size() - 1) / page_size() * page_size();
}

void unmap_pages(void* address, std::size_t mapped) { munmap(address, mapped + page_size()); }

void* allocate_pages(std::size_t nbytes) {
  const bool is_large = has_own_pages(nbytes);
  if (void* const kept = is_large ? take_cached(nbytes) : nullptr) return kept;
  const auto take = [&] { return is_large ? map(nbytes) : allocate(nbytes); };
  void* const address = take();
  if (address) return address;
  release_cached_pages();
  return take();
}

void free_pages(void* address, std::size_t nbytes) {
  if (!has_own_pages(nbytes)) return std::free(address);
  Cache& cache = Cache::get();
  const CachedBlock block{address, nbytes};
  if (nbytes > largest || !protect(block, PROT_NONE)) return unmap(block);
  while (cache.nbytes + nbytes > largest) release_oldest();
  cache.blocks.push_back(block);
  cache.nbytes += nbytes;
}

void release_cached_pages() {
  while (!Cache::get().blocks.empty()) release_oldest();
}

}  // namespace PyGPU::host
