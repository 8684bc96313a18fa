// The attributes of devices that HIP has, by CUDA's name and by its own.
#pragma once

// X(CUDA's name, HIP's name)
// clang-format off
#define PYGPU_HIP_DEVICE_ATTRIBUTES(X)                                                            \
  X(MaxThreadsPerBlock, MaxThreadsPerBlock) X(MaxBlockDimX, MaxBlockDimX)                         \
  X(MaxBlockDimY, MaxBlockDimY) X(MaxBlockDimZ, MaxBlockDimZ) X(MaxGridDimX, MaxGridDimX)         \
  X(MaxGridDimY, MaxGridDimY) X(MaxGridDimZ, MaxGridDimZ)                                         \
  X(MaxSharedMemoryPerBlock, MaxSharedMemoryPerBlock)                                             \
  X(TotalConstantMemory, TotalConstantMemory) X(WarpSize, WarpSize) X(MaxPitch, MaxPitch)         \
  X(MaxRegistersPerBlock, MaxRegistersPerBlock) X(ClockRate, ClockRate)                           \
  X(TextureAlignment, TextureAlignment) X(KernelExecTimeout, KernelExecTimeout)                   \
  X(Integrated, Integrated) X(CanMapHostMemory, CanMapHostMemory) X(ComputeMode, ComputeMode)     \
  X(MaxTexture1DWidth, MaxTexture1DWidth) X(MaxTexture2DWidth, MaxTexture2DWidth)                 \
  X(MaxTexture2DHeight, MaxTexture2DHeight) X(MaxTexture3DWidth, MaxTexture3DWidth)               \
  X(MaxTexture3DHeight, MaxTexture3DHeight) X(MaxTexture3DDepth, MaxTexture3DDepth)               \
  X(SurfaceAlignment, SurfaceAlignment) X(ConcurrentKernels, ConcurrentKernels)                   \
  X(EccEnabled, EccEnabled) X(PciBusId, PciBusId) X(PciDeviceId, PciDeviceId)                     \
  X(TccDriver, TccDriver) X(MemoryClockRate, MemoryClockRate) X(L2CacheSize, L2CacheSize)         \
  X(MaxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor)                                     \
  X(AsyncEngineCount, AsyncEngineCount) X(UnifiedAddressing, UnifiedAddressing)                   \
  X(TexturePitchAlignment, TexturePitchAlignment)                                                 \
  X(ComputeCapabilityMajor, ComputeCapabilityMajor)                                               \
  X(ComputeCapabilityMinor, ComputeCapabilityMinor)                                               \
  X(StreamPrioritiesSupported, StreamPrioritiesSupported)                                         \
  X(GlobalL1CacheSupported, GlobalL1CacheSupported)                                               \
  X(LocalL1CacheSupported, LocalL1CacheSupported)                                                 \
  X(MaxSharedMemoryPerMultiprocessor, MaxSharedMemoryPerMultiprocessor)                           \
  X(MaxRegistersPerMultiprocessor, MaxRegistersPerMultiprocessor)                                 \
  X(ManagedMemory, ManagedMemory) X(IsMultiGpuBoard, IsMultiGpuBoard)                             \
  X(MultiGpuBoardGroupID, MultiGpuBoardGroupID)                                                   \
  X(HostNativeAtomicSupported, HostNativeAtomicSupported)                                         \
  X(SingleToDoublePrecisionPerfRatio, SingleToDoublePrecisionPerfRatio)                           \
  X(PageableMemoryAccess, PageableMemoryAccess)                                                   \
  X(ConcurrentManagedAccess, ConcurrentManagedAccess)                                             \
  X(ComputePreemptionSupported, ComputePreemptionSupported)                                       \
  X(CanUseHostPointerForRegisteredMem, CanUseHostPointerForRegisteredMem)                         \
  X(CooperativeLaunch, CooperativeLaunch)                                                         \
  X(PageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables)               \
  X(DirectManagedMemAccessFromHost, DirectManagedMemAccessFromHost)                               \
  X(MemoryPoolsSupported, MemoryPoolsSupported) X(GpuOverlap, DeviceOverlap)                      \
  X(MultiProcessorCount, MultiprocessorCount) X(GlobalMemoryBusWidth, MemoryBusWidth)             \
  X(PciDomainId, PciDomainID) X(MaxSharedMemoryPerBlockOptin, SharedMemPerBlockOptin)             \
  X(MaxBlocksPerMultiprocessor, MaxBlocksPerMultiProcessor)                                       \
  X(MaxPersistingL2CacheSize, PersistingL2CacheMaxSize)                                           \
  X(MaxAccessPolicyWindowSize, AccessPolicyMaxWindowSize)                                         \
  X(ReservedSharedMemoryPerBlock, ReservedSharedMemPerBlock)
// clang-format on
