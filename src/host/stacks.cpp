// Stacks for fibers, and the switch between stacks.
//
// The switch is a few instructions. The C library's swapcontext makes a system call for the signal
// mask each time.
#include "stacks.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace PyGPU::host {

// Stacks are mapped many at a time, because the number of mappings of a process is limited. A stack
// is somewhat larger than the local memory of a GPU thread. Only touched pages use memory.
constexpr std::size_t stacks_in_slab = 64;
constexpr std::size_t slab_bytes = stacks_in_slab * Stacks::bytes;
constexpr std::size_t guard_bytes = 4096;

// Limit of guard pages in the process. A guard page splits a mapping, and a process may have 65,530
// mappings. This many guards take half of them. Beyond the limit, only the first stack of each slab
// has a guard page.
constexpr int max_guards = 16384;
std::atomic<int> all_guards{0};

void Stacks::Unmap::operator()(char* slab) const {
#ifdef __SANITIZE_ADDRESS__
  // Abandoned frames left shadow marks on the stack.
  __asan_unpoison_memory_region(slab, slab_bytes);
#endif
  munmap(slab, slab_bytes);
  all_guards -= guards;
}

Stacks::Stack Stacks::take() {
  const std::size_t index = taken_ % stacks_in_slab;
  if (index == 0) {
    slabs_.reserve(slabs_.size() + 1);
    void* slab = mmap(nullptr, slab_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.emplace_back(static_cast<char*>(slab));
  }
  ++taken_;
  char* const bottom = slabs_.back().get() + index * bytes;
  bool guarded = index == 0;
  if (!guarded && all_guards < max_guards) {
    guarded = true;
    ++all_guards, ++slabs_.back().get_deleter().guards;
  }
  guarded = guarded && mprotect(bottom, guard_bytes, PROT_NONE) == 0;
  // Stagger the tops: tops at equal distances would map to the same few cache sets.
  return {bottom + bytes - index * 9 * 64, guarded ? nullptr : bottom};
}

// Return true if the lowest page was written: untouched pages are zero. A frame that skips the
// whole page is missed, as it would skip a guard page.
bool Stacks::is_overrun(const char* zone) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(zone);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < guard_bytes / sizeof any; ++i) any |= words[i];
  return any != 0;
}

bool Stacks::holds(const void* address) const {
  const auto position = reinterpret_cast<std::uintptr_t>(address);
  for (const auto& slab : slabs_)
    if (position - reinterpret_cast<std::uintptr_t>(slab.get()) < slab_bytes) return true;
  return false;
}

bool Stacks::is_guard(const void* address) const {
  const auto position = reinterpret_cast<std::uintptr_t>(address);
  for (const auto& slab : slabs_) {
    const std::uintptr_t offset = position - reinterpret_cast<std::uintptr_t>(slab.get());
    if (offset < slab_bytes) return offset % bytes < guard_bytes;
  }
  return false;
}

// Push the registers that a callee must preserve, exchange the stack pointers, and pop the
// registers of the other stack. The symbol is global, because link-time optimization may compile
// the function apart from its callers.
#if defined(__x86_64__)
__asm__(R"(
.pushsection .text
.globl PyGPU_host_switch_stacks
.hidden PyGPU_host_switch_stacks
.type PyGPU_host_switch_stacks, @function
PyGPU_host_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size PyGPU_host_switch_stacks, .-PyGPU_host_switch_stacks
.popsection
)");
constexpr std::size_t saved_registers = 6;  // below the return address
// `enter` starts as if it had been called: 8 bytes below a 16-byte boundary.
constexpr std::size_t words_above = 1;
#elif defined(__aarch64__)
__asm__(R"(
.pushsection .text
.globl PyGPU_host_switch_stacks
.hidden PyGPU_host_switch_stacks
.type PyGPU_host_switch_stacks, %function
PyGPU_host_switch_stacks:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp d8, d9, [sp, #80]
  stp d10, d11, [sp, #96]
  stp d12, d13, [sp, #112]
  stp d14, d15, [sp, #128]
  stp x29, x30, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp d8, d9, [sp, #80]
  ldp d10, d11, [sp, #96]
  ldp d12, d13, [sp, #112]
  ldp d14, d15, [sp, #128]
  ldp x29, x30, [sp, #144]
  add sp, sp, #160
  ret
.size PyGPU_host_switch_stacks, .-PyGPU_host_switch_stacks
.popsection
)");
constexpr std::size_t saved_registers = 19;
constexpr std::size_t words_above = 0;
#endif

#if defined(__x86_64__) || defined(__aarch64__)
extern "C" __attribute__((visibility("hidden"))) void PyGPU_host_switch_stacks(StackPointer* from,
                                                                               StackPointer to);

void switch_stacks(StackPointer* from, StackPointer to) { PyGPU_host_switch_stacks(from, to); }

StackPointer fresh_stack(char* top, void (*enter)()) {
  void** word = reinterpret_cast<void**>(top) - words_above;
  for (std::size_t i = 0; i < words_above; ++i) word[i] = nullptr;
  *--word = reinterpret_cast<void*>(enter);
  for (std::size_t i = 0; i < saved_registers; ++i) *--word = nullptr;
  return word;
}
#else
// Other processors: the C library switches. A context is at the top of its new stack, or where it
// was saved.
StackPointer fresh_stack(char* top, void (*enter)()) {
  auto* context = reinterpret_cast<ucontext_t*>(top - (sizeof(ucontext_t) + 63) / 64 * 64);
  getcontext(context);
  context->uc_stack.ss_sp = top - Stacks::bytes;
  context->uc_stack.ss_size = std::size_t(reinterpret_cast<char*>(context) - (top - Stacks::bytes));
  context->uc_link = nullptr;
  makecontext(context, enter, 0);
  return context;
}

void switch_stacks(StackPointer* from, StackPointer to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to));
}
#endif

}  // namespace PyGPU::host
