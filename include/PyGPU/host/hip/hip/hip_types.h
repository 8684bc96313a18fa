// HIP's names of the runtime API's types, constants and errors, for the `host` target.
#pragma once

#include "../../runtime_api.h"

// clang-format off
#define P_HIP_TYPES(X)                                                                            \
  X(Error_t) X(Stream_t) X(Event_t) X(MemPool_t) X(Array_t) X(Graph_t) X(GraphExec_t)             \
  X(TextureObject_t) X(SurfaceObject_t) X(MemcpyKind) X(MemoryType) X(Limit) X(FuncAttributes)    \
  X(Extent) X(Pos) X(PitchedPtr) X(Memcpy3DParms) X(ChannelFormatDesc) X(ChannelFormatKind)       \
  X(ResourceDesc) X(TextureDesc) X(TextureAddressMode) X(TextureFilterMode) X(TextureReadMode)    \
  X(StreamCaptureMode) X(StreamCaptureStatus) X(HostFn_t) X(StreamCallback_t) X(MemoryAdvise)     \
  X(MemPoolProps) X(MemPoolAttr) X(MemAccessDesc) X(SharedMemConfig) X(FuncAttribute)
#define P_HIP_CONSTANTS(X)                                                                        \
  X(StreamCaptureStatusActive) X(StreamCaptureStatusInvalidated) X(MemoryTypeUnregistered)        \
  X(MemoryTypeHost) X(MemoryTypeDevice) X(MemoryTypeManaged) X(LimitStackSize)                    \
  X(LimitDevRuntimeSyncDepth) X(LimitDevRuntimePendingLaunchCount) X(HostRegisterReadOnly)        \
  X(IpcMemLazyEnablePeerAccess) X(ArrayDefault) X(ArrayLayered) X(ArraySurfaceLoadStore)          \
  X(ArrayCubemap) X(ArrayTextureGather) X(ChannelFormatKindSigned) X(ChannelFormatKindUnsigned)   \
  X(ChannelFormatKindFloat) X(ChannelFormatKindNone) X(ResourceTypeArray)                         \
  X(ResourceTypeMipmappedArray) X(ResourceTypeLinear) X(ResourceTypePitch2D) X(AddressModeWrap)   \
  X(AddressModeClamp) X(AddressModeMirror) X(AddressModeBorder) X(FilterModePoint)                \
  X(FilterModeLinear) X(ReadModeElementType) X(ReadModeNormalizedFloat) X(BoundaryModeZero)       \
  X(BoundaryModeClamp) X(BoundaryModeTrap) X(StreamCaptureModeGlobal)                             \
  X(StreamCaptureModeThreadLocal) X(StreamCaptureModeRelaxed) X(MemAdviseSetReadMostly)           \
  X(MemAdviseUnsetReadMostly) X(MemAdviseSetPreferredLocation)                                    \
  X(MemAdviseUnsetPreferredLocation) X(MemAdviseSetAccessedBy) X(MemAdviseUnsetAccessedBy)        \
  X(FuncAttributeMaxDynamicSharedMemorySize) X(FuncAttributePreferredSharedMemoryCarveout)        \
  X(SharedmemCarveoutDefault) X(SharedmemCarveoutMaxL1) X(SharedmemCarveoutMaxShared)             \
  X(SharedMemBankSizeDefault) X(SharedMemBankSizeFourByte) X(SharedMemBankSizeEightByte)          \
  X(EventWaitDefault) X(EventRecordDefault)
// clang-format on
#define P_HIP_TYPE(name) using hip##name = cuda##name;
#define P_HIP_CONSTANT(name) constexpr auto hip##name = cuda##name;
#define P_HIP_ERROR(name, number) P_HIP_CONSTANT(name)
P_HIP_TYPES(P_HIP_TYPE)
P_HIP_CONSTANTS(P_HIP_CONSTANT)
PYGPU_RUNTIME_CONSTANTS(P_HIP_CONSTANT)
PYGPU_POOL_CONSTANTS(P_HIP_CONSTANT)
PYGPU_CUDA_ERRORS(P_HIP_ERROR)
#undef P_HIP_TYPE
#undef P_HIP_CONSTANT
#undef P_HIP_ERROR
// The number 0 converts to the null stream, as in HIP; an enumerator would not.
#define hipStreamDefault 0x00
