// Pair of a host buffer and device memory. See device_array.h.
#include "PyGPU/runtime/device_array.h"

#include <new>
#include <stdexcept>

#include "PyGPU/runtime/transfer.h"

namespace PyGPU {

DeviceArray::DeviceArray(const DType& dtype, Axes shape, Order order)
    : dtype_(&dtype), layout_(shape, dtype.itemsize, order) {
  auto memory = std::make_shared<Memory>();
  if (take_memory(*memory, MemoryKind::host, layout_.nbytes()).failed()) throw std::bad_alloc();
  host_ = memory->get().address;
  host_owner_ = std::move(memory);
}

DeviceArray::DeviceArray(const DType& dtype, Layout layout, void* host, bool read_only,
                         std::shared_ptr<const void> owner)
    : dtype_(&dtype),
      layout_(layout),
      host_(host),
      read_only_(read_only),
      host_owner_(std::move(owner)) {
  if (!layout_.contiguous())
    throw std::invalid_argument("the buffer (shape " + layout_.shape().text() + ", strides " +
                                layout_.strides().text() +
                                ") is not contiguous; pass numpy.ascontiguousarray(buffer)");
}

DeviceArray::DeviceArray(Pointer pointer, Axes shape, Order order)
    : dtype_(pointer.dtype), layout_(shape, pointer.dtype->itemsize, order) {
  const auto needed = std::size_t(layout_.size());
  if (!pointer.address && needed > 0)
    throw std::invalid_argument("pointer: the address is null, expected the address of " +
                                std::to_string(needed) + " elements");
  if (pointer.count > 0 && pointer.count < needed)
    throw std::invalid_argument("shape " + layout_.shape().text() + " needs " +
                                std::to_string(needed) + " elements, but pointer has only " +
                                std::to_string(pointer.count));
  if (pointer.on_host) {
    host_ = pointer.address;
    host_owner_ = pointer.owner;
    read_only_ = pointer.read_only;
  } else {
    borrowed_device_ = std::move(pointer);
  }
}

void* DeviceArray::device_address() const {
  return device_memory_ ? device_memory_->get().address : borrowed_device_.address;
}

Pointer DeviceArray::host_data() const {
  return {host_, dtype_, std::size_t(layout_.size()), true, host_owner_, read_only_};
}

Status DeviceArray::last_status() const {
  std::lock_guard<std::mutex> hold(lock_);
  return last_;
}

bool DeviceArray::allocated() const {
  std::lock_guard<std::mutex> hold(lock_);
  return device_address() != nullptr || layout_.nbytes() == 0;
}

Pointer DeviceArray::device_data() const {
  std::lock_guard<std::mutex> hold(lock_);
  return {device_address(), dtype_, std::size_t(layout_.size()), false,
          device_memory_ ? device_memory_ : borrowed_device_.owner};
}

Status DeviceArray::keep(Status status) {
  std::lock_guard<std::mutex> hold(lock_);
  return last_ = returned_to_caller(std::move(status));
}

Status DeviceArray::allocate() {
  if (allocated()) return keep(Status());
  auto memory = std::make_shared<Memory>();
  const Status taken = keep(allocate_memory(*memory, MemoryKind::device, layout_.nbytes()));
  std::lock_guard<std::mutex> hold(lock_);
  if (!taken.failed() && !device_memory_) device_memory_.swap(memory);
  return taken;
}

Status DeviceArray::copy(const char* call, bool up) {
  const std::size_t nbytes = layout_.nbytes();
  if (nbytes == 0) return keep(Status());
  const std::string who = std::string(call) + "(): ";
  const Pointer device = device_data();
  if (!device.address)
    return keep({cudaErrorInvalidDevicePointer,
                 who + "there is no device memory yet; call allocate() first"});
  if (!host_)
    return keep({cudaErrorInvalidHostPointer,
                 who + "the array was made from a device pointer and has no host buffer"});
  if (!up && read_only_) return keep({cudaErrorInvalidValue, who + "the host buffer is read-only"});
  return keep(up ? upload(device.address, host_, nbytes) : download(host_, device.address, nbytes));
}

Status DeviceArray::to_device() { return copy("to_device", true); }
Status DeviceArray::to_host() { return copy("to_host", false); }

}  // namespace PyGPU
