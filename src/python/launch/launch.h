// Launches of PyGPU's own kernels: arguments as C++ values, and the enqueue functions.
#pragma once

#include <cstring>

#include "PyGPU/runtime/kernel.h"
#include "python/launch/placement.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {

// Enqueue a launch. Releasing the GIL costs a sixteenth of a launch, so the GIL is released only
// where the launch may wait: for space in the queue, for a Python function in the queue, or for the
// host machine, which runs the kernel at once. `launch` must not throw. Throws the unread
// error of an earlier call, if there is one.
template <class Launch>
auto without_gil_if_waiting(int device, bool on_null_stream, Launch launch) {
  constexpr unsigned surely_queued = 512;  // launches that fit into any queue, with a margin
  throw_unread_error();
  const bool may_wait = capabilities.launch_runs_kernel ||
                        count_launch(device, on_null_stream) > surely_queued || uses_host_functions;
  const NoGil without = may_wait ? release_gil() : NoGil();
  return launch();
}

// Arguments of a launch: values, and pointers to them in the order of the kernel's parameters.
class KernelArguments {
 public:
  KernelArguments() = default;
  KernelArguments(const KernelArguments&) = delete;  // pointers_ points into values_
  KernelArguments& operator=(const KernelArguments&) = delete;
  template <class... Values>
  void add(const Values&... values) {
    (put(values), ...);
  }
  // Add a value of any size by its address. It must stay valid until the launch.
  void add_address_of(void* value) {
    require_space();
    pointers_[count_++] = value;
  }
  void** pointers() { return pointers_; }

 private:
  template <class Value>
  void put(const Value& value) {
    static_assert(sizeof value <= sizeof *values_);
    require_space();
    std::memcpy(&values_[count_], &value, sizeof value);
    pointers_[count_] = &values_[count_];
    ++count_;
  }

  void require_space() const {
    if (count_ == most)
      throw py::value_error("a launch has more than " + std::to_string(most) + " arguments");
  }

  static constexpr int most = 96;
  std::uint64_t values_[most];
  void* pointers_[most];
  int count_ = 0;
};

inline void check_launch(const Kernel& kernel, const StreamRef& stream, const Status& status) {
  if (!status.failed()) return;
  const int device = kernel.module().device();
  if (!stream.owner || stream.owner->device() == device) check("cudaLaunchKernel", status);
  check("cudaLaunchKernel",
        {status.code, kernel.name() + device_mismatch_text(device, stream.owner->device())});
}

inline void enqueue(const Kernel& kernel, dim3 grid, dim3 block, void** arguments,
                    const StreamRef& stream) {
  LaunchShape shape;
  shape.grid = grid;
  shape.block = block;
  const cudaError_t error = without_gil_if_waiting(kernel.module().device(), !stream.handle, [&] {
    return kernel.launch(shape, arguments, stream.handle);
  });
  if (error) check_launch(kernel, stream, {error, kernel.launch_failure_text(shape)});
}
inline void enqueue(const Kernel& kernel, dim3 grid, dim3 block, KernelArguments& arguments,
                    const StreamRef& stream) {
  enqueue(kernel, grid, block, arguments.pointers(), stream);
}
// Enqueue one-dimensional blocks.
inline void enqueue(const Kernel& kernel, Index blocks, unsigned threads,
                    KernelArguments& arguments, const StreamRef& stream) {
  enqueue(kernel, dim3(unsigned(blocks), 1, 1), dim3(threads, 1, 1), arguments, stream);
}

// A launch of PyGPU's own kernels, and the arrays that they use: kept from here on, also for a
// graph, alive when the kernels are enqueued, and ordered among their uses on other streams. Add an
// array before its address is read, and before Python code may run.
class Launch {
 public:
  Launch(const StreamRef& stream, int device) : stream_(stream), device_(device), order_(stream) {}

  const StreamRef& stream() const { return stream_; }
  int device() const { return device_; }
  // TypeError if the array is on another device than the launch.
  void reads(const GPUArray& array) {
    require_device(array.core, device_);
    if (!array.core.address()) array.core.require_alive();  // no memory yet
    keep_for_graph(array);
    order_.uses(array.core.storage());
  }
  void writes(const GPUArray& array) { reads(array); }
  // Add a copy of an operand.
  void reads(const Array& copy) { order_.uses(copy.storage()); }
  // Call `work`, which enqueues kernels. DeviceError if memory was freed.
  template <class Work>
  void run(Work work) {
    order_.run(work);
  }
  void run(const Kernel& kernel, Index blocks, unsigned threads, KernelArguments& arguments) {
    run([&] { enqueue(kernel, blocks, threads, arguments, stream_); });
  }

 private:
  StreamRef stream_;
  int device_;
  StreamOrder order_;
};

}  // namespace PyGPU::python
