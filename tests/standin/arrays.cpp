// Arrays, textures, surfaces and boxed copies of the stand-in. HIP's array is a structure that
// holds the machine's; before HIP 6 programs could read it.
#include <memory>

#include "machine.h"

#if HIP_VERSION >= 60000000
struct hipArray {
  void* data;
  hipChannelFormatDesc desc;
  unsigned type, width, height, depth;
};
#endif

using namespace standin;

namespace {

cudaChannelFormatDesc format_of(const hipChannelFormatDesc& format) {
  return {format.x, format.y, format.z, format.w, static_cast<cudaChannelFormatKind>(format.f)};
}
cudaArray_t array_of(hipArray_t array) {
  return array ? static_cast<cudaArray_t>(array->data) : nullptr;
}
cudaPos place_of(const hipPos& place) { return {place.x, place.y, place.z}; }
cudaPitchedPtr rows_of(const hipPitchedPtr& rows) {
  return {rows.ptr, rows.pitch, rows.xsize, rows.ysize};
}

cudaMemcpy3DParms box_of(const hipMemcpy3DParms& box) {
  return {array_of(box.srcArray),
          place_of(box.srcPos),
          rows_of(box.srcPtr),
          array_of(box.dstArray),
          place_of(box.dstPos),
          rows_of(box.dstPtr),
          {box.extent.width, box.extent.height, box.extent.depth},
          kind_of(box.kind)};
}

bool is_known(hipResourceType type) {
  return type == hipResourceTypeArray || type == hipResourceTypeLinear ||
         type == hipResourceTypePitch2D;
}

cudaResourceDesc resource_of(const hipResourceDesc& from) {
  cudaResourceDesc to{};
  to.resType = static_cast<cudaResourceType>(from.resType);
  if (from.resType == hipResourceTypeArray) {
    to.res.array.array = array_of(from.res.array.array);
  } else if (from.resType == hipResourceTypeLinear) {
    to.res.linear = {from.res.linear.devPtr, format_of(from.res.linear.desc),
                     from.res.linear.sizeInBytes};
  } else {
    to.res.pitch2D = {from.res.pitch2D.devPtr, format_of(from.res.pitch2D.desc),
                      from.res.pitch2D.width, from.res.pitch2D.height,
                      from.res.pitch2D.pitchInBytes};
  }
  return to;
}

cudaTextureDesc description_of(const hipTextureDesc& from) {
  cudaTextureDesc to{};
  for (int axis = 0; axis < 3; ++axis)
    to.addressMode[axis] = static_cast<cudaTextureAddressMode>(from.addressMode[axis]);
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.readMode = static_cast<cudaTextureReadMode>(from.readMode);
  to.sRGB = from.sRGB;
  std::memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
  to.normalizedCoords = from.normalizedCoords;
  return to;
}

}  // namespace

extern "C" {
STANDIN_EXPORT hipError_t hipMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* format,
                                           hipExtent extent, unsigned flags) {
  if (!array || !format) return finish(hipErrorInvalidValue);
  const cudaChannelFormatDesc channels = format_of(*format);
  cudaArray_t made = nullptr;
  const cudaError_t error =
      cudaMalloc3DArray(&made, &channels, {extent.width, extent.height, extent.depth}, flags);
  if (error) return finish(error);
  auto shown = std::make_unique<hipArray>();
  *shown = {};
  shown->data = made;
  shown->desc = *format;
  shown->type = flags;
  shown->width = unsigned(extent.width);
  shown->height = unsigned(extent.height);
  shown->depth = unsigned(extent.depth);
  *array = shown.release();
  return finish(hipSuccess);
}
STANDIN_EXPORT hipError_t hipFreeArray(hipArray_t array) {
  if (!array) return finish(hipErrorInvalidValue);
  const cudaError_t error = cudaFreeArray(array_of(array));
  delete array;
  return finish(error);
}
#if HIP_VERSION >= 50600000
STANDIN_EXPORT hipError_t hipArrayGetInfo(hipChannelFormatDesc* format, hipExtent* extent,
                                          unsigned* flags, hipArray_t array) {
  if (!format || !extent || !flags || !array) return finish(hipErrorInvalidValue);
  *format = array->desc;
  *extent = {array->width, array->height, array->depth};
  *flags = array->type;
  return finish(hipSuccess);
}
#endif
STANDIN_EXPORT hipError_t hipMemcpy3D(const hipMemcpy3DParms* box) {
  if (!box) return finish(hipErrorInvalidValue);
  const cudaMemcpy3DParms same = box_of(*box);
  return finish(cudaMemcpy3D(&same));
}
STANDIN_EXPORT hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* box, hipStream_t stream) {
  if (!box) return finish(hipErrorInvalidValue);
  const cudaMemcpy3DParms same = box_of(*box);
  return finish(cudaMemcpy3DAsync(&same, stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipCreateTextureObject(hipTextureObject_t* texture,
                                                 const hipResourceDesc* resource,
                                                 const hipTextureDesc* description,
                                                 const hipResourceViewDesc*) {
  if (!texture || !resource || !description || !is_known(resource->resType))
    return finish(hipErrorInvalidValue);
  const cudaResourceDesc from = resource_of(*resource);
  const cudaTextureDesc how = description_of(*description);
  static_assert(sizeof(cudaTextureObject_t) == sizeof(hipTextureObject_t));
  return finish(cudaCreateTextureObject(reinterpret_cast<cudaTextureObject_t*>(texture), &from,
                                        &how, nullptr));
}
STANDIN_EXPORT hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  return finish(cudaDestroyTextureObject(reinterpret_cast<cudaTextureObject_t>(texture)));
}
}

// Up to ROCm 5, these two have C++ names.
STANDIN_EXPORT hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* surface,
                                                 const hipResourceDesc* resource) {
  if (!surface || !resource || resource->resType != hipResourceTypeArray)
    return finish(hipErrorInvalidValue);
  const cudaResourceDesc from = resource_of(*resource);
  static_assert(sizeof(cudaSurfaceObject_t) == sizeof(hipSurfaceObject_t));
  return finish(cudaCreateSurfaceObject(reinterpret_cast<cudaSurfaceObject_t*>(surface), &from));
}
STANDIN_EXPORT hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface) {
  return finish(cudaDestroySurfaceObject(reinterpret_cast<cudaSurfaceObject_t>(surface)));
}
