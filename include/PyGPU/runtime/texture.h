// Textures and surfaces. Arrays have a memory order that only the device knows. Kernels access them
// through texture and surface objects; boxed copies are the only way to copy to and from them.
#pragma once

#include <memory>

#include "device.h"
#include "stream.h"

namespace PyGPU {

struct ArrayTraits : DeviceOwned<cudaArray_t, ArrayTraits> {
  static constexpr const char* name = "an array";
  static cudaError_t destroy(const Handle& array);
};
struct TextureTraits : DeviceOwned<cudaTextureObject_t, TextureTraits> {
  static constexpr const char* name = "a texture object";
  static cudaError_t destroy(const Handle& texture);
};
struct SurfaceTraits : DeviceOwned<cudaSurfaceObject_t, SurfaceTraits> {
  static constexpr const char* name = "a surface object";
  static cudaError_t destroy(const Handle& surface);
};

struct ArrayShape {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // 0 along missing axes
  unsigned flags = 0;

  // Bytes of one element, including all its channels.
  std::size_t itemsize() const {
    return std::size_t(format.x + format.y + format.z + format.w) / 8;
  }
};

// Owned array. Constructors and functions throw DeviceError, here and below.
class TextureArray {
 public:
  explicit TextureArray(const ArrayShape& shape);

  cudaArray_t get() const;  // throws after free() or a reset of the device
  const ArrayTraits::Handle& handle() const { return handle_.get(); }
  int device() const { return handle_.get().device; }
  ArrayShape shape() const;  // as reported by the runtime
  std::size_t itemsize() const { return itemsize_; }
  Status free();  // a second call does nothing

 private:
  UniqueHandle<ArrayTraits> handle_;
  std::size_t itemsize_;
};

// Resource that a texture can read: an array, `nbytes` of memory, or rows spaced `pitch` bytes
// apart.
cudaResourceDesc resource_of(const TextureArray& array);
cudaResourceDesc resource_of(void* address, const cudaChannelFormatDesc& format,
                             std::size_t nbytes);
cudaResourceDesc resource_of(void* address, const cudaChannelFormatDesc& format, std::size_t width,
                             std::size_t height, std::size_t pitch);

// Texture object; the description defines how it reads. It keeps `array` alive, the resource's
// array if it has one. Plain memory must outlive the object.
class TextureObject {
 public:
  TextureObject(const cudaResourceDesc& resource, const cudaTextureDesc& description,
                std::shared_ptr<const TextureArray> array = nullptr);
  unsigned long long number() const;  // argument for a kernel
  int device() const { return handle_.get().device; }

 private:
  std::shared_ptr<const TextureArray> array_;
  UniqueHandle<TextureTraits> handle_;
};

class SurfaceObject {
 public:
  explicit SurfaceObject(std::shared_ptr<const TextureArray> array);
  unsigned long long number() const;
  int device() const { return handle_.get().device; }

 private:
  std::shared_ptr<const TextureArray> array_;
  UniqueHandle<SurfaceTraits> handle_;
};

// One end of a boxed copy: an array, or memory with rows of `pitch` bytes and `rows` rows per
// slice. The position is in bytes, rows and slices.
struct BoxEnd {
  const TextureArray* array = nullptr;
  void* address = nullptr;
  std::size_t pitch = 0, rows = 0;
  std::size_t x = 0, y = 0, z = 0;
  int device = -1;  // set for a copy between devices
};

// Copy a box, whose width is in bytes. If both ends name a device, the copy is between devices.
// Without a stream the call blocks.
Status copy_box(const BoxEnd& dst, const BoxEnd& src, const cudaExtent& box, cudaMemcpyKind kind,
                const StreamRef* stream);

}  // namespace PyGPU
