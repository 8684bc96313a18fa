// The threads of one block on one operating-system thread.
//
// `threads` runs the block's threads one after another on the stack that it is called on. A thread
// that meets a barrier leaves that stack where it is and joins `waiting`; a fresh fiber calls
// `threads` again, which goes on with the threads not yet started. Once all have started, each is
// finished or waiting, and those that wait go on in their order. Finished threads are not waited
// for, as on a GPU. A kernel without a barrier never switches stacks.
#include "fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "PyGPU/cuda_on_host.h"

// Said again at the definition: without it the library would not ask for static storage, and users'
// libraries that do could not be opened once this one is in use.
__thread __attribute__((tls_model("initial-exec"))) PyGPUHostThread PyGPU_host_thread = {};

namespace PyGPU::host {
namespace {

// As much as a GPU's thread may have of local memory, and some more. Only what is touched is real.
constexpr std::size_t stack_bytes = 1 << 20;
// Stacks are mapped many at a time: a process may have only so many mappings.
constexpr std::size_t stacks_in_slab = 64;
constexpr std::size_t slab_bytes = stacks_in_slab * stack_bytes;

struct Fiber {
  ucontext_t context;
  uint3 thread_index;  // of the thread that waits here
};

struct Unmap {
  void operator()(char* slab) const { munmap(slab, slab_bytes); }
};
using Slab = std::unique_ptr<char, Unmap>;

Slab map_slab() {
  void* slab = mmap(nullptr, slab_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab == MAP_FAILED) {
    std::fputs("PyGPU host: no memory for the stacks of waiting threads\n", stderr);
    std::abort();
  }
  return Slab(static_cast<char*>(slab));
}

class Block {
 public:
  void run(void (*threads)(void*), void* context) {
    threads_ = threads;
    context_ = context;
    running_ = &root_;
    threads(context);
    while (!ready_.empty() || !waiting_.empty()) switch_from(&root_);
  }

  void barrier() {
    Fiber* self = running_;
    self->thread_index = PyGPU_host_thread.thread_index;
    waiting_.push_back(self);
    if (PyGPU_host_thread.next < PyGPU_host_thread.count) {
      running_ = fresh();
      swapcontext(&self->context, &running_->context);
    } else {
      switch_from(self);
    }
    PyGPU_host_thread.thread_index = self->thread_index;
  }

 private:
  // Leave `self` for the next fiber that may go on; open the barrier if all are waiting at it.
  void switch_from(Fiber* self) {
    if (ready_.empty()) ready_.swap(waiting_);
    if (ready_.empty()) {
      running_ = &root_;
    } else {
      running_ = ready_.front();
      ready_.pop_front();
    }
    if (running_ != self) swapcontext(&self->context, &running_->context);
  }

  Fiber* fresh() {
    Fiber* fiber;
    if (idle_.empty()) {
      all_.push_back(std::make_unique<Fiber>());
      fiber = all_.back().get();
      getcontext(&fiber->context);
      fiber->context.uc_stack.ss_sp = new_stack();
      fiber->context.uc_stack.ss_size = stack_bytes;
      fiber->context.uc_link = nullptr;
      makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Block::enter), 0);
    } else {
      fiber = idle_.back();
      idle_.pop_back();
    }
    return fiber;
  }

  char* new_stack() {
    const std::size_t used = (all_.size() - 1) % stacks_in_slab;
    if (used == 0) slabs_.push_back(map_slab());
    return slabs_.back().get() + used * stack_bytes;
  }

  // A fiber's life: run threads until none is left to start, step aside, be used again.
  static void enter();

  void live() {
    for (;;) {
      Fiber* self = running_;
      threads_(context_);
      idle_.push_back(self);
      switch_from(self);
    }
  }

  void (*threads_)(void*) = nullptr;
  void* context_ = nullptr;
  Fiber root_;  // the stack that run() was called on
  Fiber* running_ = nullptr;
  std::deque<Fiber*> waiting_, ready_;
  std::vector<Fiber*> idle_;
  std::vector<std::unique_ptr<Fiber>> all_;  // kept for the thread's next block
  std::vector<Slab> slabs_;
};

Block& this_block() {
  static thread_local Block block;
  return block;
}

void Block::enter() { this_block().live(); }

}  // namespace

void run_block(void (*threads)(void*), void* context) { this_block().run(threads, context); }

}  // namespace PyGPU::host

void PyGPU_host_barrier() { PyGPU::host::this_block().barrier(); }
