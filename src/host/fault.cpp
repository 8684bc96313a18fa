// Faults of kernels, caught as signals. A signal raised by a kernel ends the launch, not the
// process; any other signal goes to the program's handler.
//
// The handler runs on a separate stack, because the kernel may have overflowed its own. From there
// it switches to the stack of the launch. Code on this path must not allocate: the kernel may have
// failed inside malloc.
#include "fault.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

#include "interrupt.h"
#include "machine.h"
#include "per_thread.h"

namespace PyGPU::host {

__thread Fault* fault_of_thread = nullptr;
__thread const char* kernel_of_thread = nullptr;

namespace {

constexpr int caught_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Handlers of the program and its libraries, by signal. The first launch replaces `first_handlers`
// for good. Handlers installed later are replaced only during launches: they may call or restore
// the handlers before them, which are the machine's.
struct sigaction first_handlers[NSIG], later_handlers[NSIG];
bool is_replaced[NSIG];  // a handler in `later_handlers` is replaced now
bool any_is_replaced = false;
std::mutex handlers_lock;
bool was_launched = false;
int launches = 0;  // number of running launches

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
               info->si_code == FPE_INTDIV
                   ? "integer division by zero, or of the smallest integer by -1"
                   : "arithmetic fault");
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
  is_describing = true;
  describe_signal(number, info);
  is_describing = false;
  abandon_kernel();
}

bool is_own(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) &&
         (action.sa_sigaction == on_signal || action.sa_sigaction == on_interrupt_signal);
}

// Install one handler. Call with `handlers_lock` held.
void replace_handler(int number) {
  struct sigaction action = {}, before;
  // SA_NODEFER keeps the signal unblocked, because the handler may not return.
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (number == interrupt_signal) {
    // It runs on the kernel's own stack, so that the kernel can be suspended there.
    action.sa_sigaction = on_interrupt_signal;
    action.sa_flags |= SA_RESTART;
  } else {
    action.sa_sigaction = on_signal;
    action.sa_flags |= SA_ONSTACK;
  }
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, &before);
  if (is_own(before)) return;
  const bool is_first = !was_launched || before.sa_handler == SIG_DFL;
  (is_first ? first_handlers : later_handlers)[number] = before;
  is_replaced[number] = !is_first;
  any_is_replaced |= !is_first;
}

void replace_handlers() {
  for (int number : caught_signals) replace_handler(number);
  replace_handler(interrupt_signal);
  was_launched = true;
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

void forward_signal(int number, siginfo_t* info, void* context) {
  static __thread bool is_forwarding = false;
  // A later handler may raise the signal again, for the handler before it.
  const bool is_later = is_replaced[number] && !is_forwarding;
  struct sigaction& handler = (is_later ? later_handlers : first_handlers)[number];
  const struct sigaction before = handler;
  if (before.sa_flags & SA_RESETHAND) handler = {};
  const bool raised_by_code = info->si_code > 0;
  is_forwarding = true;
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else if (number != interrupt_signal && (before.sa_handler == SIG_DFL || raised_by_code)) {
    signal(number, SIG_DFL);
    // A signal raised by an instruction needs no raise(): the instruction runs again.
    if (!raised_by_code) raise(number);
  }
  is_forwarding = false;
}

void check_handlers() {
  const std::lock_guard<std::mutex> hold(handlers_lock);
  if (launches) replace_handlers();
}

void hold_handlers() {
  const std::lock_guard<std::mutex> hold(handlers_lock);
  ++launches;
  // Libraries that report crashes replace this handler with the others. Each query takes a tenth of
  // a launch. Other handlers replaced alone are found when a launch lasts: they return to the
  // fault.
  struct sigaction now;
  if (sigaction(SIGSEGV, nullptr, &now) == 0 && !is_own(now)) replace_handlers();
}

void release_handlers() {
  const std::lock_guard<std::mutex> hold(handlers_lock);
  if (--launches != 0 || !any_is_replaced) return;
  any_is_replaced = false;
  struct sigaction now;
  for (int number = 1; number < NSIG; ++number) {
    if (!is_replaced[number]) continue;
    is_replaced[number] = false;
    sigaction(number, &later_handlers[number], &now);
    // The program installed another handler during the launch.
    if (!is_own(now)) sigaction(number, &now, nullptr);
  }
}

bool set_signal_stack(stack_t& before) {
  before.ss_flags = SS_DISABLE;
  auto& stack = of_thread<std::unique_ptr<char, FreeSignalStack>>();
  if (!stack) {
    void* const mapped = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return false;
    stack.reset(static_cast<char*>(mapped));
    // A fault ends the process if its signal is blocked.
    sigset_t faults;
    sigemptyset(&faults);
    for (int number : caught_signals) sigaddset(&faults, number);
    sigaddset(&faults, interrupt_signal);
    pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  }
  stack_t own = {};
  own.ss_sp = stack.get();
  own.ss_size = signal_stack_bytes;
  // This fails in a handler of the program that runs on the signal stack, which then stays.
  if (sigaltstack(&own, &before) != 0 || before.ss_sp == own.ss_sp) before.ss_flags = SS_DISABLE;
  return true;
}

void restore_signal_stack(const stack_t& before) {
  if (!(before.ss_flags & SS_DISABLE)) sigaltstack(&before, nullptr);
}

void set_last_report(const char* text) {
  char* const report = of_thread<Fault>().text;
  *report = '\0';
  std::strncat(report, text, sizeof Fault::text - 1);
}

}  // namespace PyGPU::host

const char* cudaHostLastReport() { return PyGPU::host::of_thread<PyGPU::host::Fault>().text; }
