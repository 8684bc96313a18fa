// Errors, devices, streams and events of the stand-in.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <string>
#include <utility>

#include "PyGPU/vendor/hip_attributes.h"
#include "machine.h"

namespace standin {

thread_local hipError_t last_error = hipSuccess;

namespace {

#if HIP_VERSION_MAJOR >= 7
#define HIP_7_ERRORS(X) X(ErrorInvalidChannelDescriptor) X(ErrorInvalidTexture)
#else
#define HIP_7_ERRORS(X)
#endif
// clang-format off
// X(name)
#define HIP_ERRORS(X)                                                                              \
  X(Success) X(ErrorInvalidValue) X(ErrorOutOfMemory) X(ErrorNotInitialized)                       \
  X(ErrorDeinitialized) X(ErrorProfilerDisabled) X(ErrorProfilerNotInitialized)                    \
  X(ErrorProfilerAlreadyStarted) X(ErrorProfilerAlreadyStopped) X(ErrorInvalidConfiguration)       \
  X(ErrorInvalidPitchValue) X(ErrorInvalidSymbol) X(ErrorInvalidDevicePointer)                     \
  X(ErrorInvalidMemcpyDirection) X(ErrorInsufficientDriver) X(ErrorMissingConfiguration)           \
  X(ErrorPriorLaunchFailure) X(ErrorInvalidDeviceFunction) X(ErrorNoDevice)                        \
  X(ErrorInvalidDevice) X(ErrorInvalidImage) X(ErrorInvalidContext)                                \
  X(ErrorContextAlreadyCurrent) X(ErrorMapFailed) X(ErrorUnmapFailed) X(ErrorArrayIsMapped)        \
  X(ErrorAlreadyMapped) X(ErrorNoBinaryForGpu) X(ErrorAlreadyAcquired) X(ErrorNotMapped)           \
  X(ErrorNotMappedAsArray) X(ErrorNotMappedAsPointer) X(ErrorECCNotCorrectable)                    \
  X(ErrorUnsupportedLimit) X(ErrorContextAlreadyInUse) X(ErrorPeerAccessUnsupported)               \
  X(ErrorInvalidKernelFile) X(ErrorInvalidGraphicsContext) X(ErrorInvalidSource)                   \
  X(ErrorFileNotFound) X(ErrorSharedObjectSymbolNotFound) X(ErrorSharedObjectInitFailed)           \
  X(ErrorOperatingSystem) X(ErrorInvalidHandle) X(ErrorIllegalState) X(ErrorNotFound)              \
  X(ErrorNotReady) X(ErrorIllegalAddress) X(ErrorLaunchOutOfResources) X(ErrorLaunchTimeOut)       \
  X(ErrorPeerAccessAlreadyEnabled) X(ErrorPeerAccessNotEnabled) X(ErrorSetOnActiveProcess)         \
  X(ErrorContextIsDestroyed) X(ErrorAssert) X(ErrorHostMemoryAlreadyRegistered)                    \
  X(ErrorHostMemoryNotRegistered) X(ErrorLaunchFailure) X(ErrorCooperativeLaunchTooLarge)          \
  X(ErrorNotSupported) X(ErrorStreamCaptureUnsupported) X(ErrorStreamCaptureInvalidated)           \
  X(ErrorStreamCaptureMerge) X(ErrorStreamCaptureUnmatched) X(ErrorStreamCaptureUnjoined)          \
  X(ErrorStreamCaptureIsolation) X(ErrorStreamCaptureImplicit) X(ErrorCapturedEvent)               \
  X(ErrorStreamCaptureWrongThread) X(ErrorGraphExecUpdateFailure) X(ErrorUnknown)                  \
  X(ErrorRuntimeMemory) X(ErrorRuntimeOther) X(ErrorTbd) HIP_7_ERRORS(X)
// clang-format on

const char* name_of(hipError_t error) {
  switch (error) {
#define NAME(name) \
  case hip##name: return "hip" #name;
    HIP_ERRORS(NAME)
#undef NAME
    default: return nullptr;
  }
}

}  // namespace

hipError_t translated(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidSurface: return hipErrorInvalidValue;
    case cudaErrorMisalignedAddress: return hipErrorIllegalAddress;
    default: break;
  }
  const auto same = static_cast<hipError_t>(error);
  return name_of(same) ? same : hipErrorUnknown;
}

bool has_pools() {
  static const char* const asked = std::getenv("PYGPU_STANDIN_POOLS");
  return !asked || *asked != '0';
}

const char* architecture() {
  static const char* const asked = std::getenv("PYGPU_STANDIN_ARCH");
  return asked ? asked : "gfx908:sramecc+:xnack-";
}

namespace {

// The wavefronts of the architectures up to gfx9 have 64 lanes. The variable is there until the
// machine has read it, for programs that this one starts have machines of their own.
bool is_chosen = false;
__attribute__((constructor)) void choose_wavefront() {
  is_chosen = !std::getenv("PYGPU_HOST_WARP");
  if (is_chosen) setenv("PYGPU_HOST_WARP", "64", 0);
}
void begin() {
  int count = 0;
  (void)cudaGetDeviceCount(&count);
  if (std::exchange(is_chosen, false)) unsetenv("PYGPU_HOST_WARP");
}

// Does this value of a visibility variable leave a device? The first entry decides.
bool shows(const char* value, const char* first_entry) {
  return std::regex_match(value, std::regex(std::string(first_entry) + "(,.*)?"));
}
// Are all devices hidden? An empty value of HIP's variables counts as none before ROCm 5.5.
bool is_hidden() {
  const char* const rocr = std::getenv("ROCR_VISIBLE_DEVICES");
  if (rocr && !shows(rocr, "\\s*(\\+?(0[xX][\\da-fA-F]+|\\d+)|[gG][pP][uU]-[\\da-fA-F]{1,16})\\s*"))
    return true;
  for (const char* name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    const char* const value = std::getenv(name);
    if (!value || (HIP_VERSION < 50500000 && !*value)) continue;
    return !shows(value, "(0|[1-9]\\d*|GPU-[\\da-fA-F]{0,16})");
  }
  return false;
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, name, device) ? 0 : value;
}

}  // namespace
}  // namespace standin

using namespace standin;

extern "C" {
// By this a program can tell that it has the stand-in.
STANDIN_EXPORT int PyGPU_is_standin() { return 1; }

STANDIN_EXPORT const char* hipGetErrorName(hipError_t error) {
  const char* const name = name_of(error);
  return name ? name : "hipErrorUnknown";
}
STANDIN_EXPORT const char* hipGetErrorString(hipError_t error) { return hipGetErrorName(error); }
STANDIN_EXPORT hipError_t hipGetLastError() {
  const hipError_t error = last_error;
  last_error = hipSuccess;
  const hipError_t of_libraries = translated(cudaGetLastError());  // which call the machine itself
  return error ? error : of_libraries;
}
STANDIN_EXPORT hipError_t hipPeekAtLastError() {
  return last_error ? last_error : translated(cudaPeekAtLastError());
}

STANDIN_EXPORT hipError_t hipDriverGetVersion(int* version) {
  begin();
  if (!version) return finish(hipErrorInvalidValue);
  *version = HIP_VERSION;
  return finish(hipSuccess);
}
STANDIN_EXPORT hipError_t hipRuntimeGetVersion(int* version) {
  return hipDriverGetVersion(version);
}
STANDIN_EXPORT hipError_t hipGetDeviceCount(int* count) {
  begin();
  if (!count) return finish(hipErrorInvalidValue);
  *count = 0;
  return is_hidden() ? finish(hipErrorNoDevice) : finish(cudaGetDeviceCount(count));
}
STANDIN_EXPORT hipError_t hipGetDevice(int* device) {
  return is_hidden() ? finish(hipErrorNoDevice) : finish(cudaGetDevice(device));
}
STANDIN_EXPORT hipError_t hipSetDevice(int device) {
  return is_hidden() ? finish(hipErrorNoDevice) : finish(cudaSetDevice(device));
}
STANDIN_EXPORT hipError_t hipDeviceSynchronize() { return finish(cudaDeviceSynchronize()); }
STANDIN_EXPORT hipError_t hipDeviceReset() { return finish(cudaDeviceReset()); }

STANDIN_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t* to, int device) {
  cudaDeviceProp from{};
  if (!to) return finish(hipErrorInvalidValue);
  if (const cudaError_t error = cudaGetDeviceProperties(&from, device)) return finish(error);
  *to = {};
  std::snprintf(to->name, sizeof to->name, "stand-in for an AMD GPU %d", device);
  std::snprintf(to->gcnArchName, sizeof to->gcnArchName, "%s", architecture());
  to->totalGlobalMem = from.totalGlobalMem;
  to->warpSize = from.warpSize;
  to->multiProcessorCount = from.multiProcessorCount;
  to->pciBusID = from.pciBusID;
  to->pciDeviceID = from.pciDeviceID;
  to->pciDomainID = from.pciDomainID;
  to->major = 9;  // as HIP derives them from gfx908
  to->minor = 0;
  to->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, device);
  to->sharedMemPerBlock = std::size_t(shared_bytes);
  to->managedMemory = attribute(cudaDevAttrManagedMemory, device);
  return finish(hipSuccess);
}
STANDIN_EXPORT hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t name, int device) {
  const auto ask = [=](cudaDeviceAttr same) {
    if (is_hidden()) return finish(hipErrorNoDevice);
    const hipError_t error = finish(cudaDeviceGetAttribute(value, same, device));
    if (error) return error;
    if (same == cudaDevAttrMemoryPoolsSupported && !has_pools()) *value = 0;
    if (same == cudaDevAttrMaxSharedMemoryPerBlock) *value = shared_bytes;
    if (same == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = shared_bytes;
    return error;
  };
  switch (name) {
#define TRANSLATE(cuda_name, hip_name) \
  case hipDeviceAttribute##hip_name:   \
    return ask(cudaDevAttr##cuda_name);
#define SAME(name) TRANSLATE(name, name)
    PYGPU_HIP_DEVICE_ATTRIBUTES(SAME, TRANSLATE)
#undef SAME
#undef TRANSLATE
    default: return finish(hipErrorInvalidValue);
  }
}
STANDIN_EXPORT hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  cudaDeviceProp from{};
  if (!uuid) return finish(hipErrorInvalidValue);
  const hipError_t error = finish(cudaGetDeviceProperties(&from, device));
  std::memcpy(uuid->bytes, from.uuid.bytes, sizeof uuid->bytes);
  return error;
}
STANDIN_EXPORT hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  return finish(cudaDeviceGetByPCIBusId(device, id));
}
STANDIN_EXPORT hipError_t hipDeviceGetPCIBusId(char* id, int length, int device) {
  return finish(cudaDeviceGetPCIBusId(id, length, device));
}
STANDIN_EXPORT hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  return finish(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
}
#if HIP_VERSION >= 50300000
STANDIN_EXPORT hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  return finish(cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
}
#endif
STANDIN_EXPORT hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  return finish(cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)));
}
STANDIN_EXPORT hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
  return finish(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)));
}
STANDIN_EXPORT hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return finish(cudaDeviceGetStreamPriorityRange(least, greatest));
}
STANDIN_EXPORT hipError_t hipGetDeviceFlags(unsigned* flags) {
  return finish(cudaGetDeviceFlags(flags));
}
STANDIN_EXPORT hipError_t hipSetDeviceFlags(unsigned flags) {
  return finish(cudaSetDeviceFlags(flags));
}
STANDIN_EXPORT hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return finish(cudaDeviceCanAccessPeer(can, device, peer));
}
STANDIN_EXPORT hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute,
                                                   int device, int peer) {
  return finish(cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(int(attribute) + 1),
                                          device, peer));
}
STANDIN_EXPORT hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return finish(cudaDeviceEnablePeerAccess(peer, flags));
}
STANDIN_EXPORT hipError_t hipDeviceDisablePeerAccess(int peer) {
  return finish(cudaDeviceDisablePeerAccess(peer));
}

STANDIN_EXPORT hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags,
                                                      int priority) {
  return finish(
      cudaStreamCreateWithPriority(reinterpret_cast<cudaStream_t*>(stream), flags, priority));
}
STANDIN_EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  return finish(cudaStreamDestroy(stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  return finish(cudaStreamSynchronize(stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipStreamQuery(hipStream_t stream) {
  return finish(cudaStreamQuery(stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return finish(cudaStreamWaitEvent(stream_of(stream), event_of(event), flags));
}
STANDIN_EXPORT hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return finish(cudaLaunchHostFunc(stream_of(stream), function, data));
}
STANDIN_EXPORT hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                               void* data, unsigned flags) {
  struct Call {
    hipStreamCallback_t callback;
    hipStream_t stream;
    void* data;
  };
  auto* const call = new Call{callback, stream, data};
  const auto make = [](cudaStream_t, cudaError_t error, void* given) {
    const std::unique_ptr<Call> owned(static_cast<Call*>(given));
    owned->callback(owned->stream, static_cast<hipError_t>(error), owned->data);
  };
  const cudaError_t error = cudaStreamAddCallback(stream_of(stream), make, call, flags);
  if (error) delete call;
  return finish(error);
}
STANDIN_EXPORT hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return finish(cudaStreamGetFlags(stream_of(stream), flags));
}
STANDIN_EXPORT hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return finish(cudaStreamGetPriority(stream_of(stream), priority));
}
STANDIN_EXPORT hipError_t hipStreamAttachMemAsync(hipStream_t stream, hipDeviceptr_t address,
                                                  size_t nbytes, unsigned flags) {
  return finish(cudaStreamAttachMemAsync(stream_of(stream), address, nbytes, flags));
}

STANDIN_EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return finish(cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(event), flags));
}
STANDIN_EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  return finish(cudaEventDestroy(event_of(event)));
}
STANDIN_EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return finish(cudaEventRecord(event_of(event), stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipEventSynchronize(hipEvent_t event) {
  return finish(cudaEventSynchronize(event_of(event)));
}
STANDIN_EXPORT hipError_t hipEventQuery(hipEvent_t event) {
  return finish(cudaEventQuery(event_of(event)));
}
STANDIN_EXPORT hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start,
                                              hipEvent_t end) {
  return finish(cudaEventElapsedTime(milliseconds, event_of(start), event_of(end)));
}
STANDIN_EXPORT hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return finish(
      cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event_of(event)));
}
STANDIN_EXPORT hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  cudaIpcEventHandle_t same;
  static_assert(sizeof same == sizeof handle);
  std::memcpy(&same, &handle, sizeof same);
  return finish(cudaIpcOpenEventHandle(reinterpret_cast<cudaEvent_t*>(event), same));
}
}
