// DeviceArray: the low level's pair of a host buffer and device memory. Memory is allocated and
// copied only on request, and every step returns a Status.
#pragma once

#include <memory>
#include <mutex>

#include "layout.h"
#include "memory.h"
#include "pointer.h"

namespace PyGPU {

class DeviceArray {
 public:
  // Allocate zeroed host memory, contiguous in `order`.
  DeviceArray(const DType& dtype, Axes shape, Order order);
  // Use host memory of the caller, contiguous in C or Fortran order; `owner` keeps it alive.
  DeviceArray(const DType& dtype, Layout layout, void* host, bool read_only,
              std::shared_ptr<const void> owner);
  // Use the memory of a pointer, as the host buffer or as the device memory.
  DeviceArray(Pointer pointer, Axes shape, Order order);

  Status allocate();  // allocates the device memory; a second call succeeds and does nothing
  Status to_device();
  Status to_host();

  const DType& dtype() const { return *dtype_; }
  const Layout& layout() const { return layout_; }
  Pointer host_data() const;
  Pointer device_data() const;
  bool allocated() const;
  bool read_only() const { return read_only_; }
  Status last_status() const;

 private:
  void* device_address() const;
  Status copy(const char* call, bool up);
  Status keep(Status status);  // for last_status()

  const DType* dtype_;
  Layout layout_;
  void* host_ = nullptr;
  bool read_only_ = false;
  std::shared_ptr<const void> host_owner_;
  std::shared_ptr<Memory> device_memory_;
  Pointer borrowed_device_;
  Status last_;
  // Several threads may call the steps. The lock is not held during a step, which may run Python
  // code: signal handlers, a progress bar.
  mutable std::mutex lock_;  // guards device_memory_ and last_
};

}  // namespace PyGPU
