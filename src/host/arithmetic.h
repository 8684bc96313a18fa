// The floating-point environment of kernels: round to nearest, keep subnormal numbers.
//
// Each launch sets this environment, whatever the launching thread or an earlier kernel has set.
// The launch then restores the thread's own environment, without the exception flags that the
// kernel raised: NumPy, for example, warns about those flags.
#pragma once

#include <cfenv>

namespace PyGPU::host {

#ifdef __x86_64__

// Direct instructions, because std::fegetenv and std::fesetenv together take half the time of a
// launch. Setting the x87 flags is slow too, so they are restored only if the kernel raised new
// ones.
struct Arithmetic {
  unsigned sse;
  unsigned short control, status;  // control and status words of the x87 unit
};

inline Arithmetic begin_arithmetic() {
  Arithmetic before;
  before.sse = __builtin_ia32_stmxcsr();
  asm volatile("fnstcw %0" : "=m"(before.control));
  asm volatile("fnstsw %0" : "=a"(before.status));
  __builtin_ia32_ldmxcsr(0x1f80);  // the default at thread start
  const unsigned short control = 0x37f;
  asm volatile("fldcw %0" : : "m"(control));
  return before;
}

inline void end_arithmetic(const Arithmetic& before) {
  // Bits of the x87 status word: exception flags; error summary and busy.
  constexpr unsigned flags = 0x3f, summary_bits = 0x8080;
  __builtin_ia32_ldmxcsr(before.sse);
  unsigned short status;
  asm volatile("fnstsw %0" : "=a"(status));
  if (status & ~before.status & flags) {  // the kernel used long double
    struct {
      unsigned control, status, others[5];
    } all;
    asm volatile("fnstenv %0" : "=m"(all));
    all.status = (all.status & ~(flags | summary_bits)) | (before.status & (flags | summary_bits));
    asm volatile("fldenv %0" : : "m"(all));
  }
  asm volatile("fldcw %0" : : "m"(before.control));
}

#else

using Arithmetic = std::fenv_t;

inline Arithmetic begin_arithmetic() {
  Arithmetic before;
  std::fegetenv(&before);
  std::fesetenv(FE_DFL_ENV);
  return before;
}

inline void end_arithmetic(const Arithmetic& before) { std::fesetenv(&before); }

#endif

}  // namespace PyGPU::host
