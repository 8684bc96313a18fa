// Signed division whose result overflows, INT_MIN / -1.
#pragma once

namespace PyGPU::host {

// Finish a division that raised SIGFPE for its overflow: the quotient is the dividend, the
// remainder is 0, as on a GPU. `context` is the handler's ucontext_t. Return false if the divisor
// is zero, or if the instruction is not understood.
bool finish_overflowing_division(void* context);

}  // namespace PyGPU::host
