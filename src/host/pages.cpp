// See pages.h.
#include "pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "machine.h"

namespace PyGPU::host {
namespace {

constexpr std::size_t huge_page = 2 << 20, least = 2 * huge_page, most = 256 << 20;

struct Kept {
  void* address;
  std::size_t nbytes;
};

struct Cache {
  std::vector<Kept> blocks;  // the last kept is the first taken
  std::size_t nbytes = 0;

  static Cache& get() {
    static Cache& cache = *new Cache;  // arrays may go after the statics
    return cache;
  }
  void remove(std::size_t place) {
    nbytes -= blocks[place].nbytes;
    blocks.erase(blocks.begin() + std::ptrdiff_t(place));
  }
};

// Those of a block's pages that hold nothing else.
bool protect(const Kept& block, int access) {
  const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
  return mprotect(block.address, block.nbytes / page * page, access) == 0;
}

void drop_oldest() {
  Cache& cache = Cache::get();
  const Kept block = cache.blocks.front();
  cache.remove(0);
  if (protect(block, PROT_READ | PROT_WRITE)) std::free(block.address);
}

void* take_kept(std::size_t nbytes) {
  Cache& cache = Cache::get();
  for (std::size_t i = cache.blocks.size(); i-- > 0;) {
    const Kept block = cache.blocks[i];
    if (block.nbytes != nbytes) continue;
    cache.remove(i);
    if (protect(block, PROT_READ | PROT_WRITE)) return block.address;
  }
  return nullptr;
}

}  // namespace

void* take_pages(std::size_t nbytes) {
  const bool is_large = nbytes >= least;
  if (void* const kept = is_large ? take_kept(nbytes) : nullptr) return kept;
  void* address = nullptr;
  const auto take = [&] {
    return posix_memalign(&address, is_large ? huge_page : Machine::granularity, nbytes) == 0;
  };
  if (!take()) {
    drop_kept_pages();
    if (!take()) return nullptr;
  }
  if (is_large) madvise(address, nbytes, MADV_HUGEPAGE);
  return address;
}

void give_back_pages(void* address, std::size_t nbytes) {
  Cache& cache = Cache::get();
  const Kept block{address, nbytes};
  if (nbytes < least || nbytes > most || !protect(block, PROT_NONE)) return std::free(address);
  while (cache.nbytes + nbytes > most) drop_oldest();
  cache.blocks.push_back(block);
  cache.nbytes += nbytes;
}

void drop_kept_pages() {
  while (!Cache::get().blocks.empty()) drop_oldest();
}

}  // namespace PyGPU::host
