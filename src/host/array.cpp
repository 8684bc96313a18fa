// CUDA arrays of the host machine: the table of live arrays, their formats and size limits.
#include "array.h"

#include <cstdlib>

#include "capture.h"
#include "texture_limits.h"

namespace PyGPU::host {
namespace {

// Live arrays by handle. Guarded by the machine's lock.
std::map<cudaArray_t, std::unique_ptr<PyGPUHostArray>>& arrays() {
  static auto& table = *new std::map<cudaArray_t, std::unique_ptr<PyGPUHostArray>>;
  return table;
}

bool up_to(std::size_t length, cudaDeviceAttr limit) {
  return length <= std::size_t(texture_limit(limit));
}

// Return true if the extent is valid for a cubemap: six square faces for each layer.
bool is_cubes(const cudaExtent& e, bool layered) {
  return e.width == e.height && (layered ? e.depth && e.depth % 6 == 0 : e.depth == 6) &&
         (layered ? up_to(e.width, cudaDevAttrMaxTextureCubemapLayeredWidth) &&
                        up_to(e.depth, cudaDevAttrMaxTextureCubemapLayeredLayers)
                  : up_to(e.width, cudaDevAttrMaxTextureCubemapWidth));
}

bool fits_limits(const cudaExtent& e, bool layered) {
  if (e.height == 0 && layered)
    return up_to(e.width, cudaDevAttrMaxTexture1DLayeredWidth) &&
           up_to(e.depth, cudaDevAttrMaxTexture1DLayeredLayers);
  if (layered)
    return up_to(e.width, cudaDevAttrMaxTexture2DLayeredWidth) &&
           up_to(e.height, cudaDevAttrMaxTexture2DLayeredHeight) &&
           up_to(e.depth, cudaDevAttrMaxTexture2DLayeredLayers);
  if (e.depth)
    return up_to(e.width, cudaDevAttrMaxTexture3DWidth) &&
           up_to(e.height, cudaDevAttrMaxTexture3DHeight) &&
           up_to(e.depth, cudaDevAttrMaxTexture3DDepth);
  if (e.height)
    return up_to(e.width, cudaDevAttrMaxTexture2DWidth) &&
           up_to(e.height, cudaDevAttrMaxTexture2DHeight);
  return up_to(e.width, cudaDevAttrMaxTexture1DWidth);
}

cudaError_t check_extent(const cudaExtent& e, unsigned flags) {
  constexpr unsigned known =
      cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather | cudaArrayCubemap;
  if (e.width == 0 || (flags & ~known)) return cudaErrorInvalidValue;
  const bool layered = flags & cudaArrayLayered;
  if (flags & cudaArrayCubemap)
    return is_cubes(e, layered) && !(flags & cudaArrayTextureGather) ? cudaSuccess
                                                                     : cudaErrorInvalidValue;
  if (layered && e.depth == 0) return cudaErrorInvalidValue;
  if (!layered && e.depth && e.height == 0) return cudaErrorInvalidValue;
  if ((flags & cudaArrayTextureGather) && (e.height == 0 || e.depth)) return cudaErrorInvalidValue;
  return fits_limits(e, layered) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t make_array(cudaArray_t* handle, const cudaChannelFormatDesc& format,
                       const cudaExtent& extent, unsigned flags) {
  const std::size_t element = bytes_of(format);
  if (element == 0) return cudaErrorInvalidChannelDescriptor;
  if (const cudaError_t error = check_extent(extent, flags)) return error;
  auto made = std::make_unique<PyGPUHostArray>(
      PyGPUHostArray{current_device(), format, extent, flags, element, 0, nullptr});
  const std::size_t nbytes = made->row_bytes() * made->rows() * made->slices();
  made->charge = (nbytes + Machine::granularity - 1) & ~(Machine::granularity - 1);
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  Device& device = machine.devices[std::size_t(made->device)];
  if (!machine.has_room(device, made->charge)) return cudaErrorMemoryAllocation;
  made->data.reset(static_cast<char*>(std::malloc(made->charge)), &std::free);
  if (!made->data) return cudaErrorMemoryAllocation;
  *handle = made.get();
  device.used += made->charge;
  arrays()[*handle] = std::move(made);
  return cudaSuccess;
}

}  // namespace

std::size_t bytes_of(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  int channels = 0;
  while (channels < 4 && bits[channels]) ++channels;
  for (int i = 0; i < 4; ++i)
    if (bits[i] != (i < channels ? format.x : 0)) return 0;
  if (channels == 0 || channels == 3) return 0;
  if (format.x != 8 && format.x != 16 && format.x != 32) return 0;
  if (format.f < cudaChannelFormatKindSigned || format.f > cudaChannelFormatKindFloat) return 0;
  if (format.f == cudaChannelFormatKindFloat && format.x == 8) return 0;
  return std::size_t(channels) * std::size_t(format.x) / 8;
}

std::optional<PyGPUHostArray> array_of(cudaArray_t handle) {
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const auto found = arrays().find(handle);
  if (found == arrays().end()) return std::nullopt;
  return *found->second;
}

void release_arrays(int device) {
  for (auto entry = arrays().begin(); entry != arrays().end();)
    entry = entry->second->device == device ? arrays().erase(entry) : std::next(entry);
}

std::size_t live_arrays() { return arrays().size(); }

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!array || !format) return cudaErrorInvalidValue;
    return make_array(array, *format, extent, flags);
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!array) return cudaSuccess;
    Machine& machine = Machine::get();
    int device = 0;
    std::shared_ptr<char> data;
    {
      std::lock_guard<std::mutex> hold(machine.lock);
      const auto found = arrays().find(array);
      if (found == arrays().end()) return cudaErrorInvalidResourceHandle;
      device = found->second->device;
      data = found->second->data;
      machine.devices[std::size_t(device)].used -= found->second->charge;
      arrays().erase(found);
    }
    // Kernels of other threads may read the elements by a texture.
    return release_after(Item::Scope::device, device, [data] {});
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return call([&] {
    const auto found = array_of(array);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (format) *format = found->format;
    if (extent) *extent = found->extent;
    if (flags) *flags = found->flags;
    return cudaSuccess;
  });
}
