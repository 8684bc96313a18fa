// Signals that end or suspend long-running kernels. See interrupt.h.
#include "interrupt.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "PyGPU/vendor/host_modules.h"
#include "fault.h"
#include "loaded.h"
#include "machine.h"

namespace PyGPU::host {

__thread Running* running_of_thread = nullptr;

namespace {

// Callback that runs the program's pending signal handlers. It returns true if the launch must end.
std::atomic<bool (*)()> interrupt_check{nullptr};

Running& own_running() {
  static thread_local Running running;
  return running;
}

// State of the process's first thread, which handles Python's signals. The watcher thread reads it.
struct FirstThread {
  std::atomic<Running*> running{nullptr};
  std::atomic<std::uint64_t> launch{0};  // odd during a launch
  pthread_t thread;
};
FirstThread first_thread;

// Loop of the watcher thread: request an interrupt check from a launch that lasts. The launch
// itself only increments a counter.
void watch() {
  using namespace std::chrono_literals;
  std::uint64_t seen = 0;
  for (;;) {
    const std::uint64_t launch = first_thread.launch;
    const bool lasts = launch == seen && launch % 2;
    if (lasts) {
      first_thread.running.load()->must_check = true;
      signal_thread(first_thread.thread, *first_thread.running);
    }
    check_handlers();
    const bool idle = launch == seen && !lasts;
    seen = launch;
    std::this_thread::sleep_for(idle ? 500ms : 50ms);
  }
}

std::uintptr_t program_counter(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return std::uintptr_t(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return std::uintptr_t(machine.pc);
#else
  return 0;
#endif
}

}  // namespace

void on_interrupt_signal(int number, siginfo_t* info, void* context) {
  Running* const running = running_of_thread;
  if (info->si_code != SI_TKILL || info->si_pid != getpid() || !running) {
    forward_signal(number, info, context);
    return;
  }
  if (!in_kernel() || program_counter(context) - running->code >= running->code_bytes) return;
  const int error = errno;
  if (running->stopped) abandon_kernel();
  if (running->must_check && is_launcher(*running)) suspend_kernel();
  errno = error;
}

bool is_watched_thread() {
  static __thread signed char known = 0;  // 1: watched, -1: not watched, 0: not yet known
  if (known) return known > 0 && interrupt_check.load(std::memory_order_relaxed);
  if (!interrupt_check) return false;
  known = -1;
  if (syscall(SYS_gettid) != getpid()) return false;
  first_thread.running = &own_running();
  first_thread.thread = pthread_self();
  try {
    std::thread(watch).detach();
    known = 1;
  } catch (const std::system_error&) {  // no more threads: launches cannot be interrupted
  }
  return known > 0;
}

Running& begin_running(void (*threads)(void*)) {
  Running& running = own_running();
  running.threads.store(threads, std::memory_order_relaxed);
  running.stopped.store(false, std::memory_order_relaxed);
  running.must_check.store(false, std::memory_order_relaxed);
  running.code_bytes.store(0, std::memory_order_relaxed);
  if (is_watched_thread())
    first_thread.launch.store(first_thread.launch.load(std::memory_order_relaxed) + 1,
                              std::memory_order_release);
  return running;
}

void end_running() {
  if (is_watched_thread())
    first_thread.launch.store((first_thread.launch.load(std::memory_order_relaxed) + 1) & ~1ull,
                              std::memory_order_release);
}

bool is_launcher(const Running& running) { return &running == &own_running(); }

void find_code(Running& running) {
  if (running.code_bytes.load(std::memory_order_acquire)) return;
  const LoadedLibrary library =
      library_of(reinterpret_cast<std::uintptr_t>(running.threads.load()));
  running.code.store(library.code, std::memory_order_relaxed);
  running.code_bytes.store(library.code_bytes, std::memory_order_release);
}

void signal_thread(pthread_t thread, Running& running) {
  find_code(running);
  check_handlers();
  pthread_kill(thread, interrupt_signal);
}

bool asks_to_end() {
  const auto check = interrupt_check.load();
  return check && check();
}

bool is_interrupted(Running& running) {
  running.must_check = false;
  return asks_to_end();
}

}  // namespace PyGPU::host

cudaError_t cudaHostOnInterrupt(bool (*check)()) {
  return PyGPU::host::call([&] {
    PyGPU::host::interrupt_check = check;
    return cudaSuccess;
  });
}
