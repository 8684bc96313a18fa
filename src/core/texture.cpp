// Arrays, texture and surface objects, and boxed copies. See texture.h.
#include "PyGPU/texture.h"

#include <algorithm>

namespace PyGPU {
namespace {

// Create on a device by `create(value)`, and own.
template <class Handle, class Create>
Handle make_owned(int device, const char* call, const std::string& detail, Create create) {
  const DeviceGuard here = use_device(device);
  Handle handle;
  handle.device = device;
  handle.epoch = device_epoch(handle.device);
  if (const cudaError_t error = create(&handle.value)) check(call, {error, detail});
  return handle;
}

// The handle; throws if it was freed or lost since it was made.
template <class Owner>
auto alive(const Owner& owner, const char* what) {
  if (forked()) throw DeviceError(what, forked_status());
  if (!owner)
    throw DeviceError(what, {cudaErrorInvalidResourceHandle, std::string(what) + " was freed"});
  if (is_gone(owner.get().device, owner.get().epoch))
    throw DeviceError(what, {cudaErrorInvalidResourceHandle,
                             "cudaDeviceReset has destroyed it since it was made"});
  return owner.get().value;
}

// An integer on one target, a pointer on another.
template <class Handle>
unsigned long long as_number(Handle handle) {
  return (unsigned long long)(handle);
}

std::string shape_detail(const ArrayShape& shape) {
  const cudaChannelFormatDesc& f = shape.format;
  const int bits[] = {f.x, f.y, f.z, f.w};
  const auto channels = 4 - std::count(bits, bits + 4, 0);
  return "width=" + std::to_string(shape.extent.width) +
         ", height=" + std::to_string(shape.extent.height) +
         ", depth=" + std::to_string(shape.extent.depth) + ", " + std::to_string(channels) +
         " channels of " + std::to_string(f.x) + " bits, flags=" + std::to_string(shape.flags);
}

std::string box_detail(const BoxEnd& dst, const BoxEnd& src, const cudaExtent& box) {
  const auto text = [](const BoxEnd& end) {
    return "(x=" + std::to_string(end.x) + ", y=" + std::to_string(end.y) +
           ", z=" + std::to_string(end.z) + ") of " +
           (end.array ? "an array"
                      : "memory with pitch=" + std::to_string(end.pitch) +
                            ", height=" + std::to_string(end.rows));
  };
  return std::to_string(box.width) + " bytes x " + std::to_string(box.height) + " rows x " +
         std::to_string(box.depth) + " slices from " + text(src) + " to " + text(dst);
}

// An end in the runtime's units: elements in an array, bytes at an address.
void set_end(const BoxEnd& end, const cudaExtent& box, cudaArray_t& array, cudaPos& position,
             cudaPitchedPtr& memory) {
  if (end.array) {
    array = end.array->get();
    position = {end.x / end.array->itemsize(), end.y, end.z};
    return;
  }
  const bool one_row = box.height == 1 && box.depth == 1;
  const std::size_t rows = std::max(end.rows, std::size_t(box.height));
  memory.ptr = static_cast<char*>(end.address) + (end.z * end.rows + end.y) * end.pitch + end.x;
  memory.pitch = one_row ? box.width : end.pitch;
  memory.xsize = memory.pitch;
  memory.ysize = box.depth > 1 ? end.rows : rows;
}

}  // namespace

TextureArray::TextureArray(const ArrayShape& shape)
    : handle_(make_owned<DeviceOwnedTraits<cudaArray_t, ArrayKind>::Handle>(
          current_device(), "cudaMalloc3DArray", shape_detail(shape),
          [&](cudaArray_t* array) {
            return cudaMalloc3DArray(array, &shape.format, shape.extent, shape.flags);
          })),
      itemsize_(shape.itemsize()) {}

cudaArray_t TextureArray::get() const { return alive(handle_, "the array"); }

ArrayShape TextureArray::shape() const {
  ArrayShape shape;
  check("cudaArrayGetInfo", cudaArrayGetInfo(&shape.format, &shape.extent, &shape.flags, get()));
  return shape;
}

Status TextureArray::free() { return handle_.reset(); }

cudaResourceDesc resource_of(const TextureArray& array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array.get();
  return resource;
}

cudaResourceDesc resource_of(void* address, const cudaChannelFormatDesc& format,
                             std::size_t nbytes) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = address;
  resource.res.linear.desc = format;
  resource.res.linear.sizeInBytes = nbytes;
  return resource;
}

cudaResourceDesc resource_of(void* address, const cudaChannelFormatDesc& format, std::size_t width,
                             std::size_t height, std::size_t pitch) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = address;
  resource.res.pitch2D.desc = format;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return resource;
}

TextureObject::TextureObject(const cudaResourceDesc& resource, const cudaTextureDesc& description,
                             std::shared_ptr<const TextureArray> array)
    : array_(std::move(array)),
      handle_(make_owned<DeviceOwnedTraits<cudaTextureObject_t, TextureKind>::Handle>(
          array_ ? array_->device() : current_device(), "cudaCreateTextureObject", "",
          [&](cudaTextureObject_t* texture) {
            return cudaCreateTextureObject(texture, &resource, &description, nullptr);
          })) {}

unsigned long long TextureObject::number() const {
  return as_number(alive(handle_, "the texture object"));
}

SurfaceObject::SurfaceObject(std::shared_ptr<const TextureArray> array)
    : array_(std::move(array)),
      handle_(make_owned<DeviceOwnedTraits<cudaSurfaceObject_t, SurfaceKind>::Handle>(
          array_->device(), "cudaCreateSurfaceObject", "", [&](cudaSurfaceObject_t* surface) {
            const cudaResourceDesc resource = resource_of(*array_);
            return cudaCreateSurfaceObject(surface, &resource);
          })) {}

unsigned long long SurfaceObject::number() const {
  return as_number(alive(handle_, "the surface object"));
}

Status copy_box(const BoxEnd& dst, const BoxEnd& src, const cudaExtent& box, cudaMemcpyKind kind,
                const StreamRef* stream) {
  const std::size_t to = dst.array ? dst.array->itemsize() : 1;
  const std::size_t from = src.array ? src.array->itemsize() : 1;
  const std::size_t element = std::max(to, from);
  const bool whole = src.x % from == 0 && dst.x % to == 0 && box.width % element == 0;
  const bool equal = !src.array || !dst.array || to == from;
  if (!whole || !equal)
    return {cudaErrorInvalidValue, "arrays are copied by whole elements, of " +
                                       std::to_string(from) + " and " + std::to_string(to) +
                                       " bytes: " + box_detail(dst, src, box)};
  if (box.width == 0 || box.height == 0 || box.depth == 0) return {};
  const TextureArray* const array = dst.array ? dst.array : src.array;
  const DeviceGuard here = array && !stream ? use_device(array->device()) : DeviceGuard();
  cudaError_t error = cudaSuccess;
  const cudaExtent extent{box.width / element, box.height, box.depth};
  if (src.device >= 0 && dst.device >= 0) {
    cudaMemcpy3DPeerParms peer{};
    set_end(src, box, peer.srcArray, peer.srcPos, peer.srcPtr);
    set_end(dst, box, peer.dstArray, peer.dstPos, peer.dstPtr);
    peer.srcDevice = src.device;
    peer.dstDevice = dst.device;
    peer.extent = extent;
    error = stream ? cudaMemcpy3DPeerAsync(&peer, stream->handle) : cudaMemcpy3DPeer(&peer);
  } else {
    cudaMemcpy3DParms plain{};
    set_end(src, box, plain.srcArray, plain.srcPos, plain.srcPtr);
    set_end(dst, box, plain.dstArray, plain.dstPos, plain.dstPtr);
    plain.extent = extent;
    plain.kind = kind;
    error = stream ? cudaMemcpy3DAsync(&plain, stream->handle) : cudaMemcpy3D(&plain);
  }
  return error ? Status{error, box_detail(dst, src, box)} : Status{};
}

}  // namespace PyGPU
