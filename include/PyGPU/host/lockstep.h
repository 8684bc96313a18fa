// Warp-synchronous code: warps whose lanes execute each step together, without explicit
// synchronization.
//
// Kernels from before __syncwarp exchange values through volatile shared memory. They rely on all
// lanes having made one access before any lane makes the next.
//
// PyGPU/_compile/source/lockstep.py detects texts that may do so. They are compiled with two kinds
// of instrumentation. The one for data races calls a function before each access: before a volatile
// access the lane waits for its warp; before other accesses the function does nothing. The one for
// coverage calls a function at the beginning of each basic block. Lanes use it to wait for each
// other at the end of a loop's body. This header is included after the user's text. Its functions
// are weak, because several objects of a library may have them.
#pragma once

#include "execution.h"

#pragma GCC visibility push(hidden)

// The compiler calls functions with reserved names that C++ code may not declare: g++ has built-in
// declarations of them.
#define PYGPU_CALLED(name, Result, ...)                                          \
  extern "C" Result PyGPU_lockstep_##name(__VA_ARGS__) __asm__("__tsan_" #name); \
  PYGPU_UNTRACED __attribute__((used, weak)) Result PyGPU_lockstep_##name(__VA_ARGS__)
#define PYGPU_IGNORE(name) \
  PYGPU_CALLED(name, void, void*) {}
#define PYGPU_MEET(name)                                               \
  PYGPU_CALLED(name, void, void* P_address) {                          \
    PyGPU_host_meet(P_address, __builtin_return_address(0),            \
                    *static_cast<void**>(__builtin_frame_address(0))); \
  }
#define PYGPU_SIZES(macro, way) \
  macro(way##1) macro(way##2) macro(way##4) macro(way##8) macro(way##16)

// Jump instead of call: the return address that the machine sees is then in the basic block.
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
    ".weak __sanitizer_cov_trace_pc\n"
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
PYGPU_CALLED(memcpy, void*, void* P_to, const void* P_from, std::size_t P_n) {
  return __builtin_memcpy(P_to, P_from, P_n);
}
PYGPU_CALLED(memmove, void*, void* P_to, const void* P_from, std::size_t P_n) {
  return __builtin_memmove(P_to, P_from, P_n);
}
PYGPU_CALLED(memset, void*, void* P_to, int P_value, std::size_t P_n) {
  return __builtin_memset(P_to, P_value, P_n);
}

// The instrumentation replaces atomic operations with calls. These use the strongest memory order
// for all.
#define PYGPU_FETCH(T, bits, operation)                                                \
  PYGPU_CALLED(atomic##bits##_fetch_##operation, T, volatile T* P_a, T P_value, int) { \
    return __atomic_fetch_##operation(P_a, P_value, __ATOMIC_SEQ_CST);                 \
  }
#define PYGPU_COMPARE(T, bits, how, weak)                                                  \
  PYGPU_CALLED(atomic##bits##_compare_exchange_##how, int, volatile T* P_a, T* P_expected, \
               T P_value, int, int) {                                                      \
    return __atomic_compare_exchange_n(P_a, P_expected, P_value, weak, __ATOMIC_SEQ_CST,   \
                                       __ATOMIC_SEQ_CST);                                  \
  }
#define PYGPU_ATOMIC(T, bits)                                                                    \
  PYGPU_CALLED(atomic##bits##_load, T, const volatile T* P_a, int) {                             \
    return __atomic_load_n(P_a, __ATOMIC_SEQ_CST);                                               \
  }                                                                                              \
  PYGPU_CALLED(atomic##bits##_store, void, volatile T* P_a, T P_value, int) {                    \
    __atomic_store_n(P_a, P_value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                              \
  PYGPU_CALLED(atomic##bits##_exchange, T, volatile T* P_a, T P_value, int) {                    \
    return __atomic_exchange_n(P_a, P_value, __ATOMIC_SEQ_CST);                                  \
  }                                                                                              \
  PYGPU_CALLED(atomic##bits##_compare_exchange_val, T, volatile T* P_a, T P_expected, T P_value, \
               int, int) {                                                                       \
    __atomic_compare_exchange_n(P_a, &P_expected, P_value, false, __ATOMIC_SEQ_CST,              \
                                __ATOMIC_SEQ_CST);                                               \
    return P_expected;                                                                           \
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
