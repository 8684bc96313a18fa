// Faults of kernels, caught as signals. A signal raised by a kernel ends the launch, not the
// process; any other signal goes to the previously installed handler.
//
// The handler runs on a separate stack, because the kernel may have overflowed its own. The handler
// returns to the kernel only after a division that overflowed. Otherwise it switches to the stack
// of the launch. Code on this path must not allocate: the kernel may have failed inside malloc.
#include "fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>

#include "division.h"
#include "interrupt.h"
#include "machine.h"

namespace PyGPU::host {

__thread Fault* fault_of_thread = nullptr;
__thread const char* kernel_of_thread = nullptr;

namespace {

// Stored as a pointer: thread-local storage of this library is static, and a process has little of
// that.
thread_local std::unique_ptr<Fault> last_report;

constexpr int caught_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction previous_handlers[NSIG];

constexpr std::size_t signal_stack_bytes = 64 << 10;
struct FreeSignalStack {
  void operator()(char* stack) const {
    stack_t now;
    if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == stack) {
      now.ss_flags = SS_DISABLE;
      sigaltstack(&now, nullptr);
    }
    munmap(stack, signal_stack_bytes);
  }
};

// Forward a signal to the previously installed handler. The default handler ends the process.
void forward_signal(int number, siginfo_t* info, void* context) {
  const struct sigaction& before = previous_handlers[number];
  const bool raised_by_code = info->si_code > 0;
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else if (before.sa_handler == SIG_DFL || raised_by_code) {
    signal(number, SIG_DFL);
    // A signal raised by an instruction needs no raise(): the instruction runs again.
    if (!raised_by_code) raise(number);
  }
}

void describe_signal(int number, const siginfo_t* info) {
  switch (number) {
    case SIGSEGV:
    case SIGBUS:
      if (is_stack_guard(info->si_addr)) describe(cudaErrorIllegalAddress, "%s", stack_overflow);
      // x86 does not report a non-canonical address.
      else if (info->si_code == SI_KERNEL)
        describe(cudaErrorIllegalAddress,
                 "access to a non-canonical address, which no allocation can have");
      else
        describe(cudaErrorIllegalAddress, "access to the illegal address %p", info->si_addr);
      break;
    case SIGFPE:
      describe(cudaErrorLaunchFailure, "%s",
               info->si_code == FPE_INTDIV ? "integer division by zero" : "arithmetic fault");
      break;
    case SIGABRT: describe(cudaErrorAssert, "an assertion failed, or abort() was called"); break;
    default: describe(cudaErrorLaunchFailure, "__trap() or an illegal instruction");
  }
}

__thread bool is_describing = false;  // a fault while describing is not the kernel's

void on_signal(int number, siginfo_t* info, void* context) {
  // Signals that this thread raised itself, by an instruction or by abort().
  const bool own = info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
  if (!own || is_describing || !in_kernel()) {
    if (own) report_overruns();
    return forward_signal(number, info, context);
  }
  if (number == SIGFPE && info->si_code == FPE_INTDIV && finish_overflowing_division(context))
    return;
  is_describing = true;
  describe_signal(number, info);
  is_describing = false;
  abandon_kernel();
}

void install_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // SA_NODEFER keeps the signal unblocked, because the handler does not return.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int number : caught_signals) sigaction(number, &action, &previous_handlers[number]);
  install_interrupt_handler();
}

}  // namespace

void describe(cudaError_t code, const char* format, ...) {
  Fault& fault = *fault_of_thread;
  fault.code = code;
  const uint3 block = value(PyGPU_host_thread.block_index);
  const uint3 thread = value(PyGPU_host_thread.thread_index);
  const int head =
      std::snprintf(fault.text, sizeof fault.text / 2,
                    "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): ", kernel_of_thread,
                    block.x, block.y, block.z, thread.x, thread.y, thread.z);
  const std::size_t used = std::min(std::size_t(head), sizeof fault.text / 2 - 1);
  va_list values;
  va_start(values, format);
  std::vsnprintf(fault.text + used, sizeof fault.text - used, format, values);
  va_end(values);
}

bool catch_faults() {
  static std::once_flag installed;
  std::call_once(installed, install_handlers);
  static thread_local std::unique_ptr<char, FreeSignalStack> own_stack;
  static thread_local bool ready = false;
  if (ready) return true;
  stack_t now;
  if (sigaltstack(nullptr, &now) == 0 && !(now.ss_flags & SS_DISABLE)) return ready = true;
  void* stack =
      mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return false;
  own_stack.reset(static_cast<char*>(stack));
  now = {};
  now.ss_sp = stack;
  now.ss_size = signal_stack_bytes;
  return ready = sigaltstack(&now, nullptr) == 0;
}

void set_last_report(const Fault* fault) {
  if (fault) {
    last_report = std::make_unique<Fault>(*fault);
  } else if (last_report) {
    last_report.reset();
  }
}

}  // namespace PyGPU::host

const char* cudaHostLastReport() {
  return PyGPU::host::last_report ? PyGPU::host::last_report->text : "";
}
