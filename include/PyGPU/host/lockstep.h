// Warp-synchronous code: warps whose lanes take each step together, without saying so.
//
// Kernels of the years before __syncwarp let the lanes of a warp exchange values through volatile
// shared memory and rely on all lanes having made one access before any makes the next. A text that
// may do so (PyGPU/_compile/lockstep.py) is compiled with the instrumentation for data races, which
// calls a function before each access: those before volatile ones wait for the warp's other lanes,
// all others do nothing. The instrumentation for coverage calls one at the begin of each basic
// block, by which the lanes wait for each other at the end of a loop's body. Included behind the
// user's text.
#pragma once

#include "execution.h"

#pragma GCC visibility push(hidden)

// What the compiler calls has names that C++ may not declare: g++ knows them already.
#define PYGPU_CALLED(name, Result, ...)                                          \
  extern "C" Result PyGPU_lockstep_##name(__VA_ARGS__) __asm__("__tsan_" #name); \
  PYGPU_UNTRACED __attribute__((used)) Result PyGPU_lockstep_##name(__VA_ARGS__)
#define PYGPU_IGNORE(name) \
  PYGPU_CALLED(name, void, void*) {}
#define PYGPU_MEET(name)                                               \
  PYGPU_CALLED(name, void, void* address) {                            \
    PyGPU_host_meet(address, __builtin_return_address(0),              \
                    *static_cast<void**>(__builtin_frame_address(0))); \
  }
#define PYGPU_SIZES(macro, way) \
  macro(way##1) macro(way##2) macro(way##4) macro(way##8) macro(way##16)

// A jump, so that the machine sees the block's address.
#if defined(__x86_64__)
#define PYGPU_JUMP "jmp PyGPU_host_begin_block@PLT"
#elif defined(__aarch64__)
#define PYGPU_JUMP "b PyGPU_host_begin_block"
#else
#error "warp-synchronous code (volatile shared memory) runs on x86-64 and aarch64 alone"
#endif
__asm__(
    ".pushsection .text\n"
    ".hidden __sanitizer_cov_trace_pc\n"
    ".globl __sanitizer_cov_trace_pc\n"
    ".type __sanitizer_cov_trace_pc, %function\n"
    "__sanitizer_cov_trace_pc: " PYGPU_JUMP
    "\n"
    ".popsection\n");
#undef PYGPU_JUMP

PYGPU_SIZES(PYGPU_MEET, volatile_read)
PYGPU_SIZES(PYGPU_MEET, volatile_write)
PYGPU_SIZES(PYGPU_MEET, unaligned_volatile_read)
PYGPU_SIZES(PYGPU_MEET, unaligned_volatile_write)
PYGPU_SIZES(PYGPU_IGNORE, read)
PYGPU_SIZES(PYGPU_IGNORE, write)
PYGPU_SIZES(PYGPU_IGNORE, unaligned_read)
PYGPU_SIZES(PYGPU_IGNORE, unaligned_write)
PYGPU_SIZES(PYGPU_IGNORE, read_write)
PYGPU_SIZES(PYGPU_IGNORE, unaligned_read_write)
PYGPU_IGNORE(func_entry)
PYGPU_IGNORE(vptr_read)
PYGPU_CALLED(init, void) {}
PYGPU_CALLED(func_exit, void) {}
PYGPU_CALLED(vptr_update, void, void*, void*) {}
PYGPU_CALLED(read_range, void, void*, std::size_t) {}
PYGPU_CALLED(write_range, void, void*, std::size_t) {}
PYGPU_CALLED(memcpy, void*, void* to, const void* from, std::size_t n) {
  return __builtin_memcpy(to, from, n);
}
PYGPU_CALLED(memmove, void*, void* to, const void* from, std::size_t n) {
  return __builtin_memmove(to, from, n);
}
PYGPU_CALLED(memset, void*, void* to, int value, std::size_t n) {
  return __builtin_memset(to, value, n);
}

// Atomic operations are replaced, not accompanied. The strongest order does for all.
#define PYGPU_FETCH(T, bits, operation)                                            \
  PYGPU_CALLED(atomic##bits##_fetch_##operation, T, volatile T* a, T value, int) { \
    return __atomic_fetch_##operation(a, value, __ATOMIC_SEQ_CST);                 \
  }
#define PYGPU_COMPARE(T, bits, how, weak)                                                       \
  PYGPU_CALLED(atomic##bits##_compare_exchange_##how, int, volatile T* a, T* expected, T value, \
               int, int) {                                                                      \
    return __atomic_compare_exchange_n(a, expected, value, weak, __ATOMIC_SEQ_CST,              \
                                       __ATOMIC_SEQ_CST);                                       \
  }
#define PYGPU_ATOMIC(T, bits)                                                                    \
  PYGPU_CALLED(atomic##bits##_load, T, const volatile T* a, int) {                               \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                              \
  PYGPU_CALLED(atomic##bits##_store, void, volatile T* a, T value, int) {                        \
    __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                              \
  PYGPU_CALLED(atomic##bits##_exchange, T, volatile T* a, T value, int) {                        \
    return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                              \
  PYGPU_CALLED(atomic##bits##_compare_exchange_val, T, volatile T* a, T expected, T value, int,  \
               int) {                                                                            \
    __atomic_compare_exchange_n(a, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                             \
  }                                                                                              \
  PYGPU_COMPARE(T, bits, strong, false)                                                          \
  PYGPU_COMPARE(T, bits, weak, true)                                                             \
  PYGPU_FETCH(T, bits, add)                                                                      \
  PYGPU_FETCH(T, bits, sub)                                                                      \
  PYGPU_FETCH(T, bits, and)                                                                      \
  PYGPU_FETCH(T, bits, or)                                                                       \
  PYGPU_FETCH(T, bits, xor)                                                                      \
  PYGPU_FETCH(T, bits, nand)
PYGPU_ATOMIC(unsigned char, 8)
PYGPU_ATOMIC(unsigned short, 16)
PYGPU_ATOMIC(unsigned, 32)
PYGPU_ATOMIC(unsigned long long, 64)
PYGPU_CALLED(atomic_thread_fence, void, int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
PYGPU_CALLED(atomic_signal_fence, void, int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

#undef PYGPU_ATOMIC
#undef PYGPU_COMPARE
#undef PYGPU_FETCH
#undef PYGPU_SIZES
#undef PYGPU_MEET
#undef PYGPU_IGNORE
#undef PYGPU_CALLED
#pragma GCC visibility pop
