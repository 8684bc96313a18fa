// Modules, kernels and launches. See kernel.h.
#include "PyGPU/runtime/kernel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "PyGPU/runtime/capture.h"

namespace PyGPU {
namespace {

// CUDA's numbers of the JIT options for the logs.
enum : int { jit_info_log = 3, jit_info_size = 4, jit_error_log = 5, jit_error_size = 6 };

constexpr std::size_t log_bytes = 16 << 10;

// Return whether an ELF image (cubin, code object, shared library) has the length that its header
// claims. Loaders trust the header and would read past the end.
bool is_whole(const std::string& image) {
  if (image.compare(0, 4, "\177ELF") != 0) return true;
  if (image.size() < 64) return false;
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, image.data() + at, bytes);
    return value;
  };
  const auto holds = [&](std::uint64_t offset, std::uint64_t count, std::uint64_t nbytes) {
    return offset <= image.size() && count * nbytes <= image.size() - offset;
  };
  const std::uint64_t segments = number(32, 8), sections = number(40, 8);
  if (!holds(segments, number(56, 2), number(54, 2)) ||
      !holds(sections, number(60, 2), number(58, 2)))
    return false;
  for (std::uint64_t i = 0; i < number(56, 2); ++i) {
    const std::size_t row = std::size_t(segments + i * number(54, 2));
    if (number(54, 2) < 56 || !holds(number(row + 8, 8), 1, number(row + 32, 8))) return false;
  }
  for (std::uint64_t i = 0; i < number(60, 2); ++i) {
    const std::size_t row = std::size_t(sections + i * number(58, 2));
    constexpr std::uint64_t no_bits = 8;  // SHT_NOBITS: the section occupies no bytes
    const bool in_file = number(58, 2) >= 64 && number(row + 4, 4) != no_bits;
    if (in_file && !holds(number(row + 24, 8), 1, number(row + 32, 8))) return false;
  }
  return true;
}

void* as_value(std::size_t value) { return reinterpret_cast<void*>(value); }

std::string shape_text(const dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

}  // namespace

cudaError_t ModuleTraits::destroy(const Handle& module) {
  return waiting_in_relaxed_mode([&] {
    return release_on_device(module.device, [&] { return unload_module(module.value); });
  });
}

Module::Module(const std::string& image, const std::vector<JitOption>& options) {
  if (!is_whole(image))
    throw DeviceError("module load",
                      {cudaErrorInvalidKernelImage,
                       "the image is truncated: it is shorter than its header claims"});
  const int device = current_device();
  std::string error_log(log_bytes, '\0');
  info_log_.assign(log_bytes, '\0');
  std::vector<int> numbers{jit_info_log, jit_info_size, jit_error_log, jit_error_size};
  std::vector<void*> values{info_log_.data(), as_value(log_bytes), error_log.data(),
                            as_value(log_bytes)};
  for (const JitOption& option : options) {
    numbers.push_back(option.option);
    values.push_back(as_value(option.value));
  }
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  const cudaError_t error = make_owned(handle_, device, [&](ModuleTraits::Handle& module) {
    return load_module(&module.value, image.c_str(), unsigned(numbers.size()), numbers.data(),
                       values.data());
  });
  info_log_.resize(info_log_.find('\0') == std::string::npos ? log_bytes : info_log_.find('\0'));
  if (error) check("module load", {error, error_log.c_str()});
  if (is_only_device()) return;
  image_ = image;
  options_ = options;
}

std::shared_ptr<const Module> Module::on(int device) const {
  require_alive();
  if (globals_exposed_) return nullptr;
  if (const std::unique_lock<std::mutex> hold(lock_, std::try_to_lock); hold) {
    const auto found = on_other_devices_.find(device);
    if (found != on_other_devices_.end() && found->second->alive()) return found->second;
  }
  std::shared_ptr<const Module> module;
  (void)call_that_waits([&] {  // loading may compile PTX
    const std::lock_guard<std::mutex> hold(lock_);
    std::shared_ptr<const Module>& kept = on_other_devices_[device];
    if (!kept || !kept->alive()) {
      const DeviceGuard there = use_device(device);
      kept = std::make_shared<const Module>(image_, options_);
    }
    module = kept;
    return cudaSuccess;
  });
  return module;
}

bool Module::may_run_on(int device) const {
  int before = -1;
  return !has_variables_ || globals_device_.compare_exchange_strong(before, device) ||
         before == device;
}

void Module::require_alive() const {
  require_not_gone("module", device(), handle_.get().epoch,
                   "cudaDeviceReset has unloaded the module since it was loaded");
}

gpu_kernel Module::kernel(const std::string& name) const {
  require_alive();
  const DeviceGuard here = use_device(device());
  gpu_kernel kernel{};
  const cudaError_t error = call_that_enqueues(  // the driver may load code
      [&] { return find_kernel(&kernel, handle_.get().value, name.c_str()); });
  if (error) check("get_function", {error, "kernel '" + name + "' not found in the module"});
  return kernel;
}

Module::Global Module::global(const std::string& name) const {
  require_alive();
  const DeviceGuard here = use_device(device());
  Global found{};
  const cudaError_t error = call_that_enqueues([&] {
    return find_global(&found.address, &found.nbytes, handle_.get().value, name.c_str());
  });
  if (error) check("get_global", {error, "global '" + name + "' not found in the module"});
  if (!may_run_on(device()))
    throw DeviceError("get_global", {cudaErrorInvalidValue,
                                     "the module's kernels use its globals on device " +
                                         std::to_string(globals_device_) +
                                         ", it was loaded on device " + std::to_string(device())});
  globals_exposed_ = true;
  return found;
}

Kernel::Kernel(std::shared_ptr<const Module> module, std::string name)
    : module_(std::move(module)), name_(std::move(name)), kernel_(module_->kernel(name_)) {
  throw_unread_error();
  const DeviceGuard here = use_device(module_->device());
  for (;;) {
    ParameterOffset next{};
    const cudaError_t error = call_that_enqueues(
        [&] { return kernel_parameter(kernel_, parameters_.size(), &next.offset, &next.nbytes); });
    if (error) {
      (void)cudaGetLastError();
      has_parameter_info_ = error != cudaErrorNotSupported;
      return;
    }
    parameters_.push_back(next);
  }
}

int Kernel::attribute(int number) const {
  module_->require_alive();
  const DeviceGuard here = use_device(module_->device());
  int value = 0;
  check("Function.get_attribute",
        {kernel_attribute(&value, kernel_, number), "attribute " + std::to_string(number)});
  return value;
}

Kernel Kernel::of(std::shared_ptr<const Module> module) const {
  Kernel same(std::move(module), name_);
  for (const auto& [number, value] : attributes_) same.set_attribute(number, value);
  return same;
}

void Kernel::set_attribute(int number, int value) {
  module_->require_alive();
  const DeviceGuard here = use_device(module_->device());
  check("Function.set_attribute",
        {set_kernel_attribute(kernel_, number, value),
         "attribute " + std::to_string(number) + " to " + std::to_string(value)});
  attributes_[number] = value;
}

cudaError_t Kernel::launch(const LaunchShape& shape, void** arguments, cudaStream_t stream) const {
  if (Capture* const capture = Capture::current()) capture->keep(module_);
  const auto launch = [&] {
    return launch_kernel(kernel_, shape.grid, shape.block, arguments, shape.shared_bytes, stream);
  };
  return is_only_device() ? launch() : on_device(module_->device(), launch);
}

Status Kernel::launch_blocks(Index blocks, unsigned threads, void** arguments,
                             cudaStream_t stream) const {
  LaunchShape shape;
  shape.block = dim3(threads, 1, 1);
  shape.grid = dim3(unsigned(std::min<Index>(blocks, 0x7fffffff)), 1, 1);
  const cudaError_t error = launch(shape, arguments, stream);
  return error ? Status{error, launch_failure_text(shape)} : Status{};
}

namespace {

// List the lengths that exceed the device's limits, with the limits.
std::string beyond_limits(const char* what, const dim3& shape, int device,
                          const std::array<cudaDeviceAttr, 3>& attributes) {
  std::string text;
  const unsigned lengths[] = {shape.x, shape.y, shape.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    int most = 0;
    if (cudaDeviceGetAttribute(&most, attributes[axis], device))
      (void)cudaGetLastError();
    else if (lengths[axis] > unsigned(most))
      text += std::string("; ") + what + "[" + std::to_string(axis) + "] is " +
              std::to_string(lengths[axis]) + ", the device allows " + std::to_string(most);
  }
  return text;
}

}  // namespace

std::string Kernel::launch_failure_text(const LaunchShape& shape) const {
  const dim3 &grid = shape.grid, &block = shape.block;
  std::string text = name_ + ": block=" + shape_text(block) + ", grid=" + shape_text(grid) +
                     ", shared=" + std::to_string(shape.shared_bytes) + " bytes";
  int threads = 0, shared = 0;
  if (kernel_attribute(&threads, kernel_, 0) || kernel_attribute(&shared, kernel_, 8)) {
    (void)cudaGetLastError();
    return text;
  }
  if (std::size_t(block.x) * block.y * block.z > std::size_t(threads))
    text += "; this kernel can have at most " + std::to_string(threads) + " threads in a block";
  text += beyond_limits("grid", grid, module_->device(),
                        {cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ});
  text +=
      beyond_limits("block", block, module_->device(),
                    {cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ});
  if (shared > 0 && shape.shared_bytes > std::size_t(shared))
    text += "; this kernel may have " + std::to_string(shared) +
            " bytes of dynamic shared memory; more must be allowed by "
            "set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)";
  if (const char* report = last_report(); *report) text += "; " + std::string(report);
  return text;
}

}  // namespace PyGPU
