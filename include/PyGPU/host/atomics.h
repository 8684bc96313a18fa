// CUDA's atomic functions. As on a GPU, they return the old value, and do not order other memory
// accesses.
#pragma once

#include "qualifiers.h"

namespace PyGPU {
namespace host {

// Type of parameters from which T is not deduced, so that atomicAdd(&a_double, 1) adds a double.
template <class T>
struct Same {
  using type = T;
};

template <class T, class Change>
inline T atomic_change(T* address, Change change) {
  T old, changed;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    changed = change(old);
  } while (!__atomic_compare_exchange(address, &old, &changed, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED));
  return old;
}

}  // namespace host
}  // namespace PyGPU

#define PYGPU_ATOMIC_NAME(name, expression)                                                \
  template <class T>                                                                       \
  inline T name(T* address, typename PyGPU::host::Same<T>::type value) {                   \
    return PyGPU::host::atomic_change(address, [=](T old) -> T { return T(expression); }); \
  }                                                                                        \
  template <class T>                                                                       \
  inline T name(volatile T* address, typename PyGPU::host::Same<T>::type value) {          \
    return name(const_cast<T*>(address), value);                                           \
  }
#define PYGPU_ATOMIC(name, expression)        \
  PYGPU_ATOMIC_NAME(name, expression)         \
  PYGPU_ATOMIC_NAME(name##_block, expression) \
  PYGPU_ATOMIC_NAME(name##_system, expression)
PYGPU_ATOMIC(atomicAdd, old + value)
PYGPU_ATOMIC(atomicSub, old - value)
PYGPU_ATOMIC(atomicMin, value < old ? value : old)
PYGPU_ATOMIC(atomicMax, old < value ? value : old)
PYGPU_ATOMIC(atomicAnd, old& value)
PYGPU_ATOMIC(atomicOr, old | value)
PYGPU_ATOMIC(atomicXor, old ^ value)
PYGPU_ATOMIC(atomicExch, ((void)old, value))
PYGPU_ATOMIC(atomicInc, old >= value ? T(0) : T(old + 1))
PYGPU_ATOMIC(atomicDec, old == 0 || old > value ? value : T(old - 1))
#undef PYGPU_ATOMIC
#undef PYGPU_ATOMIC_NAME

#define PYGPU_ATOMIC_CAS(name)                                                           \
  template <class T>                                                                     \
  inline T name(T* address, typename PyGPU::host::Same<T>::type expected,                \
                typename PyGPU::host::Same<T>::type replacement) {                       \
    __atomic_compare_exchange(address, &expected, &replacement, false, __ATOMIC_RELAXED, \
                              __ATOMIC_RELAXED);                                         \
    return expected;                                                                     \
  }                                                                                      \
  template <class T>                                                                     \
  inline T name(volatile T* address, typename PyGPU::host::Same<T>::type expected,       \
                typename PyGPU::host::Same<T>::type replacement) {                       \
    return name(const_cast<T*>(address), expected, replacement);                         \
  }
PYGPU_ATOMIC_CAS(atomicCAS)
PYGPU_ATOMIC_CAS(atomicCAS_block)
PYGPU_ATOMIC_CAS(atomicCAS_system)
#undef PYGPU_ATOMIC_CAS
