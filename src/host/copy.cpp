// Linear and two-dimensional copies and fills of the host machine.
#include <cstring>

#include "PyGPU/vendor/host_modules.h"
#include "children.h"
#include "machine.h"

namespace PyGPU::host {

bool copy_can_access(const void* address, std::size_t nbytes, bool on_device) {
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const bool known = machine.find(address) != nullptr;
  return known ? machine.find(address, nbytes) != nullptr : address && !on_device;
}

cudaError_t check_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault
             ? cudaSuccess
             : cudaErrorInvalidMemcpyDirection;
}

namespace {

cudaError_t check_sides(const void* dst, std::size_t dst_bytes, const void* src,
                        std::size_t src_bytes, cudaMemcpyKind kind) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool good =
      copy_can_access(dst, dst_bytes, to_device) && copy_can_access(src, src_bytes, from_device);
  return good ? cudaSuccess : cudaErrorInvalidValue;
}

// Return the bytes from the first row to the end of the last row. Overflow returns SIZE_MAX, which
// fits no allocation.
std::size_t span(std::size_t pitch, std::size_t width, std::size_t height) {
  std::size_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(pitch, height - 1, &bytes) ||
                        __builtin_add_overflow(bytes, width, &bytes);
  return overflow ? SIZE_MAX : bytes;
}

cudaError_t copy(void* dst, const void* src, std::size_t nbytes, cudaMemcpyKind kind) {
  if (const cudaError_t error = check_kind(kind)) return error;
  if (nbytes == 0) return cudaSuccess;
  if (const cudaError_t error = check_sides(dst, nbytes, src, nbytes, kind)) return error;
  std::memmove(dst, src, nbytes);
  return cudaSuccess;
}

cudaError_t copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (const cudaError_t error = check_kind(kind)) return error;
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > dst_pitch || width > src_pitch) return cudaErrorInvalidPitchValue;
  const std::size_t dst_bytes = span(dst_pitch, width, height);
  const std::size_t src_bytes = span(src_pitch, width, height);
  if (dst_bytes == SIZE_MAX || src_bytes == SIZE_MAX) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_sides(dst, dst_bytes, src, src_bytes, kind)) return error;
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(static_cast<char*>(dst) + row * dst_pitch,
                static_cast<const char*>(src) + row * src_pitch, width);
  }
  return cudaSuccess;
}

cudaError_t copy_peer(void* dst, int dst_device, const void* src, int src_device,
                      std::size_t nbytes) {
  const Machine& machine = Machine::get();
  if (!machine.has_device(dst_device) || !machine.has_device(src_device))
    return cudaErrorInvalidDevice;
  return copy(dst, src, nbytes, cudaMemcpyDeviceToDevice);
}

// Fill rows with a pattern of `itemsize` bytes (2 or 4).
cudaError_t fill_rows(void* address, std::size_t pitch, unsigned value, std::size_t itemsize,
                      std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > SIZE_MAX / itemsize) return cudaErrorInvalidValue;
  const std::size_t row_bytes = width * itemsize;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(address) | pitch) % itemsize == 0;
  if (!aligned || (height > 1 && row_bytes > pitch)) return cudaErrorInvalidValue;
  if (!Machine::get().device_can_access(address, span(pitch, row_bytes, height)))
    return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row) {
    char* const first = static_cast<char*>(address) + row * pitch;
    for (std::size_t i = 0; i < width; ++i) std::memcpy(first + i * itemsize, &value, itemsize);
  }
  return cudaSuccess;
}

cudaError_t fill_2d(void* address, std::size_t pitch, int value, std::size_t width,
                    std::size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && width > pitch) return cudaErrorInvalidValue;
  if (!Machine::get().device_can_access(address, span(pitch, width, height)))
    return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row)
    std::memset(static_cast<char*>(address) + row * pitch, value, width);
  return cudaSuccess;
}

template <class Copy>
cudaError_t waits(Copy copy) {
  if (in_kernel()) return copy();
  const cudaError_t error = refuse_unsafe();
  if (error || unread_fault()) return set_last_error(error ? error : unread_fault());
  return copy();
}

}  // namespace
}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaMemcpy(void* dst, const void* src, std::size_t nbytes, cudaMemcpyKind kind) {
  return waits([&] { return cudaMemcpyAsync(dst, src, nbytes, kind, nullptr); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, std::size_t nbytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&] { return enqueue_copy(stream, [=] { return copy(dst, src, nbytes, kind); }); });
}

cudaError_t cudaMemcpy2D(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return waits([&] {
    return cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, kind, nullptr);
  });
}

cudaError_t cudaMemcpy2DAsync(void* dst, std::size_t dst_pitch, const void* src,
                              std::size_t src_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    return enqueue_copy(
        stream, [=] { return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind); });
  });
}

cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device,
                           std::size_t nbytes) {
  return waits(
      [&] { return cudaMemcpyPeerAsync(dst, dst_device, src, src_device, nbytes, nullptr); });
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device,
                                std::size_t nbytes, cudaStream_t stream) {
  return call([&] {
    return enqueue(stream, [=] { return copy_peer(dst, dst_device, src, src_device, nbytes); });
  });
}

cudaError_t cudaMemset(void* address, int value, std::size_t nbytes) {
  return cudaMemsetAsync(address, value, nbytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* address, int value, std::size_t nbytes, cudaStream_t stream) {
  return cudaMemset2DAsync(address, nbytes, value, nbytes, 1, stream);
}

cudaError_t cudaMemset2D(void* address, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return cudaMemset2DAsync(address, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* address, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return call([&] {
    return enqueue_copy(stream, [=] { return fill_2d(address, pitch, value, width, height); });
  });
}

cudaError_t cudaHostFill(void* address, std::size_t pitch, unsigned value, std::size_t itemsize,
                         std::size_t width, std::size_t height, cudaStream_t stream) {
  return call([&] {
    return enqueue(stream,
                   [=] { return fill_rows(address, pitch, value, itemsize, width, height); });
  });
}
