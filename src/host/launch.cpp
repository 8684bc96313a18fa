// Kernel launches on the host machine: the blocks of a grid, distributed over the cores.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>

#include "PyGPU/cuda_on_host.h"
#include "check_access.h"
#include "fault.h"
#include "fiber.h"
#include "machine.h"

namespace PyGPU::host {
namespace {

struct Grid {
  dim3 grid, block;
  std::size_t shared_bytes;
  void (*threads)(void*);
  void* context;
  const char* kernel;
  std::atomic<std::uint64_t> next{0};
  std::mutex lock;  // of the fault
  Fault fault;

  std::uint64_t count() const { return std::uint64_t(grid.x) * grid.y * grid.z; }

  // Take blocks until none is left or one has failed. Several threads do this at once.
  void work(std::uint64_t chunk) {
    std::unique_ptr<void, void (*)(void*)> shared(
        shared_bytes ? std::aligned_alloc(64, (shared_bytes + 63) / 64 * 64) : nullptr, std::free);
    Fault own;
    catch_faults();
    begin_access_checks(context, shared.get(), shared_bytes);
    fault_of_thread = &own;
    kernel_of_thread = kernel;
    PyGPUHostThread& self = PyGPU_host_thread;
    const PyGPUHostThread before = self;
    self.block_dim = index(block);
    self.grid_dim = index(grid);
    self.row_end = index(block.x);
    self.warp_size = index(unsigned(Machine::get().warp_size));
    self.dynamic_shared = shared.get();
    for (std::uint64_t first; (first = next.fetch_add(chunk)) < count();) {
      const std::uint64_t last = std::min(count(), first + chunk);
      for (std::uint64_t number = first; number < last; ++number) {
        self.block_index = {index(unsigned(number % grid.x)),
                            index(unsigned(number / grid.x % grid.y)),
                            index(unsigned(number / grid.x / grid.y))};
        self.next_x = self.row_y = self.row_z = index(0);
        if (!run_block(threads, context)) {
          next = count();
          std::lock_guard<std::mutex> hold(lock);
          if (!fault.code) fault = own;
          break;
        }
      }
    }
    self = before;
    fault_of_thread = nullptr;
  }
};

// The machine's cores besides the caller's own. Started at the first launch that needs them.
class Workers {
 public:
  static Workers& get() {
    static Workers& workers = *new Workers;
    return workers;
  }

  void run(Grid& grid) {
    const int cores = Machine::get().cores;
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    // While another thread's launch has the workers, this one runs its blocks alone.
    if (cores == 1 || grid.count() == 1 || !turn) return grid.work(grid.count());
    const std::uint64_t chunk = std::max<std::uint64_t>(1, grid.count() / (8u * unsigned(cores)));
    {
      std::lock_guard<std::mutex> hold(lock_);
      try {
        for (; started_ < cores - 1; ++started_) std::thread(&Workers::live, this).detach();
      } catch (const std::system_error&) {  // no more threads: use those that started
      }
      grid_ = &grid;
      chunk_ = chunk;
      busy_ = started_;
      ++round_;
    }
    wake_.notify_all();
    grid.work(chunk);
    std::unique_lock<std::mutex> hold(lock_);
    done_.wait(hold, [this] { return busy_ == 0; });
  }

 private:
  void live() {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> hold(lock_);
    for (;;) {
      wake_.wait(hold, [&] { return round_ != seen; });
      seen = round_;
      Grid& grid = *grid_;
      const std::uint64_t chunk = chunk_;
      hold.unlock();
      grid.work(chunk);
      hold.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex turn_, lock_;
  std::condition_variable wake_, done_;
  Grid* grid_ = nullptr;
  std::uint64_t chunk_ = 1, round_ = 0;
  int started_ = 0, busy_ = 0;
};

cudaError_t check(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const auto outside = [](unsigned value, unsigned most) { return value == 0 || value > most; };
  if (outside(grid.x, 0x7fffffff) || outside(grid.y, 65535) || outside(grid.z, 65535) ||
      outside(block.x, 1024) || outside(block.y, 1024) || outside(block.z, 64) ||
      std::uint64_t(block.x) * block.y * block.z > unsigned(Machine::max_threads_per_block))
    return cudaErrorInvalidConfiguration;
  return shared_bytes > Machine::max_shared_bytes_optin ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace
}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaHostLaunch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                           void (*threads)(void*), void* context, const char* kernel) {
  return call([&] {
    // A launch from inside a kernel would overwrite the state of this thread.
    if (in_kernel()) return cudaErrorNotSupported;
    report(nullptr);
    if (const cudaError_t error = check(grid, block, shared_bytes)) return error;
    if (!Machine::get().knows(stream)) return cudaErrorInvalidResourceHandle;
    Grid work{grid, block, shared_bytes, threads, context, kernel ? kernel : "", {}, {}, {}};
    Workers::get().run(work);
    // The kernel's output comes before what the program prints next. A kernel that failed while
    // printing still holds the lock of stdout.
    if (ftrylockfile(stdout) == 0) {
      fflush_unlocked(stdout);
      funlockfile(stdout);
    }
    if (work.fault.code) report(&work.fault);
    return work.fault.code;
  });
}
