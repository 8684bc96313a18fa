// Core of GPUArray. See array.h.
#include "PyGPU/arrays/array.h"

#include <numeric>
#include <stdexcept>

#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/peers.h"
#include "PyGPU/runtime/transfer.h"

namespace PyGPU {
namespace {

// Return the device of memory that was allocated elsewhere.
int device_of(const void* address) {
  cudaPointerAttributes attributes{};
  const int current = current_device();
  if (is_only_device()) return current;
  if (cudaPointerGetAttributes(&attributes, address)) {
    (void)cudaGetLastError();  // unknown to the runtime: using it will fail
    return current;
  }
  const bool on_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device ? attributes.device : current;
}

// Allocate a dense array with the order and directions of the layout's axes.
Array dense_like(const Layout& layout) {
  const View dense = layout.dense_layout();
  return Array::empty(dense.layout).view(dense.layout, dense.offset);
}

}  // namespace

Array Array::empty(const Layout& layout) {
  Array array;
  array.layout_ = layout;
  if (layout.nbytes() == 0) return array;
  array.storage_ = Storage::take(layout.nbytes());
  array.data_ = static_cast<char*>(array.storage_->address());
  array.device_ = array.storage_->device();
  return array;
}

Array Array::borrow(const Layout& layout, void* address, std::shared_ptr<const void> owner) {
  Array array;
  array.layout_ = layout;
  if (layout.nbytes() == 0) return array;
  array.data_ = static_cast<char*>(address);
  const auto [low, high] = layout.extent();
  char* const start = array.data_ + low;
  const auto nbytes = std::size_t(high - low);
  if (!owner) array.storage_ = Storage::holding(start);
  if (array.storage_) {
    const std::size_t ahead = array.storage_->nbytes_from(start);
    if (nbytes > ahead)
      throw std::invalid_argument("the array spans " + std::to_string(nbytes) +
                                  " bytes of memory, of which " + std::to_string(ahead) +
                                  " are allocated");
  }
  array.device_ = array.storage_ ? array.storage_->device() : device_of(address);
  if (owner) array.storage_ = Storage::borrow(start, nbytes, array.device_, std::move(owner));
  return array;
}

Array Array::unusable(const Layout& layout) {
  alignas(64) static char nowhere;  // a null address would be that of an array without elements
  Array array;
  array.layout_ = layout;
  if (layout.nbytes()) array.data_ = &nowhere;
  return array;
}

Array Array::view(const Layout& layout, Index offset) const {
  Array array = *this;
  array.layout_ = layout;
  array.data_ = data_ && layout.nbytes() ? data_ + offset : nullptr;
  return array;
}

void Array::require_alive() const {
  if (storage_) return storage_->require_alive();
  if (!data_ && layout_.nbytes())
    throw DeviceError("GPUArray", {cudaErrorInvalidValue,
                                   "the array has no memory: set gpudata, which is 0 or None"});
}

void* Array::dense_start() const {
  return layout_.contiguous() ? data_ : data_ + layout_.canonical().offset;
}

namespace {

Index common_divisor_of_strides(const Layout& layout) {
  Index divisor = 0;
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (layout.shape()[axis] > 1) divisor = std::gcd(divisor, layout.strides()[axis]);
  return divisor;
}

}  // namespace

bool Array::overlaps(const Array& other) const {
  if (!data_ || !other.data_) return false;
  const auto [low, high] = layout_.extent();
  const auto [other_low, other_high] = other.layout_.extent();
  if (data_ + low >= other.data_ + other_high || other.data_ + other_low >= data_ + high)
    return false;
  // Elements of interleaved arrays, such as two fields of structures, are apart in each period.
  const Index period =
      std::gcd(common_divisor_of_strides(layout_), common_divisor_of_strides(other.layout_));
  if (period == 0) return true;
  const Index distance = ((other.data_ - data_) % period + period) % period;
  return distance < Index(layout_.itemsize()) ||
         distance + Index(other.layout_.itemsize()) > period;
}

void Array::fill_bytes(char value, const StreamRef& stream) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  StreamOrder order(stream);
  order.uses(storage_);
  order.run([&] {
    check("cudaMemsetAsync", call_that_enqueues([&] {
            return cudaMemsetAsync(dense_start(), value, layout_.nbytes(), stream.handle);
          }));
  });
}

void Array::zero() const { fill_bytes(0, default_stream()); }

void Array::copy_from(const Array& src, const StreamRef& stream) const {
  require_alive();
  src.require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  if (device_ != src.device_) {
    const bool is_alike =
        layout_.shape() == src.layout_.shape() && layout_.strides() == src.layout_.strides();
    if (is_alike && layout_.dense()) return copy_across(src, stream);
    return copy_from(src.on_device(device_, stream), stream);
  }
  StreamOrder order(stream);
  order.uses(storage_);
  order.uses(src.storage_);
  order.run([&] {
    check("cudaMemcpy2DAsync",
          copy_elements(data_, layout_, src.data_, src.layout_, stream.handle));
  });
}

Array Array::on_device(int device, const StreamRef& stream) const {
  throw_if_capturing("cudaMemcpyPeer");
  const Array source = layout_.dense() ? *this : dense_copy(stream);
  const DeviceGuard guard = use_device(device);
  const Array copy = dense_like(layout_);
  copy.copy_across(source, stream);
  return copy;
}

void Array::copy_across(const Array& src, const StreamRef& stream) const {
  throw_if_capturing("cudaMemcpyPeer");
  connect_for_copies(device_, src.device_);
  // Each device has its own null stream, so wait for the source's work before the copy.
  {
    const DeviceGuard source_guard = use_device(src.device_);
    check("cudaStreamSynchronize", cudaStreamSynchronize(cudaStream_t()));
    if (stream.handle) check("cudaStreamSynchronize", cudaStreamSynchronize(stream.handle));
  }
  check("cudaMemcpyPeer",
        cudaMemcpyPeer(dense_start(), device_, src.dense_start(), src.device_, layout_.nbytes()));
  check("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

Array Array::dense_copy(const StreamRef& stream) const {
  const DeviceGuard guard = use_device(device_);
  const Array copy = dense_like(layout_);
  copy.copy_from(*this, stream);
  return copy;
}

void Array::upload(const void* host, const Layout& layout) const {
  require_alive();
  throw_if_capturing("cudaMemcpy");
  throw_unread_error();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  if (layout_.dense()) {
    char* const start = static_cast<char*>(dense_start());
    return check("cudaMemcpy",
                 layout_.same_strides(layout)
                     ? PyGPU::upload(start, static_cast<const char*>(host) + (start - data_),
                                     layout_.nbytes())
                     : PyGPU::upload(data_, layout_, host, layout));
  }
  const Array source = dense_like(layout_);
  source.upload(host, layout);
  copy_from(source, {});
  check("cudaStreamSynchronize", cudaStreamSynchronize(cudaStream_t()));
}

void Array::download(void* host, const Layout& layout) const {
  require_alive();
  throw_if_capturing("cudaMemcpy");
  throw_unread_error();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  if (!layout_.dense()) return dense_copy({}).download(host, layout);
  char* const start = static_cast<char*>(dense_start());
  check("cudaMemcpy",
        layout_.same_strides(layout)
            ? PyGPU::download(static_cast<char*>(host) + (start - data_), start, layout_.nbytes())
            : PyGPU::download(host, layout, data_, layout_));
}

void Array::upload_async(const void* host, const StreamRef& stream) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  const Array target = layout_.dense() ? *this : dense_like(layout_);
  StreamOrder order(stream);
  order.uses(target.storage_);
  order.run([&] {
    check("cudaMemcpyAsync", call_that_enqueues([&] {
            return cudaMemcpyAsync(target.dense_start(), host, layout_.nbytes(),
                                   cudaMemcpyHostToDevice, stream.handle);
          }));
  });
  if (!layout_.dense()) copy_from(target, stream);
}

void Array::download_async(void* host, const StreamRef& stream) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  const Array source = layout_.dense() ? *this : dense_copy(stream);
  StreamOrder order(stream);
  order.uses(source.storage_);
  order.run([&] {
    check("cudaMemcpyAsync", call_that_enqueues([&] {
            return cudaMemcpyAsync(host, source.dense_start(), layout_.nbytes(),
                                   cudaMemcpyDeviceToHost, stream.handle);
          }));
  });
}

}  // namespace PyGPU
