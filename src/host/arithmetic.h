// The floating-point environment of kernels: numbers are rounded to the nearest, subnormal ones
// are kept, whatever the thread that launches, or a kernel before, has set. The thread finds its
// own again, without the flags that a kernel has raised; NumPy, for one, warns of those.
#pragma once

#include <cfenv>

namespace PyGPU::host {

#ifdef __x86_64__

// std::fegetenv and std::fesetenv take as long as half of a launch: here is no more than what
// rules arithmetic, and the flags of SSE.
struct Arithmetic {
  unsigned sse;
  unsigned short x87;
};

inline void end_arithmetic(const Arithmetic& before) {
  __builtin_ia32_ldmxcsr(before.sse);
  asm volatile("fldcw %0" : : "m"(before.x87));
}

inline Arithmetic begin_arithmetic() {
  Arithmetic before;
  before.sse = __builtin_ia32_stmxcsr();
  asm volatile("fnstcw %0" : "=m"(before.x87));
  end_arithmetic({0x1f80, 0x37f});  // as every thread begins
  return before;
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
