// Execution of one block's threads on one operating-system thread.
//
// `threads`, the kernel's entry point, runs the block's threads one after another on a fiber. A
// thread that waits for others keeps its stack. Ready threads continue first; then a new fiber
// calls `threads` again, which starts the remaining threads.
//
// Once all threads have started, each one is finished, waiting or ready. rendezvous.cpp decides
// which waits are over. As on a GPU, no thread waits for a finished thread. A kernel in which no
// thread waits stays on one stack.
#include "fiber.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "fault.h"
#include "interrupt.h"
#include "per_thread.h"
#include "rendezvous.h"
#include "stacks.h"

// PyGPU_host_thread, and names of its members for sources compiled with PYGPU_NAMED_INDICES. One
// statement defines all of them, because link-time optimization separates statements from each
// other. It is in a function, because clang++ takes symbols of other statements for plain data.
static_assert(offsetof(PyGPUHostThread, thread_index) == 0 && sizeof(uint3) == 12);
static_assert(offsetof(PyGPUHostThread, block_index) == 12);
static_assert(offsetof(PyGPUHostThread, block_dim) == 24);
static_assert(offsetof(PyGPUHostThread, grid_dim) == 36);
static_assert(sizeof(PyGPUHostThread) == 80 && alignof(PyGPUHostThread) <= 16);
#define SYMBOL(name, nbytes) \
  ".globl " name "\n.type " name ", @tls_object\n.size " name ", " #nbytes "\n" name ":\n"
__attribute__((used, noinline)) static void define_thread() {
  __asm__(".pushsection .tbss,\"awT\",@nobits\n.balign 16\n"  //
          SYMBOL("PyGPU_host_thread", 80)                     //
          SYMBOL("PyGPU_host_thread_index", 12) ".zero 12\n"  //
          SYMBOL("PyGPU_host_block_index", 12) ".zero 12\n"   //
          SYMBOL("PyGPU_host_block_dim", 12) ".zero 12\n"     //
          SYMBOL("PyGPU_host_grid_dim", 12) ".zero 44\n.popsection\n");
}
#undef SYMBOL

namespace PyGPU::host {
namespace {

bool has_unstarted_thread() {
  return PyGPU_host_thread.next_x < PyGPU_host_thread.row_end || PyGPU_host_next_row();
}

// The fibers of one operating-system thread. They run one block at a time.
class Block {
 public:
  // Run all threads of a block. Return false after a fault.
  bool run(void (*threads)(void*), void* context) {
    threads_ = threads;
    context_ = context;
    rendezvous_.begin();
    failed_ = false;
    ++block_number_;
    running_ = next_idle();
    switch_stacks(&launch_stack_, running_->stack);
    while (suspended_stack_) {
      if ((failed_ = is_interrupted(*running_of_thread))) {
        describe(cudaErrorLaunchFailure, "interrupted");
        break;
      }
      switch_stacks(&launch_stack_, std::exchange(suspended_stack_, nullptr));
    }
    suspended_stack_ = nullptr;
    running_ = nullptr;
    return !failed_;
  }

  // Return true if kernel code runs, false on the launch's own stack.
  bool runs() const { return running_ && !suspended_stack_; }
  bool has_kernel() const { return running_; }
  bool is_stack(const void* address) const { return stacks_.holds(address); }
  bool is_guard(const void* address) const { return stacks_.is_guard(address); }

  // Suspend the running thread until its wait is over.
  void wait(Wait& wait) {
    Fiber* const self = save_running();
    self->wait = &wait;
    rendezvous_.arrive(self);
    switch_from(self);
    PyGPU_host_thread.thread_index = self->thread_index;
  }

  // Let the other threads of the block run first.
  void yield() {
    handle_requests();
    Fiber* const self = save_running();
    rendezvous_.make_ready(self);
    run_others(self);
  }

  // Wait until the other active lanes of the warp arrive. The other threads run first, because
  // threads may wait for each other through values that they read and write.
  void wait_for_warp(const void* address, CodePosition position) {
    handle_requests();
    Fiber* const self = save_running();
    find_code(*running_of_thread);
    const CallChain chain(position, running_of_thread->code, running_of_thread->code_bytes);
    Wait wait{Wait::converged, 0, "volatile access", 0, false, nullptr, address, nullptr, 0, 0, 0,
              &chain};
    self->wait = &wait;
    rendezvous_.arrive(self);
    if (++lockstep_waits_ % 1024 == 0)
      rendezvous_.release_settled();  // threads that finished since may have settled a warp
    run_others(self);
  }

  // Record a new basic block. At the end of a loop's body, wait for the warp.
  void enter_basic_block(CodePosition position) {
    Fiber& self = *running_;
    const FiberThread thread{block_number_, thread_rank()};
    if (self.path_of != thread) {
      self.path.clear();
      self.path_of = thread;
    }
    if (const std::uintptr_t last = self.path.enter_basic_block(position)) {
      position.address = last;
      wait_for_warp(nullptr, position);
    }
  }

  // Switch to the launch, which decides whether the kernel continues.
  void suspend() { switch_stacks(&suspended_stack_, launch_stack_); }

  // Abandon all fibers and return to the launch.
  [[noreturn]] void abandon() {
    failed_ = true;
    StackPointer dropped;
    switch_stacks(&dropped, launch_stack_);
    __builtin_unreachable();
  }

 private:
  // Handle requests to this launch: abandon the kernel if the launch was stopped, suspend it for an
  // interrupt check.
  void handle_requests() {
    if (running_of_thread->stopped) abandon();
    if (running_of_thread->must_check && is_launcher(*running_of_thread)) suspend();
  }

  // Save the state of the running thread in its fiber, before a switch.
  Fiber* save_running() {
    check_stack(*running_);
    running_->thread_index = PyGPU_host_thread.thread_index;
    running_->rank = thread_rank();
    return running_;
  }

  // Run other threads until `self` is switched back to. Unstarted threads come first.
  void run_others(Fiber* self) {
    if (has_unstarted_thread())
      switch_to(self, next_idle());
    else
      switch_from(self);
    PyGPU_host_thread.thread_index = self->thread_index;
  }

  // End the kernel if a thread overflowed a stack without a guard page. Such a thread wrote to
  // other stacks, so no thread of the block may continue.
  void check_stack(const Fiber& self) {
    if (!self.zone || !Stacks::is_overrun(self.zone)) return;
    describe(cudaErrorIllegalAddress, "%s", stack_overflow);
    abandon();
  }

  void switch_to(Fiber* self, Fiber* next) {
    running_ = next;
    if (next != self) switch_stacks(&self->stack, next->stack);
  }

  // Switch from `self` to a ready thread, or to a fiber that starts the remaining threads.
  void switch_from(Fiber* self) {
    for (;;) {
      if (Fiber* next = rendezvous_.take_ready()) return switch_to(self, next);
      if (has_unstarted_thread()) return switch_to(self, next_idle());
      if (rendezvous_.is_empty())
        // The switch returns when the idle fiber is used again.
        switch_stacks(&self->stack, launch_stack_);
      else if (!rendezvous_.resolve())
        abandon();
      else
        continue;
      return;
    }
  }

  Fiber* next_idle() {
    if (idle_.empty()) return new_fiber_or_fault();
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }

  // Create a fiber. Out of memory is a fault of the kernel if one runs, otherwise an exception.
  __attribute__((noinline)) Fiber* new_fiber_or_fault() {
    try {
      return new_fiber();
    } catch (const std::bad_alloc&) {
      if (!running_) throw;
      describe(cudaErrorMemoryAllocation, "%s", no_memory_for_threads);
    }
    abandon();
  }

  Fiber* new_fiber() {
    auto fiber = std::make_unique<Fiber>();
    if (fibers_.size() == fibers_.capacity()) fibers_.reserve(2 * fibers_.size() + 1);
    idle_.reserve(fibers_.capacity());  // so that ending a thread allocates nothing
    const Stacks::Stack stack = stacks_.take();
    fiber->zone = stack.zone;
    fiber->stack = fresh_stack(stack.top, &Block::enter);
    fibers_.push_back(std::move(fiber));
    return fibers_.back().get();
  }

  // Entry point of a fiber. It runs threads until all have started, then is idle until it is used
  // again.
  static void enter();

  void fiber_loop() {
    for (;;) {
      try {
        threads_(context_);
      } catch (const std::exception& exception) {
        describe(cudaErrorLaunchFailure, "a C++ exception left the kernel: %s", exception.what());
        failed_ = true;
      } catch (...) {
        describe(cudaErrorLaunchFailure, "a C++ exception left the kernel");
        failed_ = true;
      }
      if (failed_) abandon();
      Fiber* const self = running_;
      check_stack(*self);
      idle_.push_back(self);
      switch_from(self);
    }
  }

  void (*threads_)(void*) = nullptr;
  void* context_ = nullptr;
  bool failed_ = false;
  unsigned lockstep_waits_ = 0;
  std::uint64_t block_number_ = 0;          // number of the current block, counted from 1
  StackPointer launch_stack_ = nullptr;     // the stack that run() was called on
  StackPointer suspended_stack_ = nullptr;  // stack of a kernel suspended by suspend()
  Fiber* running_ = nullptr;
  Rendezvous rendezvous_;
  std::vector<Fiber*> idle_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // reused for this thread's next block
  Stacks stacks_;
};

Block& own_block() { return *object_of_thread<Block>; }

void Block::enter() { own_block().fiber_loop(); }

}  // namespace

bool run_block(void (*threads)(void*), void* context) {
  return of_thread<Block>().run(threads, context);
}

void free_stacks() { delete std::exchange(object_of_thread<Block>, nullptr); }

bool has_kernel() { return object_of_thread<Block> && own_block().has_kernel(); }
void suspend_kernel() { own_block().suspend(); }
bool in_kernel() { return object_of_thread<Block> && own_block().runs(); }
bool is_stack_guard(const void* address) { return own_block().is_guard(address); }
bool is_kernel_stack(const void* address) { return own_block().is_stack(address); }
void abandon_kernel() { own_block().abandon(); }

}  // namespace PyGPU::host

void PyGPU_host_wait(PyGPU::host::Wait* wait) {
  if (PyGPU_host_thread.next_x == PyGPU::host::lone)
    PyGPU_host_fail(
        "a thread waits for other threads, but the kernel was compiled as one whose threads never "
        "wait");
  if (PyGPU::host::in_kernel()) PyGPU::host::own_block().wait(*wait);
}

void PyGPU_host_barrier(int line) {
  using PyGPU::host::Wait;
  Wait wait{Wait::block, line, "__syncthreads", 0, false, nullptr, nullptr, nullptr, 0, 0, 0};
  PyGPU_host_wait(&wait);
}

void PyGPU_host_yield() {
  if (PyGPU::host::in_kernel()) PyGPU::host::own_block().yield();
}

void PyGPU_host_meet(const void* address, const void* position, const void* frame) {
  // Ignore local variables: no other lane accesses them.
  if (!PyGPU::host::in_kernel() || PyGPU::host::is_kernel_stack(address)) return;
  PyGPU::host::own_block().wait_for_warp(address, {position, frame});
}

void PyGPU_host_begin_block() {
  if (!PyGPU::host::in_kernel()) return;
  PyGPU::host::own_block().enter_basic_block(
      {__builtin_return_address(0), *static_cast<void**>(__builtin_frame_address(0))});
}

void PyGPU_host_fail(const char* text) {
  if (!PyGPU::host::in_kernel()) return;
  PyGPU::host::describe(cudaErrorLaunchFailure, "%s", text);
  PyGPU::host::abandon_kernel();
}

bool PyGPU_host_next_row() {
  using PyGPU::host::index;
  PyGPUHostThread& self = PyGPU_host_thread;
  const unsigned y = unsigned(self.row_y) + 1, z = unsigned(self.row_z) + 1;
  if (y < unsigned(self.block_dim.y)) {
    self.row_y = index(y);
  } else if (z < unsigned(self.block_dim.z)) {
    self.row_y = index(0);
    self.row_z = index(z);
  } else {
    return false;
  }
  self.next_x = index(0);
  return true;
}
