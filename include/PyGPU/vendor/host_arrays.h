// Arrays, textures, surfaces and boxed copies on the `host` target: CUDA's types, and the machine's
// calls on them. Kernels access them by ../host/textures.h and ../host/surfaces.h.
#pragma once

#include <cstddef>

#include "host.h"

using cudaArray_t = struct PyGPUHostArray*;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

enum : unsigned {
  cudaArrayDefault = 0,
  cudaArrayLayered = 1,
  cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4,
  cudaArrayTextureGather = 8
};

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
// Bits of each channel; 0 for channels that the format does not have.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* ptr, std::size_t pitch, std::size_t xsize,
                                          std::size_t ysize) {
  return {ptr, pitch, xsize, ysize};
}

// Each end is an array or an address. Positions and widths are in elements for an array, in bytes
// for an address. The extent is in elements if either end is an array.
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height;  // elements
      std::size_t pitchInBytes;
    } pitch2D;
  } res;
};

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
};
struct cudaResourceViewDesc;  // views that reinterpret an array; this machine has none

enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};

PYGPU_HOST_CALL(cudaMalloc3DArray, cudaArray_t* array, const cudaChannelFormatDesc* format,
                cudaExtent extent, unsigned flags = 0)
PYGPU_HOST_CALL(cudaFreeArray, cudaArray_t array)
PYGPU_HOST_CALL(cudaArrayGetInfo, cudaChannelFormatDesc* format, cudaExtent* extent,
                unsigned* flags, cudaArray_t array)
PYGPU_HOST_CALL(cudaMemcpy3D, const cudaMemcpy3DParms* box)
PYGPU_HOST_CALL(cudaMemcpy3DAsync, const cudaMemcpy3DParms* box, cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaMemcpy3DPeer, const cudaMemcpy3DPeerParms* box)
PYGPU_HOST_CALL(cudaMemcpy3DPeerAsync, const cudaMemcpy3DPeerParms* box,
                cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaHostCopyRows, cudaArray_t array, std::size_t x, std::size_t y, void* memory,
                std::size_t pitch, std::size_t width, std::size_t height, bool to_array,
                cudaMemcpyKind kind)
PYGPU_HOST_CALL(cudaCreateTextureObject, cudaTextureObject_t* texture,
                const cudaResourceDesc* resource, const cudaTextureDesc* description,
                const cudaResourceViewDesc* view)
PYGPU_HOST_CALL(cudaDestroyTextureObject, cudaTextureObject_t texture)
PYGPU_HOST_CALL(cudaCreateSurfaceObject, cudaSurfaceObject_t* surface,
                const cudaResourceDesc* resource)
PYGPU_HOST_CALL(cudaDestroySurfaceObject, cudaSurfaceObject_t surface)

inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                   std::size_t width, std::size_t height = 0,
                                   unsigned flags = cudaArrayDefault) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

// Copy rows to an array, at a position in bytes and rows.
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, std::size_t x, std::size_t y,
                                       const void* src, std::size_t pitch, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind) {
  return cudaHostCopyRows(dst, x, y, const_cast<void*>(src), pitch, width, height, true, kind);
}
inline cudaError_t cudaMemcpy2DFromArray(void* dst, std::size_t pitch, cudaArray_t src,
                                         std::size_t x, std::size_t y, std::size_t width,
                                         std::size_t height, cudaMemcpyKind kind) {
  return cudaHostCopyRows(src, x, y, dst, pitch, width, height, false, kind);
}

// The host machine has no profiler.
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
