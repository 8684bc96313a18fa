// Kernel launches of the host machine: the blocks of a grid are distributed over the cores.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "PyGPU/cuda_on_host.h"
#include "arithmetic.h"
#include "check_access.h"
#include "children.h"
#include "fault.h"
#include "fiber.h"
#include "interrupt.h"
#include "machine.h"

namespace PyGPU::host {
namespace {

struct Grid;
__thread Grid* grid_of_thread = nullptr;  // the grid whose kernel this thread runs

struct Grid {
  dim3 grid, block;
  std::size_t shared_bytes;
  void (*threads)(void*);
  void* context;
  const char* kernel;
  Running& running;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> launcher_is_done{false};  // the launcher has run its last block
  std::mutex lock{};                          // guards the fault and the children
  Fault fault{};
  std::vector<Child> children{};

  std::uint64_t count() const { return std::uint64_t(grid.x) * grid.y * grid.z; }

  // Stop the grid with a fault: no further block begins. Running blocks must be interrupted by the
  // caller.
  void stop(const Fault& why) {
    std::lock_guard<std::mutex> hold(lock);
    if (!running.stopped) fault = why;
    running.stopped = true;
  }

  // Return a fault that concerns the whole kernel, not one thread.
  Fault fault_of_kernel(cudaError_t code, const char* what) const {
    Fault why{code, ""};
    std::snprintf(why.text, sizeof why.text, "kernel %s: %s", kernel, what);
    return why;
  }

  // Return true if the next block may begin.
  bool may_continue() {
    if (running.is_uninterrupted()) return true;
    if (!running.stopped && is_launcher(running) && is_interrupted(running))
      stop(fault_of_kernel(cudaErrorLaunchFailure, "interrupted"));
    return !running.stopped;
  }

  // Run blocks until none is left or one has failed. Several threads call this for the same grid.
  void work(std::uint64_t chunk) {
    // Errors inside the kernel must not change the caller's last error.
    const ThreadErrors before = exchange_errors({});
    const Arithmetic arithmetic = begin_arithmetic();
    stack_t signal_stack;
    try {
      if (!set_signal_stack(signal_stack)) throw std::bad_alloc();
      take_blocks(chunk);
    } catch (const std::bad_alloc&) {
      // Report the kernel only: it is random which core runs out of memory first.
      stop(fault_of_kernel(cudaErrorMemoryAllocation, no_memory_for_threads));
    } catch (const std::exception& error) {  // nothing may leave a thread
      stop(fault_of_kernel(cudaErrorLaunchFailure, error.what()));
    }
    restore_signal_stack(signal_stack);
    end_arithmetic(arithmetic);
    fault_of_thread = nullptr;
    running_of_thread = nullptr;
    grid_of_thread = nullptr;
    (void)exchange_errors(before);
  }

  void take_blocks(std::uint64_t chunk) {
    std::unique_ptr<void, void (*)(void*)> shared(
        shared_bytes ? std::aligned_alloc(64, (shared_bytes + 63) / 64 * 64) : nullptr, std::free);
    Fault own;
    if (shared_bytes && !shared) throw std::bad_alloc();
    begin_access_checks(context, shared.get(), shared_bytes);
    fault_of_thread = &own;
    kernel_of_thread = kernel;
    running_of_thread = &running;
    grid_of_thread = this;
    PyGPUHostThread& self = PyGPU_host_thread;
    const PyGPUHostThread before = self;
    self.block_dim = index(block);
    self.grid_dim = index(grid);
    self.row_end = index(block.x);
    self.warp_size = index(unsigned(Machine::get().warp_size));
    self.dynamic_shared = shared.get();
    for (std::uint64_t first; may_continue() && (first = next.fetch_add(chunk)) < count();) {
      const std::uint64_t last = std::min(count(), first + chunk);
      for (std::uint64_t number = first; number < last && may_continue(); ++number) {
        self.block_index = {index(unsigned(number % grid.x)),
                            index(unsigned(number / grid.x % grid.y)),
                            index(unsigned(number / grid.x / grid.y))};
        self.next_x = self.row_y = self.row_z = index(0);
        if (!run_block(threads, context)) stop(own);
      }
    }
    self = before;
  }
};

// Worker threads: one for each core except the caller's. They start at the first launch that needs
// them.
class Workers {
 public:
  static Workers& get() {
    static Workers& workers = *new Workers;
    return workers;
  }

  void run(Grid& grid) {
    const int cores = Machine::get().cores;
    std::unique_lock<std::mutex> launch_turn(launch_lock_, std::try_to_lock);
    // If another thread's launch uses the workers, run this grid on the calling thread alone.
    if (cores == 1 || grid.count() == 1 || !launch_turn) return grid.work(grid.count());
    const std::uint64_t chunk = std::max<std::uint64_t>(1, grid.count() / (8u * unsigned(cores)));
    {
      std::lock_guard<std::mutex> hold(lock_);
      start(std::size_t(cores - 1));
      grid_ = &grid;
      launcher_ = pthread_self();
      chunk_ = chunk;
      busy_ = workers_.size();
      for (Worker& worker : workers_) worker.busy = true;
      ++round_;
    }
    wake_.notify_all();
    grid.work(chunk);
    grid.launcher_is_done = true;
    await(grid);
  }

 private:
  struct Worker {
    pthread_t thread;
    bool busy;
  };

  // Start workers until there are `count`. Call with the lock held.
  void start(std::size_t count) {
    workers_.reserve(count);
    try {
      while (workers_.size() < count) {
        std::thread worker(&Workers::worker_loop, this, workers_.size());
        workers_.push_back({worker.native_handle(), false});
        worker.detach();
      }
    } catch (const std::system_error&) {  // no more threads: use the workers that started
    }
  }

  // Wait for the workers after the launcher has run its last block. If the grid was stopped,
  // workers whose kernel still runs are signaled until it ends.
  void await(Grid& grid) {
    using namespace std::chrono_literals;
    std::unique_lock<std::mutex> hold(lock_);
    while (busy_ != 0) {
      done_.wait_for(hold, grid.running.stopped ? 1ms : 50ms);
      if (!grid.running.is_uninterrupted()) {
        hold.unlock();
        const bool may_continue = grid.may_continue();
        hold.lock();
        if (may_continue) continue;
        for (const Worker& worker : workers_)
          if (worker.busy) signal_thread(worker.thread, grid.running);
      }
    }
  }

  void worker_loop(std::size_t self) {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> hold(lock_);
    for (;;) {
      wake_.wait(hold, [&] { return round_ != seen; });
      seen = round_;
      Grid& grid = *grid_;
      const pthread_t launcher = launcher_;
      const std::uint64_t chunk = chunk_;
      hold.unlock();
      grid.work(chunk);
      while (grid.running.stopped && !grid.launcher_is_done) {
        signal_thread(launcher, grid.running);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (grid.running.stopped) free_stacks();
      hold.lock();
      workers_[self].busy = false;
      if (--busy_ == 0 || grid.running.stopped) done_.notify_one();
    }
  }

  std::mutex launch_lock_, lock_;
  std::condition_variable wake_, done_;
  std::vector<Worker> workers_;
  Grid* grid_ = nullptr;
  pthread_t launcher_{};
  std::uint64_t chunk_ = 1, round_ = 0;
  std::size_t busy_ = 0;
};

cudaError_t check(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const auto outside = [](unsigned value, unsigned most) { return value == 0 || value > most; };
  if (outside(grid.x, 0x7fffffff) || outside(grid.y, 65535) || outside(grid.z, 65535) ||
      outside(block.x, 1024) || outside(block.y, 1024) || outside(block.z, 64) ||
      std::uint64_t(block.x) * block.y * block.z > unsigned(Machine::max_threads_per_block))
    return cudaErrorInvalidConfiguration;
  return shared_bytes > Machine::max_shared_bytes_optin ? cudaErrorInvalidValue : cudaSuccess;
}

// Run the children of a grid, and their children. Each child runs with all of its descendants
// before the next child, which is the order of a stream. The first fault becomes the parent's.
void run_children(Grid& parent) try {
  std::vector<Child> waiting;  // in reverse order: the next child is last
  const auto add = [&](std::vector<Child>& children) {
    std::stable_partition(children.begin(), children.end(),
                          [](const Child& child) { return !child.is_tail; });
    waiting.insert(waiting.end(), std::make_move_iterator(children.rbegin()),
                   std::make_move_iterator(children.rend()));
  };
  add(parent.children);
  while (!waiting.empty() && !parent.fault.code) {
    Child child = std::move(waiting.back());
    waiting.pop_back();
    if (child.copy) {
      if (const cudaError_t error = child.copy())
        parent.stop(
            parent.fault_of_kernel(error, "a copy or fill that the kernel enqueued is invalid"));
      continue;
    }
    Grid grid{child.grid,           child.block,  child.shared_bytes, child.threads,
              child.context.data(), child.kernel, parent.running};
    parent.running.threads = child.threads;
    Workers::get().run(grid);
    if (grid.fault.code) parent.fault = grid.fault;
    add(grid.children);
  }
} catch (const std::bad_alloc&) {
  parent.stop(parent.fault_of_kernel(cudaErrorMemoryAllocation,
                                     "out of memory for the launches that the kernel enqueued"));
}

cudaError_t begin_launch(dim3 grid, dim3 block, std::size_t shared_bytes) {
  // A kernel cannot call this runtime's launch: the nested launch would overwrite this thread's
  // state.
  if (has_kernel()) return cudaErrorNotSupported;
  set_last_report("");
  return check(grid, block, shared_bytes);
}

cudaError_t run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, void (*threads)(void*),
                     void* context, const char* kernel) {
  Grid work{grid, block, shared_bytes, threads, context, kernel, begin_running(threads)};
  hold_handlers();
  {
    const std::unique_ptr<void, ReleaseHandlers> held(&work);
    Workers::get().run(work);
    run_children(work);
  }
  end_running();
  // Flush the kernel's output, so that it precedes the program's next output. Skip the flush if
  // stdout is locked: a kernel that failed while printing still holds the lock.
  if (ftrylockfile(stdout) == 0) {
    fflush_unlocked(stdout);
    funlockfile(stdout);
  }
  if (!work.fault.code) return cudaSuccess;
  set_last_report(work.fault.text);
  free_stacks();
  // Without memory for its threads the kernel did not start, which a GPU reports at the launch.
  return work.fault.code == cudaErrorMemoryAllocation ? work.fault.code
                                                      : set_fault(work.fault.code);
}

}  // namespace

void enqueue_child(Child child) {
  std::lock_guard<std::mutex> hold(grid_of_thread->lock);
  grid_of_thread->children.push_back(std::move(child));
}

cudaError_t launch_owned(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                         void (*threads)(void*), std::shared_ptr<void> context,
                         const char* kernel) {
  if (const cudaError_t error = begin_launch(grid, block, shared_bytes)) return error;
  return enqueue(stream, [=] {
    set_last_report("");
    return run_grid(grid, block, shared_bytes, threads, context.get(), kernel);
  });
}

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaHostLaunch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                           void (*threads)(void*), void* context, const char* kernel,
                           std::size_t context_bytes) {
  return call([&] {
    if (const cudaError_t error = begin_launch(grid, block, shared_bytes)) return error;
    if (!Machine::get().can_launch_on(stream)) return cudaErrorInvalidResourceHandle;
    const char* const name = kernel ? kernel : "";
    if (is_captured(stream)) {
      const std::shared_ptr<ParameterLine[]> copy(new ParameterLine[(context_bytes + 63) / 64]);
      std::memcpy(copy.get(), context, context_bytes);
      return launch_owned(grid, block, shared_bytes, stream, threads, copy, name);
    }
    return enqueue(stream,
                   [&] { return run_grid(grid, block, shared_bytes, threads, context, name); });
  });
}

cudaError_t cudaHostLaunchChild(dim3 grid, dim3 block, std::size_t shared_bytes,
                                cudaStream_t stream, void (*threads)(void*), const void* context,
                                std::size_t context_bytes, const char* kernel) {
  return call([&] {
    if (!in_kernel()) return cudaErrorNotSupported;
    cudaError_t error = check(grid, block, shared_bytes);
    if (!error && !Machine::get().is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (error) {  // the kernel asks for this error with cudaGetLastError, as on a GPU
      if (Machine::get().strict) {
        describe(
            error,
            "invalid launch of child kernel %s: check its grid, block, shared memory and stream",
            kernel);
        abandon_kernel();
      }
      return error;
    }
    Child child;
    child.grid = grid;
    child.block = block;
    child.shared_bytes = shared_bytes;
    child.threads = threads;
    const std::size_t readable = Machine::get().strict ? max_parameter_bytes : 0;
    child.context.resize((std::max(context_bytes, readable) + 63) / 64);
    std::memcpy(child.context.data(), context, context_bytes);
    child.kernel = kernel;
    child.is_tail = stream == cudaStreamTailLaunch;
    enqueue_child(std::move(child));
    return cudaSuccess;
  });
}
