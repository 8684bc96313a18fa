// Private classes and calls for texture arrays, texture and surface objects, and boxed copies,
// which PyGPU/_driver/arrays.py and strided_copies.py wrap.
#include "PyGPU/runtime/peers.h"
#include "python/binders.h"
#include "python/binding/repr.h"
#include "python/runtime/call.h"
#include "python/runtime/memory_device.h"

namespace PyGPU::python {

namespace {

using SharedArray = std::shared_ptr<TextureArray>;

// Return the array in a Python object; throws TypeError for other objects.
SharedArray array_in(py::handle object) {
  if (!is<TextureArray>(object) || !instance_at<TextureArray>(object.ptr())->made)
    throw py::type_error("expected an Array, got " + repr_of(object));
  return held<TextureArray>(object);
}

std::string array_text(const SharedArray& array) {
  const ArrayTraits::Handle& handle = array->handle();
  return handle_text(handle.value, handle.device, handle.epoch);
}

template <class T>
T at(const py::tuple& values, std::size_t index) {
  return values[index].cast<T>();
}

// Convert (bits per channel, number of channels, kind).
cudaChannelFormatDesc format_of(const py::tuple& given) {
  const int bits = at<int>(given, 0), channels = at<int>(given, 1);
  const auto channel = [=](int number) { return number < channels ? bits : 0; };
  return {channel(0), channel(1), channel(2), channel(3),
          static_cast<cudaChannelFormatKind>(at<int>(given, 2))};
}

py::tuple description_of(const cudaChannelFormatDesc& format) {
  const int channels = (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
  return py::make_tuple(format.x, channels, int(format.f));
}

SharedArray make_texture_array(py::handle, const py::tuple& format, std::size_t width,
                               std::size_t height, std::size_t depth, unsigned flags) {
  const ArrayShape shape{format_of(format), {width, height, depth}, flags};
  const NoGil without = release_gil();
  return std::make_shared<TextureArray>(shape);
}

// Create a texture object. `source` is an array or an address; `format` and `extent` describe the
// memory at an address, as rows or, with a height of 0, as linear memory.
std::shared_ptr<TextureObject> make_texture_object(py::handle, py::handle source,
                                                   const py::tuple& format, const py::tuple& extent,
                                                   const py::tuple& modes, int filter,
                                                   bool normalized_coords, bool normalized_float,
                                                   const py::tuple& border, bool srgb) {
  cudaTextureDesc how{};
  for (std::size_t i = 0; i < 3; ++i)
    how.addressMode[i] = static_cast<cudaTextureAddressMode>(at<int>(modes, i));
  for (std::size_t i = 0; i < 4; ++i) how.borderColor[i] = at<float>(border, i);
  how.filterMode = static_cast<cudaTextureFilterMode>(filter);
  how.readMode = normalized_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  how.normalizedCoords = normalized_coords;
  how.sRGB = srgb;
  if (is<TextureArray>(source)) {
    const SharedArray array = array_in(source);
    return std::make_shared<TextureObject>(resource_of(*array), how, array);
  }
  void* const address = address_of(source, "source");
  const auto storage = is_only_device() ? nullptr : Storage::holding(address);
  const bool is_near = !storage || reaches_peer(current_device(), storage->device());
  const DeviceGuard there = is_near ? DeviceGuard() : use_device_at(address);
  const auto width = at<std::size_t>(extent, 0), height = at<std::size_t>(extent, 1),
             pitch = at<std::size_t>(extent, 2);
  const cudaChannelFormatDesc elements = format_of(format);
  return std::make_shared<TextureObject>(height
                                             ? resource_of(address, elements, width, height, pitch)
                                             : resource_of(address, elements, pitch),
                                         how);
}

// Convert (array or address, pitch, rows per slice, x, y, z, device).
BoxEnd box_end(const py::tuple& given, SharedArray& keep) {
  BoxEnd end;
  const py::object where = given[0];
  if (is<TextureArray>(where)) {
    keep = array_in(where);
    end.array = keep.get();
  } else {
    end.address = address_of(where, "address");
  }
  end.pitch = at<std::size_t>(given, 1);
  end.rows = at<std::size_t>(given, 2);
  end.x = at<std::size_t>(given, 3);
  end.y = at<std::size_t>(given, 4);
  end.z = at<std::size_t>(given, 5);
  end.device = at<int>(given, 6);
  return end;
}

Status copy_given_box(const py::tuple& dst, const py::tuple& src, std::size_t width,
                      std::size_t height, std::size_t depth, int kind, py::handle stream,
                      bool wait) {
  if (wait && Capture::current()) return refusal_to_wait();
  SharedArray to_array, from_array;
  const BoxEnd to = box_end(dst, to_array), from = box_end(src, from_array);
  const StreamRef order = wait ? StreamRef{} : stream_of(stream);
  const cudaExtent box{width, height, depth};
  return call_on(order, {to.address, from.address}, [&] {
    return copy_box(to, from, box, static_cast<cudaMemcpyKind>(kind), wait ? nullptr : &order);
  });
}

}  // namespace

void bind_textures(module_& m) {
  const py::object a =
      new_class<TextureArray>(m, "_Array", "Array that textures and surfaces can access.");
  method(a, "__repr__",
         [](const py::object& self) { return described<TextureArray>(self, &array_text); });
  constructor(a, &make_texture_array, {{"format"}, {"width"}, {"height"}, {"depth"}, {"flags"}});
  method(a, "_free", [](py::handle self) {
    const SharedArray array = array_in(self);
    return call([&] { return array->free(); });
  });
  method(a, "_shape", [](py::handle self) {
    const ArrayShape shape = array_in(self)->shape();
    return py::make_tuple(description_of(shape.format), shape.extent.width, shape.extent.height,
                          shape.extent.depth, shape.flags);
  });
  property(
      a, "handle", [](py::handle self) { return number_of(array_in(self)->get()); },
      "The cudaArray_t as a number.");
  property(a, "_device", [](py::handle self) { return array_in(self)->device(); });

  const py::object t = new_class<TextureObject>(m, "_TextureObject", "Texture object.");
  constructor(t, &make_texture_object,
              {{"source"},
               {"format"},
               {"extent"},
               {"modes"},
               {"filter"},
               {"normalized_coords"},
               {"normalized_float"},
               {"border"},
               {"srgb"}});
  const auto texture = [](const TextureObject& self) { return self.number(); };
  int_methods(t, texture);
  property(t, "handle", texture, "The cudaTextureObject_t as a number.");
  property(t, "_device", [](const TextureObject& self) { return self.device(); });

  const py::object s = new_class<SurfaceObject>(m, "_SurfaceObject", "Surface object.");
  constructor(
      s,
      [](py::handle, py::handle array) { return std::make_shared<SurfaceObject>(array_in(array)); },
      {{"array"}});
  const auto surface = [](const SurfaceObject& self) { return self.number(); };
  int_methods(s, surface);
  property(s, "handle", surface, "The cudaSurfaceObject_t as a number.");
  property(s, "_device", [](const SurfaceObject& self) { return self.device(); });

  def(m, "_copy_box", &copy_given_box, "Copy a box between two ends, as box_end converts them.",
      {{"dst"}, {"src"}, {"width"}, {"height"}, {"depth"}, {"kind"}, {"stream"}, {"wait"}});
}

}  // namespace PyGPU::python
