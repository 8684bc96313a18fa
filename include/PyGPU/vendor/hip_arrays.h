// Arrays, textures, surfaces and boxed copies on the `hip` target.
#pragma once

#include <hip/hip_runtime.h>

// Constants: the same word after the prefix.
// clang-format off
#define PYGPU_HIP_ARRAY_CONSTANTS(X)                                                              \
  X(ArrayDefault) X(ArrayLayered) X(ArraySurfaceLoadStore) X(ArrayCubemap) X(ArrayTextureGather)  \
  X(ChannelFormatKindSigned) X(ChannelFormatKindUnsigned) X(ChannelFormatKindFloat)               \
  X(ChannelFormatKindNone) X(ResourceTypeArray) X(ResourceTypeLinear) X(ResourceTypePitch2D)      \
  X(AddressModeWrap) X(AddressModeClamp) X(AddressModeMirror) X(AddressModeBorder)                \
  X(FilterModePoint) X(FilterModeLinear) X(ReadModeElementType) X(ReadModeNormalizedFloat)
// clang-format on
#define PYGPU_SAME(name) constexpr auto cuda##name = hip##name;
PYGPU_HIP_ARRAY_CONSTANTS(PYGPU_SAME)
#undef PYGPU_SAME

// Types, which are macros so that `struct cudaExtent` is one as well, and functions.
#define cudaArray_t hipArray_t
#define cudaArray hipArray
#define cudaChannelFormatDesc hipChannelFormatDesc
#define cudaChannelFormatKind hipChannelFormatKind
#define cudaCreateChannelDesc hipCreateChannelDesc
#define cudaExtent hipExtent
#define cudaPos hipPos
#define cudaPitchedPtr hipPitchedPtr
#define cudaMemcpy3DParms hipMemcpy3DParms
#define cudaTextureObject_t hipTextureObject_t
#define cudaSurfaceObject_t hipSurfaceObject_t
#define cudaResourceDesc hipResourceDesc
#define cudaResourceType hipResourceType
#define cudaTextureDesc hipTextureDesc
#define cudaTextureAddressMode hipTextureAddressMode
#define cudaTextureFilterMode hipTextureFilterMode
#define cudaTextureReadMode hipTextureReadMode
#define make_cudaExtent make_hipExtent
#define make_cudaPos make_hipPos
#define make_cudaPitchedPtr make_hipPitchedPtr
#define cudaMallocArray hipMallocArray
#define cudaMalloc3DArray hipMalloc3DArray
#define cudaMemcpy2DToArray hipMemcpy2DToArray
#define cudaMemcpy2DFromArray hipMemcpy2DFromArray
#define cudaMemcpy2DToArrayAsync hipMemcpy2DToArrayAsync
#define cudaMemcpy2DFromArrayAsync hipMemcpy2DFromArrayAsync
#define cudaFreeArray hipFreeArray
#define cudaMemcpy3D hipMemcpy3D
#define cudaMemcpy3DAsync hipMemcpy3DAsync
#define cudaCreateTextureObject hipCreateTextureObject
#define cudaDestroyTextureObject hipDestroyTextureObject

#if HIP_VERSION < 60000000
// HIP 5.2 exports the functions of surfaces by their C++ names; later versions have the C names as
// well, or instead. An extension that was linked with one version of HIP 5 loads with each other.
#define PYGPU_HIP_NAME(name) __asm__(name) __attribute__((weak))
extern "C" {
hipError_t PyGPU_create_surface(hipSurfaceObject_t* surface, const hipResourceDesc* resource)
    PYGPU_HIP_NAME("hipCreateSurfaceObject");
hipError_t PyGPU_create_surface_cpp(hipSurfaceObject_t* surface, const hipResourceDesc* resource)
    PYGPU_HIP_NAME("_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc");
hipError_t PyGPU_destroy_surface(hipSurfaceObject_t surface)
    PYGPU_HIP_NAME("hipDestroySurfaceObject");
hipError_t PyGPU_destroy_surface_cpp(hipSurfaceObject_t surface)
    PYGPU_HIP_NAME("_Z23hipDestroySurfaceObjectP13__hip_surface");
}
#undef PYGPU_HIP_NAME
inline hipError_t cudaCreateSurfaceObject(hipSurfaceObject_t* surface,
                                          const hipResourceDesc* resource) {
  const auto create = PyGPU_create_surface ? &PyGPU_create_surface : &PyGPU_create_surface_cpp;
  return create(surface, resource);
}
inline hipError_t cudaDestroySurfaceObject(hipSurfaceObject_t surface) {
  const auto destroy = PyGPU_destroy_surface ? &PyGPU_destroy_surface : &PyGPU_destroy_surface_cpp;
  return destroy(surface);
}
#else
#define cudaCreateSurfaceObject hipCreateSurfaceObject
#define cudaDestroySurfaceObject hipDestroySurfaceObject
#endif

inline hipError_t cudaArrayGetInfo(hipChannelFormatDesc* format, hipExtent* extent, unsigned* flags,
                                   hipArray_t array) {
  if (!array) return hipErrorInvalidHandle;
#if HIP_VERSION >= 50600000
  return hipArrayGetInfo(format, extent, flags, array);
#else  // before that call existed, the structure was public
  *format = array->desc;
  *extent = {array->width, array->height, array->depth};
  *flags = array->type;
  return hipSuccess;
#endif
}

// HIP finds the devices of both ends by their addresses.
struct cudaMemcpy3DPeerParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  int srcDevice;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  int dstDevice;
  hipExtent extent;
};
namespace PyGPU {
inline hipError_t check_devices(const cudaMemcpy3DPeerParms& box) {
  int count = 0;
  if (const hipError_t error = hipGetDeviceCount(&count)) return error;
  const auto exists = [=](int device) { return device >= 0 && device < count; };
  return exists(box.srcDevice) && exists(box.dstDevice) ? hipSuccess : hipErrorInvalidDevice;
}
inline hipMemcpy3DParms without_devices(const cudaMemcpy3DPeerParms& box) {
  hipMemcpy3DParms plain{};
  plain.srcArray = box.srcArray;
  plain.srcPos = box.srcPos;
  plain.srcPtr = box.srcPtr;
  plain.dstArray = box.dstArray;
  plain.dstPos = box.dstPos;
  plain.dstPtr = box.dstPtr;
  plain.extent = box.extent;
  plain.kind = hipMemcpyDeviceToDevice;
  return plain;
}
}  // namespace PyGPU
inline hipError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* box) {
  if (const hipError_t error = PyGPU::check_devices(*box)) return error;
  const hipMemcpy3DParms plain = PyGPU::without_devices(*box);
  return hipMemcpy3D(&plain);
}
inline hipError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* box, hipStream_t stream) {
  if (const hipError_t error = PyGPU::check_devices(*box)) return error;
  const hipMemcpy3DParms plain = PyGPU::without_devices(*box);
  return hipMemcpy3DAsync(&plain, stream);
}

// HIP's own calls are unfinished, and its profilers ignore them.
inline hipError_t cudaProfilerStart() { return hipSuccess; }
inline hipError_t cudaProfilerStop() { return hipSuccess; }
