// DeviceArray: the low level's pair of a host buffer and a device block. Nothing happens unless it
// is asked for, and every step returns a Status.
#pragma once

#include <memory>
#include <mutex>

#include "layout.h"
#include "memory.h"
#include "pointer.h"

namespace PyGPU {

class DeviceArray {
 public:
  // Its own zeroed host memory, contiguous in `order`.
  DeviceArray(const DType& dtype, Axes shape, Order order);
  // Somebody's host memory, contiguous in C or Fortran order, kept alive by `owner`.
  DeviceArray(const DType& dtype, Layout layout, void* host, bool read_only,
              std::shared_ptr<const void> owner);
  // The memory that a pointer refers to: the host buffer or the device block.
  DeviceArray(Pointer pointer, Axes shape, Order order);

  Status allocate();  // the device block; a second call is no error and changes nothing
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
  Status keep(Status status);  // as last_status()

  const DType* dtype_;
  Layout layout_;
  void* host_ = nullptr;
  bool read_only_ = false;
  std::shared_ptr<const void> host_owner_;
  std::shared_ptr<Memory> device_memory_;
  Pointer borrowed_device_;
  Status last_;
  // Steps may be taken by several threads. Not held while one is under way, which may run Python's
  // code: signal handlers, a progress bar.
  mutable std::mutex lock_;  // of device_memory_ and last_
};

}  // namespace PyGPU
