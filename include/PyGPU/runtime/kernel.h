// Compiled code on a device: modules, their kernels and globals, and launches.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device.h"
#include "layout.h"

namespace PyGPU {

struct ModuleTraits : DeviceOwned<gpu_module, ModuleTraits> {
  static constexpr const char* name = "a module";
  static cudaError_t destroy(const Handle& module);
};

struct JitOption {
  int option;  // CUDA's number of the option
  std::size_t value;
};

// Image (cubin, PTX, fatbin; code object; shared library of the host machine) that is loaded on the
// current device, and unloaded with its last owner. Throws DeviceError.
class Module {
 public:
  Module(const std::string& image, const std::vector<JitOption>& options = {});

  gpu_kernel kernel(const std::string& name) const;

  struct Global {
    void* address;
    std::size_t nbytes;
  };
  Global global(const std::string& name) const;

  // Return the same image loaded on another device, with globals of its own; each device loads it
  // once. Returns null if the addresses of this module's globals were requested: values stored
  // there would not be copied.
  std::shared_ptr<const Module> on(int device) const;
  // Record that the module has globals: all its kernels then run on one device, where they may
  // write the globals.
  void set_has_variables() { has_variables_ = true; }
  bool may_run_on(int device) const;

  int device() const { return handle_.get().device; }
  bool alive() const { return !handle_.get().gone(); }
  void require_alive() const;
  const std::string& info_log() const { return info_log_; }

 private:
  UniqueHandle<ModuleTraits> handle_;
  std::string info_log_;
  std::string image_;  // kept if the process has other devices
  std::vector<JitOption> options_;
  mutable std::atomic<bool> globals_exposed_{false};
  bool has_variables_ = false;
  mutable std::atomic<int> globals_device_{
      -1};  // device on which the globals are used; -1: none yet
  mutable std::mutex lock_;
  mutable std::map<int, std::shared_ptr<const Module>> on_other_devices_;
};

// Offset and size of a kernel's parameter, as its compiler arranged them.
struct ParameterOffset {
  std::size_t offset, nbytes;
};

struct LaunchShape {
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t shared_bytes = 0;
};

class Kernel {
 public:
  Kernel(std::shared_ptr<const Module> module, std::string name);

  const std::string& name() const { return name_; }
  const Module& module() const { return *module_; }

  // Parameters that the runtime reports; HIP reports none.
  bool has_parameter_info() const { return has_parameter_info_; }
  const std::vector<ParameterOffset>& parameters() const { return parameters_; }

  // Attributes by the driver's numbers. Throws DeviceError.
  int attribute(int number) const;
  void set_attribute(int number, int value);

  // Return the same kernel, with the same attributes, in a module on another device.
  Kernel of(std::shared_ptr<const Module> module) const;

  // Enqueue a launch on the module's device. `arguments` points to each argument.
  cudaError_t launch(const LaunchShape& shape, void** arguments, cudaStream_t stream) const;
  // Launch a kernel of PyGPU, in blocks along one axis. The status explains a refusal.
  Status launch_blocks(Index blocks, unsigned threads, void** arguments, cudaStream_t stream) const;
  // Message for a failed launch: the shape, and the limit that it may exceed.
  std::string launch_failure_text(const LaunchShape& shape) const;

 private:
  std::shared_ptr<const Module> module_;
  std::string name_;
  gpu_kernel kernel_{};
  bool has_parameter_info_ = false;
  std::vector<ParameterOffset> parameters_;
  std::map<int, int> attributes_;  // that were set
};

}  // namespace PyGPU
