// Strict mode: every load and store of a kernel is checked before it is executed.
//
// Strict kernels are compiled with -fsanitize=kernel-address. The compiler then calls the functions
// at the end of this file. A kernel may access:
//
//   - the machine's allocations (exact to the byte with PYGPU_HOST_STRICT=1),
//   - the stacks of its fibers,
//   - the launch's parameters and shared memory,
//   - memory that it allocated with malloc,
//   - data of loaded libraries: `__shared__`, `__constant__` and `__device__` variables.
#include "check_access.h"

#include <link.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "fault.h"
#include "machine.h"

namespace PyGPU::host {
namespace {

struct Range {
  std::uintptr_t first, size;
  bool holds(std::uintptr_t address, std::size_t nbytes) const {
    return address - first < size && nbytes <= size - (address - first);
  }
};

// Cache of ranges that the running kernel may access, most recent ones. Every access reads it, so
// it is plain data.
constexpr unsigned cached_ranges = 8;
__thread Range accessible[cached_ranges];
__thread Range parameters, shared_memory;
__thread unsigned next_slot;

// Blocks that kernels allocated with malloc or new.
struct Heap {
  std::mutex lock;
  std::map<std::uintptr_t, std::size_t> blocks;
};
Heap& heap() {
  static Heap& heap = *new Heap;
  return heap;
}

Range in_machine(std::uintptr_t address, std::size_t nbytes) {
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const auto [first, block] = machine.block(reinterpret_cast<const void*>(address), nbytes);
  return block ? Range{first, block->span} : Range{};
}

Range in_heap(std::uintptr_t address, std::size_t nbytes) {
  std::lock_guard<std::mutex> hold(heap().lock);
  auto entry = heap().blocks.upper_bound(address);
  if (entry == heap().blocks.begin()) return {};
  --entry;
  const Range range{entry->first, entry->second};
  return range.holds(address, nbytes) ? range : Range{};
}

struct RangeSearch {
  std::uintptr_t address;
  std::size_t nbytes;
  Range found;
};

// Search the segments of a loaded library and this thread's copy of its thread-local data.
int in_library(dl_phdr_info* info, std::size_t, void* data) {
  RangeSearch& search = *static_cast<RangeSearch*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    Range range{};
    if (header.p_type == PT_LOAD)
      range = {info->dlpi_addr + header.p_vaddr, header.p_memsz};
    else if (header.p_type == PT_TLS)
      range = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), header.p_memsz};
    if (!range.first || !range.holds(search.address, search.nbytes)) continue;
    search.found = range;
    return 1;
  }
  return 0;
}

Range find(std::uintptr_t address, std::size_t nbytes) {
  if (const Range found = in_machine(address, nbytes); found.size) return found;
  if (is_kernel_stack(reinterpret_cast<const void*>(address))) return {address, nbytes};
  if (const Range found = in_heap(address, nbytes); found.size) return found;
  RangeSearch search{address, nbytes, {}};
  dl_iterate_phdr(in_library, &search);
  return search.found;
}

// Describe an invalid access. Name the nearer allocation among the one below the address and the
// one above it, unless both are more than their own size and a page away.
void describe_access(const char* what, std::uintptr_t address, std::size_t nbytes) {
  struct Neighbour {
    std::size_t span = 0;
    std::uintptr_t distance = 0;
    bool is_near() const { return span && distance <= span + 4096; }
  } below, above;
  {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const auto after = machine.table.upper_bound(address);
    if (after != machine.table.begin()) {
      const auto entry = std::prev(after);
      below = {entry->second.span, address + nbytes - entry->first - entry->second.span};
    }
    if (after != machine.table.end()) above = {after->second.span, after->first - address};
  }
  char where[128] = "";
  if (below.is_near() && !(above.is_near() && above.distance < below.distance))
    std::snprintf(where, sizeof(where),
                  ": it ends %" PRIuPTR " bytes past the end of an allocation of %zu bytes",
                  below.distance, below.span);
  else if (above.is_near())
    std::snprintf(where, sizeof(where),
                  ": it begins %" PRIuPTR " bytes before an allocation of %zu bytes",
                  above.distance, above.span);
  describe(cudaErrorIllegalAddress, "%s of %zu bytes at %#" PRIxPTR ", which is not allocated%s",
           what, nbytes, address, where);
}

void check_access(const char* what, std::uintptr_t address, std::size_t nbytes) {
  for (const Range& range : accessible)
    if (range.holds(address, nbytes)) return;
  if (nbytes == 0 || !in_kernel()) return;
  if (parameters.holds(address, nbytes) || shared_memory.holds(address, nbytes)) return;
  const Range found = find(address, nbytes);
  if (!found.size) {
    describe_access(what, address, nbytes);
    abandon_kernel();
  }
  accessible[next_slot++ % cached_ranges] = found;
}

void* record_heap_block(void* block, std::size_t nbytes) {
  if (block && in_kernel()) {
    std::lock_guard<std::mutex> hold(heap().lock);
    heap().blocks[reinterpret_cast<std::uintptr_t>(block)] = nbytes;
  }
  return block;
}

void forget_heap_block(void* block) {
  std::lock_guard<std::mutex> hold(heap().lock);
  if (heap().blocks.erase(reinterpret_cast<std::uintptr_t>(block)))
    for (Range& range : accessible) range = {};
}

}  // namespace

void begin_access_checks(const void* context, const void* shared, std::size_t shared_bytes) {
  for (Range& range : accessible) range = {};
  parameters = {reinterpret_cast<std::uintptr_t>(context), max_parameter_bytes};
  shared_memory = {reinterpret_cast<std::uintptr_t>(shared), shared_bytes};
}

}  // namespace PyGPU::host

#define PYGPU_EXPORT extern "C" __attribute__((visibility("default")))
#define PYGPU_CHECKS(size)                                                 \
  PYGPU_EXPORT void __asan_load##size##_noabort(std::uintptr_t address) {  \
    PyGPU::host::check_access("a read", address, size);                    \
  }                                                                        \
  PYGPU_EXPORT void __asan_store##size##_noabort(std::uintptr_t address) { \
    PyGPU::host::check_access("a write", address, size);                   \
  }
PYGPU_CHECKS(1)
PYGPU_CHECKS(2)
PYGPU_CHECKS(4)
PYGPU_CHECKS(8)
PYGPU_CHECKS(16)
#undef PYGPU_CHECKS
PYGPU_EXPORT void __asan_loadN_noabort(std::uintptr_t address, std::size_t nbytes) {
  PyGPU::host::check_access("a read", address, nbytes);
}
PYGPU_EXPORT void __asan_storeN_noabort(std::uintptr_t address, std::size_t nbytes) {
  PyGPU::host::check_access("a write", address, nbytes);
}
PYGPU_EXPORT void __asan_handle_no_return() {}
// Around the initialization of a library's global variables.
PYGPU_EXPORT void __asan_before_dynamic_init(const char*) {}
PYGPU_EXPORT void __asan_after_dynamic_init() {}

// Copies and fills. clang calls these functions; for g++ the linker's --wrap uses those further
// below.
PYGPU_EXPORT void* __asan_memcpy(void* to, const void* from, std::size_t nbytes) {
  PyGPU::host::check_access("a read", reinterpret_cast<std::uintptr_t>(from), nbytes);
  PyGPU::host::check_access("a write", reinterpret_cast<std::uintptr_t>(to), nbytes);
  return std::memcpy(to, from, nbytes);
}
PYGPU_EXPORT void* __asan_memmove(void* to, const void* from, std::size_t nbytes) {
  PyGPU::host::check_access("a read", reinterpret_cast<std::uintptr_t>(from), nbytes);
  PyGPU::host::check_access("a write", reinterpret_cast<std::uintptr_t>(to), nbytes);
  return std::memmove(to, from, nbytes);
}
PYGPU_EXPORT void* __asan_memset(void* to, int value, std::size_t nbytes) {
  PyGPU::host::check_access("a write", reinterpret_cast<std::uintptr_t>(to), nbytes);
  return std::memset(to, value, nbytes);
}

PYGPU_EXPORT void* __wrap_memcpy(void* to, const void* from, std::size_t nbytes) {
  return __asan_memcpy(to, from, nbytes);
}
PYGPU_EXPORT void* __wrap_memmove(void* to, const void* from, std::size_t nbytes) {
  return __asan_memmove(to, from, nbytes);
}
PYGPU_EXPORT void* __wrap_memset(void* to, int value, std::size_t nbytes) {
  return __asan_memset(to, value, nbytes);
}

// The heap of a strict kernel: the linker's --wrap redirects malloc, new, new[] and their releases
// to these functions.
PYGPU_EXPORT void* __wrap_malloc(std::size_t nbytes) {
  return PyGPU::host::record_heap_block(std::malloc(nbytes), nbytes);
}
PYGPU_EXPORT void* __wrap_calloc(std::size_t count, std::size_t nbytes) {
  return PyGPU::host::record_heap_block(std::calloc(count, nbytes), count * nbytes);
}
PYGPU_EXPORT void __wrap_free(void* block) {
  PyGPU::host::forget_heap_block(block);
  std::free(block);
}
#define PYGPU_NEW(name)                                                    \
  PYGPU_EXPORT void* __wrap_##name(std::size_t nbytes) {                   \
    return PyGPU::host::record_heap_block(::operator new(nbytes), nbytes); \
  }
PYGPU_NEW(_Znwm)
PYGPU_NEW(_Znam)
#undef PYGPU_NEW
#define PYGPU_DELETE(name, ...)                              \
  PYGPU_EXPORT void __wrap_##name(void* block __VA_ARGS__) { \
    PyGPU::host::forget_heap_block(block);                   \
    ::operator delete(block);                                \
  }
PYGPU_DELETE(_ZdlPv)
PYGPU_DELETE(_ZdaPv)
PYGPU_DELETE(_ZdlPvm, , std::size_t)
PYGPU_DELETE(_ZdaPvm, , std::size_t)
#undef PYGPU_DELETE
#undef PYGPU_EXPORT
