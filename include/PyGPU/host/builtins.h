// CUDA's loads and stores with cache hints (plain ones here), clocks, sleep and trap functions.
#pragma once

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "atomics.h"
#include "execution.h"

#define PYGPU_LOAD(name)            \
  template <class T>                \
  inline T name(const T* address) { \
    return *address;                \
  }
PYGPU_LOAD(__ldg)
PYGPU_LOAD(__ldca)
PYGPU_LOAD(__ldcg)
PYGPU_LOAD(__ldcs)
PYGPU_LOAD(__ldcv)
PYGPU_LOAD(__ldlu)
#undef PYGPU_LOAD

#define PYGPU_STORE(name)                                                   \
  template <class T>                                                        \
  inline void name(T* address, typename PyGPU::host::Same<T>::type value) { \
    *address = value;                                                       \
  }
PYGPU_STORE(__stwb)
PYGPU_STORE(__stcg)
PYGPU_STORE(__stcs)
PYGPU_STORE(__stwt)
#undef PYGPU_STORE

inline long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}
inline long long wall_clock64() { return clock64(); }
inline unsigned long long __globaltimer() { return static_cast<unsigned long long>(clock64()); }
// clock() comes from the C library.

// Let the other threads of the block run; the duration is ignored.
inline void __nanosleep(unsigned) { PyGPU_host_yield(); }

#ifndef __clang__
#define __builtin_assume(...) ((__VA_ARGS__) ? void() : __builtin_unreachable())
#endif

[[noreturn]] inline void __trap() { __builtin_trap(); }
inline void __brkpt() {}
inline void __prof_trigger(int) {}

inline unsigned __isGlobal(const void*) { return 1; }
template <class T>
inline void __prefetch(const T* address) {
  __builtin_prefetch(address);
}
