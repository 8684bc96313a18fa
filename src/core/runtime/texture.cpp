// Arrays, texture and surface objects, and boxed copies. See texture.h.
#include "PyGPU/runtime/texture.h"

#include <algorithm>
#include <optional>

#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/transfer.h"

namespace PyGPU {
namespace {

template <class Handle, class Destroy>
cudaError_t destroy_waiting(const Handle& handle, Destroy destroy) {
  return waiting_in_relaxed_mode(
      [&] { return release_on_device(handle.device, [&] { return destroy(handle.value); }); });
}

// Return the handle; throws if it was freed, or lost in a reset of the device.
template <class Owner>
auto alive(const Owner& owner, const char* what) {
  if (!owner && !forked())
    throw DeviceError(what, {cudaErrorInvalidResourceHandle, std::string(what) + " was freed"});
  require_not_gone(what, owner.get().device, owner.get().epoch, "cudaDeviceReset has destroyed it");
  return owner.get().value;
}

// Convert a handle to a number; it is an integer on one target and a pointer on another.
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

// Set an end in the runtime's units: elements in an array, bytes at an address.
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

cudaError_t ArrayTraits::destroy(const Handle& array) {
  return destroy_waiting(array, &cudaFreeArray);
}
cudaError_t TextureTraits::destroy(const Handle& texture) {
  return destroy_waiting(texture, &cudaDestroyTextureObject);
}
cudaError_t SurfaceTraits::destroy(const Handle& surface) {
  return destroy_waiting(surface, &cudaDestroySurfaceObject);
}

TextureArray::TextureArray(const ArrayShape& shape) : itemsize_(shape.itemsize()) {
  const auto create = [&](ArrayTraits::Handle& array) {
    return cudaMalloc3DArray(&array.value, &shape.format, shape.extent, shape.flags);
  };
  const auto [width, height, depth] = shape.extent;
  const std::size_t count =
      width * std::max<std::size_t>(height, 1) * std::max<std::size_t>(depth, 1);
  check("cudaMalloc3DArray", allocate(MemoryKind::device, count * itemsize_, [&]() -> Status {
          const RelaxedCaptureMode relaxed = relax_capture_mode();
          const cudaError_t error = make_owned(handle_, current_device(), create);
          return error ? Status(error, shape_detail(shape)) : Status();
        }));
}

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
    : array_(std::move(array)) {
  const int device = array_ ? array_->device() : current_device();
  const DeviceGuard here = use_device(device);
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  check("cudaCreateTextureObject", make_owned(handle_, device, [&](TextureTraits::Handle& texture) {
          return cudaCreateTextureObject(&texture.value, &resource, &description, nullptr);
        }));
}

unsigned long long TextureObject::number() const {
  return as_number(alive(handle_, "the texture object"));
}

SurfaceObject::SurfaceObject(std::shared_ptr<const TextureArray> array) : array_(std::move(array)) {
  const DeviceGuard here = use_device(array_->device());
  const cudaResourceDesc resource = resource_of(*array_);
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  check("cudaCreateSurfaceObject",
        make_owned(handle_, array_->device(), [&](SurfaceTraits::Handle& surface) {
          return cudaCreateSurfaceObject(&surface.value, &resource);
        }));
}

unsigned long long SurfaceObject::number() const {
  return as_number(alive(handle_, "the surface object"));
}

namespace {

char* start_of(const BoxEnd& end, std::size_t plane) {
  return static_cast<char*>(end.address) + ((end.z + plane) * end.rows + end.y) * end.pitch + end.x;
}

// Copy between host and device memory, without arrays, by the fast transfers. Returns nothing for
// other copies, and for pitches that the runtime reports as wrong.
std::optional<Status> copy_linear_box(const BoxEnd& dst, const BoxEnd& src, const cudaExtent& box,
                                      cudaMemcpyKind kind) {
  const bool up = kind == cudaMemcpyHostToDevice;
  if (dst.array || src.array || !(up || kind == cudaMemcpyDeviceToHost) ||
      box.width > std::min(dst.pitch, src.pitch))
    return {};
  const auto copy = [&](std::size_t plane, std::size_t rows) {
    char *const to = start_of(dst, plane), *const from = start_of(src, plane);
    return up ? upload_rows(to, dst.pitch, from, src.pitch, box.width, rows)
              : download_rows(to, dst.pitch, from, src.pitch, box.width, rows);
  };
  // Planes without rows between them are one.
  if (box.depth == 1 || (dst.rows == box.height && src.rows == box.height))
    return copy(0, box.height * box.depth);
  for (std::size_t plane = 0; plane < box.depth; ++plane)
    if (Status status = copy(plane, box.height); status.failed()) return status;
  return Status();
}

}  // namespace

Status copy_box(const BoxEnd& dst, const BoxEnd& src, const cudaExtent& box, cudaMemcpyKind kind,
                const StreamRef* stream) {
  const std::size_t to = dst.array ? dst.array->itemsize() : 1;
  const std::size_t from = src.array ? src.array->itemsize() : 1;
  const std::size_t element = std::max(to, from);
  const bool whole = src.x % from == 0 && dst.x % to == 0 && box.width % element == 0;
  const bool equal = !src.array || !dst.array || to == from;
  if (!whole || !equal)
    return {cudaErrorInvalidValue, "arrays are copied in whole elements, of " +
                                       std::to_string(from) + " and " + std::to_string(to) +
                                       " bytes: " + box_detail(dst, src, box)};
  if (box.width == 0 || box.height == 0 || box.depth == 0) return {};
  const TextureArray* const array = dst.array ? dst.array : src.array;
  const DeviceGuard here = array && !stream ? use_device(array->device()) : DeviceGuard();
  if (!stream && src.device < 0 && dst.device < 0)
    if (std::optional<Status> done = copy_linear_box(dst, src, box, kind)) {
      if (done->failed() && done->detail.empty()) done->detail = box_detail(dst, src, box);
      return *done;
    }
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
