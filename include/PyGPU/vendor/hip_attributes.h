// The attributes of devices that HIP has, by CUDA's name and by its own.
#pragma once

#include <hip/hip_version.h>

#if HIP_VERSION >= 60000000
#define PYGPU_HIP_6_DEVICE_ATTRIBUTES(S) S(HostRegisterSupported)
#else
#define PYGPU_HIP_6_DEVICE_ATTRIBUTES(S)
#endif

// S(name of both), X(CUDA's name, HIP's name)
// clang-format off
#define PYGPU_HIP_DEVICE_ATTRIBUTES(S, X)                                                         \
  S(MaxThreadsPerBlock) S(MaxBlockDimX) S(MaxBlockDimY) S(MaxBlockDimZ) S(MaxGridDimX)            \
  S(MaxGridDimY) S(MaxGridDimZ) S(MaxSharedMemoryPerBlock) S(TotalConstantMemory) S(WarpSize)     \
  S(MaxPitch) S(MaxRegistersPerBlock) S(ClockRate) S(TextureAlignment) S(KernelExecTimeout)       \
  S(Integrated) S(CanMapHostMemory) S(ComputeMode) S(MaxTexture1DWidth) S(MaxTexture2DWidth)      \
  S(MaxTexture2DHeight) S(MaxTexture3DWidth) S(MaxTexture3DHeight) S(MaxTexture3DDepth)           \
  S(SurfaceAlignment) S(ConcurrentKernels) S(EccEnabled) S(PciBusId) S(PciDeviceId) S(TccDriver)  \
  S(MemoryClockRate) S(L2CacheSize) S(MaxThreadsPerMultiProcessor) S(AsyncEngineCount)            \
  S(UnifiedAddressing) S(TexturePitchAlignment) S(ComputeCapabilityMajor)                         \
  S(ComputeCapabilityMinor) S(StreamPrioritiesSupported) S(GlobalL1CacheSupported)                \
  S(LocalL1CacheSupported) S(MaxSharedMemoryPerMultiprocessor) S(MaxRegistersPerMultiprocessor)   \
  S(ManagedMemory) S(IsMultiGpuBoard) S(MultiGpuBoardGroupID) S(HostNativeAtomicSupported)        \
  S(SingleToDoublePrecisionPerfRatio) S(PageableMemoryAccess) S(ConcurrentManagedAccess)          \
  S(ComputePreemptionSupported) S(CanUseHostPointerForRegisteredMem) S(CooperativeLaunch)         \
  S(PageableMemoryAccessUsesHostPageTables) S(DirectManagedMemAccessFromHost)                     \
  S(MemoryPoolsSupported) PYGPU_HIP_6_DEVICE_ATTRIBUTES(S)                                        \
  X(GpuOverlap, DeviceOverlap) X(MultiProcessorCount, MultiprocessorCount)                        \
  X(GlobalMemoryBusWidth, MemoryBusWidth) X(PciDomainId, PciDomainID)                             \
  X(MaxSharedMemoryPerBlockOptin, SharedMemPerBlockOptin)                                         \
  X(MaxBlocksPerMultiprocessor, MaxBlocksPerMultiProcessor)                                       \
  X(MaxPersistingL2CacheSize, PersistingL2CacheMaxSize)                                           \
  X(MaxAccessPolicyWindowSize, AccessPolicyMaxWindowSize)                                         \
  X(ReservedSharedMemoryPerBlock, ReservedSharedMemPerBlock)
// clang-format on
