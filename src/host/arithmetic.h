// The floating-point environment of kernels: numbers are rounded to the nearest, subnormal ones
// are kept, whatever the thread that launches, or a kernel before, has set. The thread finds its
// own again, without the flags that a kernel has raised; NumPy, for one, warns of those.
#pragma once

#include <cfenv>

namespace PyGPU::host {

#ifdef __x86_64__

// std::fegetenv and std::fesetenv take as long as half of a launch. The x87's flags, too, take long
// to set: that is done where there are new ones.
struct Arithmetic {
  unsigned sse;
  unsigned short control, status;  // of the x87
};

inline Arithmetic begin_arithmetic() {
  Arithmetic before;
  before.sse = __builtin_ia32_stmxcsr();
  asm volatile("fnstcw %0" : "=m"(before.control));
  asm volatile("fnstsw %0" : "=a"(before.status));
  __builtin_ia32_ldmxcsr(0x1f80);  // as every thread begins
  const unsigned short control = 0x37f;
  asm volatile("fldcw %0" : : "m"(control));
  return before;
}

inline void end_arithmetic(const Arithmetic& before) {
  constexpr unsigned flags = 0x3f, they_count = 0x8080;
  __builtin_ia32_ldmxcsr(before.sse);
  unsigned short status;
  asm volatile("fnstsw %0" : "=a"(status));
  if (status & ~before.status & flags) {  // a kernel of long doubles
    struct {
      unsigned control, status, others[5];
    } all;
    asm volatile("fnstenv %0" : "=m"(all));
    all.status = (all.status & ~(flags | they_count)) | (before.status & (flags | they_count));
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
