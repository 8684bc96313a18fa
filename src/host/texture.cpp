// Texture and surface objects of the host machine: creation, validation and destruction.
#include "texture.h"

#include <deque>

#include "array.h"
#include "capture.h"
#include "texture_limits.h"

namespace PyGPU::host {
namespace {

// Table of live texture or surface objects. Use it under the machine's lock. The memory of an
// object is reused but never freed: a kernel that uses a destroyed object finds its data pointer
// null.
template <class View>
class Objects {
 public:
  unsigned long long add(const View& view, std::shared_ptr<char> owner, int device) {
    if (free_.empty()) {
      all_.emplace_back();
      free_.push_back(&all_.back());
    }
    Entry* const entry = free_.back();
    free_.pop_back();
    *entry = {view, std::move(owner), device};
    const auto handle = reinterpret_cast<std::uintptr_t>(&entry->view);
    live_[handle] = entry;
    return handle;
  }
  bool remove(unsigned long long handle) {
    const auto found = live_.find(static_cast<std::uintptr_t>(handle));
    if (found == live_.end()) return false;
    drop(found);
    return true;
  }
  std::size_t count() const { return live_.size(); }
  void forget(int device) {
    for (auto entry = live_.begin(); entry != live_.end();)
      entry = entry->second->device == device ? drop(entry) : std::next(entry);
  }

 private:
  struct Entry {
    View view{};
    std::shared_ptr<char> owner;
    int device = 0;
  };
  using Live = std::map<std::uintptr_t, Entry*>;

  typename Live::iterator drop(typename Live::iterator at) {
    *at->second = {};
    free_.push_back(at->second);
    return live_.erase(at);
  }

  std::deque<Entry> all_;  // a deque: addresses stay valid as it grows
  std::vector<Entry*> free_;
  Live live_;
};

Objects<PyGPUHostTexture>& textures() {
  static auto& objects = *new Objects<PyGPUHostTexture>;
  return objects;
}
Objects<PyGPUHostSurface>& surfaces() {
  static auto& objects = *new Objects<PyGPUHostSurface>;
  return objects;
}

void set_format(PyGPUHostTexture& t, const cudaChannelFormatDesc& format) {
  t.channel_bytes = format.x / 8;
  t.channels = int(bytes_of(format)) / t.channel_bytes;
  t.kind = format.f;
}

void view_array(PyGPUHostTexture& t, const PyGPUHostArray& array) {
  t.data = array.data.get();
  t.row_bytes = array.row_bytes();
  t.slice_bytes = t.row_bytes * array.rows();
  t.lengths[0] = static_cast<long long>(array.extent.width);
  t.lengths[1] = static_cast<long long>(array.rows());
  t.lengths[2] = static_cast<long long>(array.slices());
  set_format(t, array.format);
}

bool aligned(const void* address, cudaDeviceAttr alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % std::size_t(texture_limit(alignment)) == 0;
}

cudaError_t view_memory(PyGPUHostTexture& t, const void* address,
                        const cudaChannelFormatDesc& format, std::size_t width, std::size_t height,
                        std::size_t pitch) {
  const std::size_t nbytes = pitch * (height - 1) + width * bytes_of(format);
  if (!aligned(address, cudaDevAttrTextureAlignment)) return cudaErrorInvalidValue;
  if (!Machine::get().device_can_access(address, nbytes)) return cudaErrorInvalidValue;
  t.data = static_cast<const char*>(address);
  t.row_bytes = pitch;
  t.lengths[0] = static_cast<long long>(width);
  t.lengths[1] = static_cast<long long>(height);
  t.lengths[2] = 1;
  set_format(t, format);
  return cudaSuccess;
}

cudaError_t view_resource(PyGPUHostTexture& t, const cudaResourceDesc& resource,
                          std::shared_ptr<char>& owner) {
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const auto array = array_of(resource.res.array.array);
      if (!array) return cudaErrorInvalidResourceHandle;
      owner = array->data;
      view_array(t, *array);
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      const std::size_t element = bytes_of(linear.desc);
      if (element == 0) return cudaErrorInvalidChannelDescriptor;
      const std::size_t width = linear.sizeInBytes / element;
      if (width == 0 || width > std::size_t(texture_limit(cudaDevAttrMaxTexture1DLinearWidth)))
        return cudaErrorInvalidValue;
      return view_memory(t, linear.devPtr, linear.desc, width, 1, linear.sizeInBytes);
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      const std::size_t element = bytes_of(rows.desc);
      if (element == 0) return cudaErrorInvalidChannelDescriptor;
      const std::size_t pitch = rows.pitchInBytes;
      const bool good =
          rows.width && rows.height &&
          rows.width <= std::size_t(texture_limit(cudaDevAttrMaxTexture2DLinearWidth)) &&
          rows.height <= std::size_t(texture_limit(cudaDevAttrMaxTexture2DLinearHeight)) &&
          pitch <= std::size_t(texture_limit(cudaDevAttrMaxTexture2DLinearPitch)) &&
          pitch % std::size_t(texture_limit(cudaDevAttrTexturePitchAlignment)) == 0 &&
          pitch >= rows.width * element;
      if (!good) return cudaErrorInvalidValue;
      return view_memory(t, rows.devPtr, rows.desc, rows.width, rows.height, pitch);
    }
    default: return cudaErrorNotSupported;
  }
}

cudaError_t set_sampling(PyGPUHostTexture& t, const cudaTextureDesc& d) {
  t.linear = d.filterMode == cudaFilterModeLinear;
  t.normalized = d.normalizedCoords != 0;
  t.as_float = d.readMode == cudaReadModeNormalizedFloat && t.kind != cudaChannelFormatKindFloat;
  if (t.as_float && t.channel_bytes == 4) return cudaErrorInvalidValue;
  t.srgb = d.sRGB && t.as_float && t.channel_bytes == 1 && t.kind == cudaChannelFormatKindUnsigned;
  if (t.linear && !t.as_float && t.kind != cudaChannelFormatKindFloat) return cudaErrorInvalidValue;
  for (int axis = 0; axis < 3; ++axis) {
    const cudaTextureAddressMode mode = d.addressMode[axis];
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
    // CUDA wraps and mirrors only normalized coordinates; otherwise it clamps.
    const bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    t.modes[axis] = repeats && !t.normalized ? cudaAddressModeClamp : mode;
  }
  for (int i = 0; i < 4; ++i) t.border[i] = d.borderColor[i];
  return cudaSuccess;
}

cudaError_t make_texture(cudaTextureObject_t* handle, const cudaResourceDesc& resource,
                         const cudaTextureDesc& description) {
  PyGPUHostTexture view{};
  std::shared_ptr<char> owner;
  if (const cudaError_t error = view_resource(view, resource, owner)) return error;
  if (const cudaError_t error = set_sampling(view, description)) return error;
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  *handle = textures().add(view, std::move(owner), current_device());
  return cudaSuccess;
}

cudaError_t make_surface(cudaSurfaceObject_t* handle, const cudaResourceDesc& resource) {
  if (resource.resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  const auto array = array_of(resource.res.array.array);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (!(array->flags & cudaArraySurfaceLoadStore)) return cudaErrorInvalidValue;
  const std::size_t row_bytes = array->row_bytes();
  const PyGPUHostSurface view{
      array->data.get(),
      row_bytes,
      row_bytes * array->rows(),
      {static_cast<long long>(row_bytes), static_cast<long long>(array->rows()),
       static_cast<long long>(array->slices())}};
  std::lock_guard<std::mutex> hold(Machine::get().lock);
  *handle = surfaces().add(view, array->data, current_device());
  return cudaSuccess;
}

}  // namespace

void release_textures(int device) {
  textures().forget(device);
  surfaces().forget(device);
}

std::size_t live_textures() { return textures().count() + surfaces().count(); }

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!texture || !resource || !description) return cudaErrorInvalidValue;
    return view ? cudaErrorNotSupported : make_texture(texture, *resource, *description);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!texture) return cudaSuccess;
    std::lock_guard<std::mutex> hold(Machine::get().lock);
    return textures().remove(texture) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!surface || !resource) return cudaErrorInvalidValue;
    return make_surface(surface, *resource);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!surface) return cudaSuccess;
    std::lock_guard<std::mutex> hold(Machine::get().lock);
    return surfaces().remove(surface) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
