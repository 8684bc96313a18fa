// Kept blocks of host memory, and the thread that releases them. See host_blocks.h.
#include "PyGPU/runtime/host_blocks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "PyGPU/runtime/quiet_thread.h"
#include "PyGPU/runtime/settings.h"
#include "PyGPU/runtime/system_files.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) void()
#define ASAN_UNPOISON_MEMORY_REGION(address, size) void()
#endif

namespace PyGPU::host_blocks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kept_for{3};
constexpr std::size_t page_bytes = 4096, huge_page = 2 << 20, most_kept = std::size_t(1) << 30;

// Return a sixteenth of the memory that this process may use, at most 1 GB. The limits of control
// groups are those that a container sees, of version 2 and of version 1.
std::size_t usual_limit() {
  std::size_t memory = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  for (const char* name : {"memory.max", "memory/memory.limit_in_bytes"}) {
    const std::string limit = first_line(std::string("/sys/fs/cgroup/") + name);
    const auto group = std::strtoull(limit.c_str(), nullptr, 10);
    if (group) memory = std::min<std::size_t>(memory, group);  // "max" is no number: no limit
  }
  return std::min(memory / 16, most_kept);
}

struct Kept {
  void* address;
  std::size_t nbytes;
  Clock::time_point since;
};

struct Blocks {
  std::mutex lock;
  std::condition_variable has_kept;
  std::unordered_map<void*, std::size_t> in_use;  // sizes
  std::deque<Kept> kept;                          // the oldest first
  std::size_t bytes_in_use = 0, bytes_kept = 0;
  std::size_t limit = number_setting("PYGPU_RESULT_CACHE", usual_limit(), 0, INT64_MAX);
  bool is_swept = false;  // whether the thread runs
  bool is_in_child = false;
};

Blocks& blocks() {
  static auto& all = *new Blocks;  // arrays may outlive the statics
  return all;
}

// Return the size of the block for `nbytes`: at most an eighth more, so that results of about the
// same size use the same blocks.
std::size_t block_bytes(std::size_t nbytes) {
  std::size_t step = page_bytes;
  while (step < nbytes / 16) step *= 2;
  return (nbytes + step - 1) / step * step;
}

void* map(std::size_t nbytes) {
  const bool huge = nbytes >= 2 * huge_page;
  const std::size_t more = huge ? huge_page : 0;
  void* const found =
      mmap(nullptr, nbytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  if (!huge) return found;
  char* const start = static_cast<char*>(found);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(start) % huge_page;
  const std::size_t before = past ? huge_page - past : 0;
  if (before) munmap(start, before);
  if (before < more) munmap(start + before + nbytes, more - before);
  (void)madvise(start + before, nbytes, MADV_HUGEPAGE);  // a system without them has small pages
  return start + before;
}

void unmap(const Kept& block) {
  ASAN_UNPOISON_MEMORY_REGION(block.address, block.nbytes);
  munmap(block.address, block.nbytes);
}

// With the lock held: remove the oldest kept block, which the caller returns to the system.
Kept take_oldest(Blocks& all) {
  const Kept oldest = all.kept.front();
  all.bytes_kept -= oldest.nbytes;
  all.kept.pop_front();
  return oldest;
}

// With the lock held: return the oldest kept blocks to the system while `is_over(oldest)`.
template <class IsOver>
void release_while(Blocks& all, IsOver is_over) {
  while (!all.kept.empty() && is_over(all.kept.front())) unmap(take_oldest(all));
}

// A forked child has a copy of the blocks and of the lock, but not the thread; it keeps nothing.
void begin_in_child() {
  Blocks& all = blocks();
  all.is_in_child = true;
  release_while(all, [](const Kept&) { return true; });
  all.lock.unlock();
}
[[maybe_unused]] const int registered =
    pthread_atfork([] { blocks().lock.lock(); }, [] { blocks().lock.unlock(); }, &begin_in_child);

[[noreturn]] void sweep(Blocks& all) {
  std::unique_lock<std::mutex> hold(all.lock);
  for (;;) {
    all.has_kept.wait(hold, [&] { return !all.kept.empty(); });
    const auto end = all.kept.front().since + kept_for;
    hold.unlock();
    std::this_thread::sleep_until(end);
    hold.lock();
    const auto before = Clock::now() - kept_for;
    while (!all.kept.empty() && all.kept.front().since <= before) {
      const Kept oldest = take_oldest(all);
      hold.unlock();  // large blocks take milliseconds, and others may wait with Python's GIL
      unmap(oldest);
      hold.lock();
    }
  }
}

// With the lock held: let the thread know of a kept block. Returns false if there is no thread.
bool is_swept(Blocks& all) {
  if (all.is_in_child) return false;
  if (!all.is_swept) {
    try {
      start_quiet_thread([&all] { sweep(all); }).detach();
      all.is_swept = true;
    } catch (const std::system_error&) {  // no more threads: keep nothing
    }
  }
  all.has_kept.notify_one();
  return all.is_swept;
}

}  // namespace

void* take(std::size_t nbytes) {
  if (nbytes < kept_from) return std::malloc(std::max<std::size_t>(nbytes, 1));
  if (nbytes > std::size_t(PTRDIFF_MAX) / 2) return nullptr;
  const std::size_t wanted = block_bytes(nbytes);
  Blocks& all = blocks();
  const std::lock_guard<std::mutex> hold(all.lock);
  void* block = nullptr;
  for (auto each = all.kept.rbegin(); each != all.kept.rend() && !block; ++each)
    if (each->nbytes == wanted) {  // the one used last, whose pages are most likely in the cache
      block = each->address;
      ASAN_UNPOISON_MEMORY_REGION(block, wanted);
      all.bytes_kept -= wanted;
      all.kept.erase(std::next(each).base());
      break;
    }
  if (!block) block = map(wanted);
  if (!block) {
    release_while(all, [](const Kept&) { return true; });
    block = map(wanted);
  }
  if (!block) return nullptr;
  try {
    all.in_use.emplace(block, wanted);
  } catch (const std::bad_alloc&) {  // NumPy, a caller in C, has no exceptions
    unmap({block, wanted, {}});
    return nullptr;
  }
  all.bytes_in_use += wanted;
  return block;
}

void give(void* block) {
  Blocks& all = blocks();
  const std::lock_guard<std::mutex> hold(all.lock);
  const auto found = all.in_use.find(block);
  if (found == all.in_use.end()) return std::free(block);
  const Kept now{block, found->second, Clock::now()};
  all.in_use.erase(found);
  all.bytes_in_use -= now.nbytes;
  try {
    if (now.nbytes > all.limit || !is_swept(all)) return unmap(now);
    all.kept.push_back(now);
  } catch (const std::bad_alloc&) {  // no memory for the list
    return unmap(now);
  }
  ASAN_POISON_MEMORY_REGION(block, now.nbytes);
  all.bytes_kept += now.nbytes;
  release_while(all, [&](const Kept&) { return all.bytes_kept > all.limit; });
}

void* retake(void* block, std::size_t nbytes) {
  std::size_t held = 0;
  {
    Blocks& all = blocks();
    const std::lock_guard<std::mutex> hold(all.lock);
    if (const auto found = all.in_use.find(block); found != all.in_use.end()) held = found->second;
  }
  if (!held) return std::realloc(block, std::max<std::size_t>(nbytes, 1));
  if (nbytes >= kept_from && block_bytes(nbytes) == held) return block;
  void* const other = take(nbytes);
  if (!other) return nullptr;
  std::memcpy(other, block, std::min(held, nbytes));
  give(block);
  return other;
}

Bytes count() {
  Blocks& all = blocks();
  const std::lock_guard<std::mutex> hold(all.lock);
  return {all.bytes_in_use, all.bytes_kept, all.limit};
}

void set_limit(std::size_t nbytes) {
  Blocks& all = blocks();
  const std::lock_guard<std::mutex> hold(all.lock);
  all.limit = nbytes;
  release_while(all, [&](const Kept&) { return all.bytes_kept > all.limit; });
}

}  // namespace PyGPU::host_blocks
