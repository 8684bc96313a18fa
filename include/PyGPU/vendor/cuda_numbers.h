// Names of the runtime without their prefix, cuda or hip, and CUDA's numbers for targets whose
// headers do not define them. Numbers are the same on every target, so that a program may store 2
// for "out of memory" or 10 for "warp size" wherever it runs.
#pragma once

// clang-format off

// X(name, number)
#define PYGPU_CUDA_ERRORS(X)                                                                      \
  X(Success, 0) X(ErrorInvalidValue, 1) X(ErrorMemoryAllocation, 2)                               \
  X(ErrorInitializationError, 3) X(ErrorCudartUnloading, 4) X(ErrorProfilerDisabled, 5)           \
  X(ErrorInvalidConfiguration, 9) X(ErrorInvalidPitchValue, 12) X(ErrorInvalidSymbol, 13)         \
  X(ErrorInvalidHostPointer, 16) X(ErrorInvalidDevicePointer, 17)                                 \
  X(ErrorInvalidChannelDescriptor, 20) X(ErrorInvalidMemcpyDirection, 21)                         \
  X(ErrorStubLibrary, 34) X(ErrorInsufficientDriver, 35) X(ErrorCallRequiresNewerDriver, 36)      \
  X(ErrorInvalidSurface, 37) X(ErrorDuplicateVariableName, 43) X(ErrorDuplicateTextureName, 44)   \
  X(ErrorDuplicateSurfaceName, 45) X(ErrorDevicesUnavailable, 46)                                 \
  X(ErrorIncompatibleDriverContext, 49) X(ErrorMissingConfiguration, 52)                          \
  X(ErrorLaunchMaxDepthExceeded, 65) X(ErrorInvalidDeviceFunction, 98) X(ErrorNoDevice, 100)      \
  X(ErrorInvalidDevice, 101) X(ErrorDeviceNotLicensed, 102)                                       \
  X(ErrorSoftwareValidityNotEstablished, 103) X(ErrorStartupFailure, 127)                         \
  X(ErrorInvalidKernelImage, 200) X(ErrorDeviceUninitialized, 201)                                \
  X(ErrorMapBufferObjectFailed, 205) X(ErrorUnmapBufferObjectFailed, 206)                         \
  X(ErrorArrayIsMapped, 207) X(ErrorAlreadyMapped, 208) X(ErrorNoKernelImageForDevice, 209)       \
  X(ErrorAlreadyAcquired, 210) X(ErrorNotMapped, 211) X(ErrorNotMappedAsArray, 212)               \
  X(ErrorNotMappedAsPointer, 213) X(ErrorECCUncorrectable, 214) X(ErrorUnsupportedLimit, 215)     \
  X(ErrorDeviceAlreadyInUse, 216) X(ErrorPeerAccessUnsupported, 217) X(ErrorInvalidPtx, 218)      \
  X(ErrorInvalidGraphicsContext, 219) X(ErrorNvlinkUncorrectable, 220)                            \
  X(ErrorJitCompilerNotFound, 221) X(ErrorUnsupportedPtxVersion, 222)                             \
  X(ErrorJitCompilationDisabled, 223) X(ErrorUnsupportedExecAffinity, 224)                        \
  X(ErrorUnsupportedDevSideSync, 225) X(ErrorContained, 226) X(ErrorInvalidSource, 300)           \
  X(ErrorFileNotFound, 301) X(ErrorSharedObjectSymbolNotFound, 302)                               \
  X(ErrorSharedObjectInitFailed, 303) X(ErrorOperatingSystem, 304)                                \
  X(ErrorInvalidResourceHandle, 400) X(ErrorIllegalState, 401) X(ErrorLossyQuery, 402)            \
  X(ErrorSymbolNotFound, 500) X(ErrorNotReady, 600) X(ErrorIllegalAddress, 700)                   \
  X(ErrorLaunchOutOfResources, 701) X(ErrorLaunchTimeout, 702)                                    \
  X(ErrorLaunchIncompatibleTexturing, 703) X(ErrorPeerAccessAlreadyEnabled, 704)                  \
  X(ErrorPeerAccessNotEnabled, 705) X(ErrorSetOnActiveProcess, 708)                               \
  X(ErrorContextIsDestroyed, 709) X(ErrorAssert, 710) X(ErrorTooManyPeers, 711)                   \
  X(ErrorHostMemoryAlreadyRegistered, 712) X(ErrorHostMemoryNotRegistered, 713)                   \
  X(ErrorHardwareStackError, 714) X(ErrorIllegalInstruction, 715) X(ErrorMisalignedAddress, 716)  \
  X(ErrorInvalidAddressSpace, 717) X(ErrorInvalidPc, 718) X(ErrorLaunchFailure, 719)              \
  X(ErrorCooperativeLaunchTooLarge, 720) X(ErrorNotPermitted, 800) X(ErrorNotSupported, 801)      \
  X(ErrorSystemNotReady, 802) X(ErrorSystemDriverMismatch, 803)                                   \
  X(ErrorCompatNotSupportedOnDevice, 804) X(ErrorMpsConnectionFailed, 805)                        \
  X(ErrorMpsRpcFailure, 806) X(ErrorMpsServerNotReady, 807) X(ErrorMpsMaxClientsReached, 808)     \
  X(ErrorMpsMaxConnectionsReached, 809) X(ErrorMpsClientTerminated, 810)                          \
  X(ErrorCdpNotSupported, 811) X(ErrorCdpVersionMismatch, 812)                                    \
  X(ErrorStreamCaptureUnsupported, 900) X(ErrorStreamCaptureInvalidated, 901)                     \
  X(ErrorStreamCaptureMerge, 902) X(ErrorStreamCaptureUnmatched, 903)                             \
  X(ErrorStreamCaptureUnjoined, 904) X(ErrorStreamCaptureIsolation, 905)                          \
  X(ErrorStreamCaptureImplicit, 906) X(ErrorCapturedEvent, 907)                                   \
  X(ErrorStreamCaptureWrongThread, 908) X(ErrorTimeout, 909) X(ErrorGraphExecUpdateFailure, 910)  \
  X(ErrorExternalDevice, 911) X(ErrorInvalidClusterSize, 912) X(ErrorFunctionNotLoaded, 913)      \
  X(ErrorInvalidResourceType, 914) X(ErrorInvalidResourceConfiguration, 915)                      \
  X(ErrorUnknown, 999)

// X(name, number)
#define PYGPU_CUDA_DEVICE_ATTRIBUTES(X)                                                           \
  X(DevAttrMaxThreadsPerBlock, 1) X(DevAttrMaxBlockDimX, 2) X(DevAttrMaxBlockDimY, 3)             \
  X(DevAttrMaxBlockDimZ, 4) X(DevAttrMaxGridDimX, 5) X(DevAttrMaxGridDimY, 6)                     \
  X(DevAttrMaxGridDimZ, 7) X(DevAttrMaxSharedMemoryPerBlock, 8) X(DevAttrTotalConstantMemory, 9)  \
  X(DevAttrWarpSize, 10) X(DevAttrMaxPitch, 11) X(DevAttrMaxRegistersPerBlock, 12)                \
  X(DevAttrClockRate, 13) X(DevAttrTextureAlignment, 14) X(DevAttrGpuOverlap, 15)                 \
  X(DevAttrMultiProcessorCount, 16) X(DevAttrKernelExecTimeout, 17) X(DevAttrIntegrated, 18)      \
  X(DevAttrCanMapHostMemory, 19) X(DevAttrComputeMode, 20) X(DevAttrMaxTexture1DWidth, 21)        \
  X(DevAttrMaxTexture2DWidth, 22) X(DevAttrMaxTexture2DHeight, 23)                                \
  X(DevAttrMaxTexture3DWidth, 24) X(DevAttrMaxTexture3DHeight, 25)                                \
  X(DevAttrMaxTexture3DDepth, 26) X(DevAttrMaxTexture2DLayeredWidth, 27)                          \
  X(DevAttrMaxTexture2DLayeredHeight, 28) X(DevAttrMaxTexture2DLayeredLayers, 29)                 \
  X(DevAttrSurfaceAlignment, 30) X(DevAttrConcurrentKernels, 31) X(DevAttrEccEnabled, 32)         \
  X(DevAttrPciBusId, 33) X(DevAttrPciDeviceId, 34) X(DevAttrTccDriver, 35)                        \
  X(DevAttrMemoryClockRate, 36) X(DevAttrGlobalMemoryBusWidth, 37) X(DevAttrL2CacheSize, 38)      \
  X(DevAttrMaxThreadsPerMultiProcessor, 39) X(DevAttrAsyncEngineCount, 40)                        \
  X(DevAttrUnifiedAddressing, 41) X(DevAttrMaxTexture1DLayeredWidth, 42)                          \
  X(DevAttrMaxTexture1DLayeredLayers, 43) X(DevAttrMaxTexture2DGatherWidth, 45)                   \
  X(DevAttrMaxTexture2DGatherHeight, 46) X(DevAttrMaxTexture3DWidthAlt, 47)                       \
  X(DevAttrMaxTexture3DHeightAlt, 48) X(DevAttrMaxTexture3DDepthAlt, 49)                          \
  X(DevAttrPciDomainId, 50) X(DevAttrTexturePitchAlignment, 51)                                   \
  X(DevAttrMaxTextureCubemapWidth, 52) X(DevAttrMaxTextureCubemapLayeredWidth, 53)                \
  X(DevAttrMaxTextureCubemapLayeredLayers, 54) X(DevAttrMaxSurface1DWidth, 55)                    \
  X(DevAttrMaxSurface2DWidth, 56) X(DevAttrMaxSurface2DHeight, 57)                                \
  X(DevAttrMaxSurface3DWidth, 58) X(DevAttrMaxSurface3DHeight, 59)                                \
  X(DevAttrMaxSurface3DDepth, 60) X(DevAttrMaxSurface1DLayeredWidth, 61)                          \
  X(DevAttrMaxSurface1DLayeredLayers, 62) X(DevAttrMaxSurface2DLayeredWidth, 63)                  \
  X(DevAttrMaxSurface2DLayeredHeight, 64) X(DevAttrMaxSurface2DLayeredLayers, 65)                 \
  X(DevAttrMaxSurfaceCubemapWidth, 66) X(DevAttrMaxSurfaceCubemapLayeredWidth, 67)                \
  X(DevAttrMaxSurfaceCubemapLayeredLayers, 68) X(DevAttrMaxTexture1DLinearWidth, 69)              \
  X(DevAttrMaxTexture2DLinearWidth, 70) X(DevAttrMaxTexture2DLinearHeight, 71)                    \
  X(DevAttrMaxTexture2DLinearPitch, 72) X(DevAttrMaxTexture2DMipmappedWidth, 73)                  \
  X(DevAttrMaxTexture2DMipmappedHeight, 74) X(DevAttrComputeCapabilityMajor, 75)                  \
  X(DevAttrComputeCapabilityMinor, 76) X(DevAttrMaxTexture1DMipmappedWidth, 77)                   \
  X(DevAttrStreamPrioritiesSupported, 78) X(DevAttrGlobalL1CacheSupported, 79)                    \
  X(DevAttrLocalL1CacheSupported, 80) X(DevAttrMaxSharedMemoryPerMultiprocessor, 81)              \
  X(DevAttrMaxRegistersPerMultiprocessor, 82) X(DevAttrManagedMemory, 83)                         \
  X(DevAttrIsMultiGpuBoard, 84) X(DevAttrMultiGpuBoardGroupID, 85)                                \
  X(DevAttrHostNativeAtomicSupported, 86) X(DevAttrSingleToDoublePrecisionPerfRatio, 87)          \
  X(DevAttrPageableMemoryAccess, 88) X(DevAttrConcurrentManagedAccess, 89)                        \
  X(DevAttrComputePreemptionSupported, 90) X(DevAttrCanUseHostPointerForRegisteredMem, 91)        \
  X(DevAttrCooperativeLaunch, 95) X(DevAttrMaxSharedMemoryPerBlockOptin, 97)                      \
  X(DevAttrCanFlushRemoteWrites, 98) X(DevAttrHostRegisterSupported, 99)                          \
  X(DevAttrPageableMemoryAccessUsesHostPageTables, 100)                                           \
  X(DevAttrDirectManagedMemAccessFromHost, 101) X(DevAttrMaxBlocksPerMultiprocessor, 106)         \
  X(DevAttrMaxPersistingL2CacheSize, 108) X(DevAttrMaxAccessPolicyWindowSize, 109)                \
  X(DevAttrReservedSharedMemoryPerBlock, 111) X(DevAttrSparseCudaArraySupported, 112)             \
  X(DevAttrHostRegisterReadOnlySupported, 113) X(DevAttrTimelineSemaphoreInteropSupported, 114)   \
  X(DevAttrMemoryPoolsSupported, 115)

// X(name, number)
#define PYGPU_CUDA_P2P_ATTRIBUTES(X)                                                              \
  X(DevP2PAttrPerformanceRank, 1) X(DevP2PAttrAccessSupported, 2)                                 \
  X(DevP2PAttrNativeAtomicSupported, 3) X(DevP2PAttrCudaArrayAccessSupported, 4)

// Constants that Python has, and those of streams' captures and of pools, in CUDA and in HIP.
#define PYGPU_RUNTIME_CONSTANTS(X)                                                                \
  X(MemcpyHostToHost) X(MemcpyHostToDevice) X(MemcpyDeviceToHost) X(MemcpyDeviceToDevice)         \
  X(MemcpyDefault) X(StreamDefault) X(StreamNonBlocking) X(EventDefault) X(EventBlockingSync)     \
  X(EventDisableTiming) X(EventInterprocess) X(HostRegisterDefault) X(HostRegisterPortable)       \
  X(HostRegisterMapped) X(HostRegisterIoMemory) X(MemAttachGlobal) X(MemAttachHost)               \
  X(MemAttachSingle) X(DeviceScheduleAuto) X(DeviceScheduleSpin) X(DeviceScheduleYield)           \
  X(DeviceScheduleBlockingSync) X(DeviceMapHost) X(DeviceLmemResizeToMax) X(FuncCachePreferNone)  \
  X(FuncCachePreferShared) X(FuncCachePreferL1) X(FuncCachePreferEqual) X(LimitPrintfFifoSize)    \
  X(LimitMallocHeapSize) X(CpuDeviceId)
#define PYGPU_POOL_CONSTANTS(X)                                                                   \
  X(MemAllocationTypePinned) X(MemLocationTypeDevice) X(MemAccessFlagsProtNone)                   \
  X(MemAccessFlagsProtReadWrite) X(StreamCaptureStatusNone) X(MemPoolAttrReleaseThreshold)        \
  X(MemPoolAttrUsedMemCurrent) X(MemPoolAttrUsedMemHigh) X(MemPoolAttrReservedMemCurrent)         \
  X(MemPoolAttrReservedMemHigh)
// clang-format on
