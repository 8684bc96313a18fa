// The C++ core of GPUArray. See array.h.
#include "PyGPU/array.h"

#include "PyGPU/transfer.h"

namespace PyGPU {
namespace {

// The device of memory that somebody else took.
int device_of(const void* address) {
  int count = 0;
  cudaPointerAttributes attributes{};
  const int current = current_device();
  if (cudaGetDeviceCount(&count) || count < 2) return current;
  if (cudaPointerGetAttributes(&attributes, address)) {
    (void)cudaGetLastError();  // not known to the runtime: its use will say so
    return current;
  }
  const bool on_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device ? attributes.device : current;
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
  array.device_ = device_of(address);
  if (owner) {
    const auto [low, high] = layout.extent();
    array.storage_ = Storage::borrow(array.data_ + low, std::size_t(high - low), array.device_,
                                     std::move(owner));
  }
  return array;
}

Array Array::view(const Layout& layout, Index offset) const {
  Array array = *this;
  array.layout_ = layout;
  array.data_ = layout.nbytes() ? data_ + offset : nullptr;
  return array;
}

void Array::require_alive() const {
  if (storage_ && !storage_->alive())
    throw DeviceError("GPUArray",
                      {cudaErrorInvalidDevicePointer,
                       "the array's memory was freed (gpudata.free()) before this use"});
}

void* Array::dense_start() const { return data_ + layout_.canonical().offset; }

bool Array::overlaps(const Array& other) const {
  if (!data_ || !other.data_) return false;
  const auto [low, high] = layout_.extent();
  const auto [other_low, other_high] = other.layout_.extent();
  return data_ + low < other.data_ + other_high && other.data_ + other_low < data_ + high;
}

void Array::zero() const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  check("cudaMemsetAsync", cudaMemsetAsync(dense_start(), 0, layout_.nbytes(), cudaStream_t()));
}

void Array::copy_from(const Array& src, const StreamRef& stream) const {
  require_alive();
  src.require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  if (device_ != src.device_) return copy_from(src.on_device(device_, stream), stream);
  StreamOrder order(stream);
  order.uses(storage_);
  order.uses(src.storage_);
  order.run([&] {
    check("cudaMemcpy2DAsync",
          copy_elements(data_, layout_, src.data_, src.layout_, stream.handle));
  });
}

Array Array::on_device(int device, const StreamRef& stream) const {
  const Array source = layout_.dense() ? *this : pack(stream);
  const View image = layout_.image();
  const DeviceGuard guard = use_device(device);
  const Array there = empty(image.layout).view(image.layout, image.offset);
  // Each device has a null stream of its own; the copy between waits for this side's work.
  {
    const DeviceGuard source_guard = use_device(device_);
    check("cudaStreamSynchronize", cudaStreamSynchronize(cudaStream_t()));
    if (stream.handle) check("cudaStreamSynchronize", cudaStreamSynchronize(stream.handle));
  }
  check("cudaMemcpyPeer", cudaMemcpyPeer(there.dense_start(), device, source.dense_start(), device_,
                                         layout_.nbytes()));
  check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  return there;
}

Array Array::pack(const StreamRef& stream) const {
  const View image = layout_.image();
  const DeviceGuard guard = use_device(device_);
  const Array whole = empty(image.layout);
  const Array packed = whole.view(image.layout, image.offset);
  packed.copy_from(*this, stream);
  return packed;
}

void Array::upload(const void* image) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  if (layout_.dense())
    return check("cudaMemcpy", PyGPU::upload(dense_start(), image, layout_.nbytes()));
  const View packed = layout_.image();
  const Array whole = empty(packed.layout).view(packed.layout, packed.offset);
  whole.upload(image);
  copy_from(whole);
  check("cudaStreamSynchronize", cudaStreamSynchronize(cudaStream_t()));
}

void Array::download(void* image) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  if (!layout_.dense()) return pack().download(image);
  check("cudaMemcpy", PyGPU::download(image, dense_start(), layout_.nbytes()));
}

void Array::upload_async(const void* image, const StreamRef& stream) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  const View packed = layout_.image();
  const Array target =
      layout_.dense() ? *this : empty(packed.layout).view(packed.layout, packed.offset);
  StreamOrder order(stream);
  order.uses(target.storage_);
  order.run([&] {
    check("cudaMemcpyAsync", cudaMemcpyAsync(target.dense_start(), image, layout_.nbytes(),
                                             cudaMemcpyHostToDevice, stream.handle));
  });
  if (!layout_.dense()) copy_from(target, stream);
}

void Array::download_async(void* image, const StreamRef& stream) const {
  require_alive();
  if (layout_.nbytes() == 0) return;
  const DeviceGuard guard = use_device(device_);
  const Array source = layout_.dense() ? *this : pack(stream);
  StreamOrder order(stream);
  order.uses(source.storage_);
  order.run([&] {
    check("cudaMemcpyAsync", cudaMemcpyAsync(image, source.dense_start(), layout_.nbytes(),
                                             cudaMemcpyDeviceToHost, stream.handle));
  });
}

}  // namespace PyGPU
