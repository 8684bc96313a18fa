// Constants of the runtime as ints. Their numbers are CUDA's on every target.
#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

struct Constant {
  const char* name;
  long value;
};

constexpr Constant constants[] = {
#define PYGPU_ROW(name, number) {#name, number},
    PYGPU_CUDA_ERRORS(PYGPU_ROW) PYGPU_CUDA_DEVICE_ATTRIBUTES(PYGPU_ROW)
        PYGPU_CUDA_P2P_ATTRIBUTES(PYGPU_ROW)
#undef PYGPU_ROW
            {"cudaMemcpyHostToHost", cudaMemcpyHostToHost},
    {"cudaMemcpyHostToDevice", cudaMemcpyHostToDevice},
    {"cudaMemcpyDeviceToHost", cudaMemcpyDeviceToHost},
    {"cudaMemcpyDeviceToDevice", cudaMemcpyDeviceToDevice},
    {"cudaMemcpyDefault", cudaMemcpyDefault},
    {"cudaStreamDefault", cudaStreamDefault},
    {"cudaStreamNonBlocking", cudaStreamNonBlocking},
    {"cudaEventDefault", cudaEventDefault},
    {"cudaEventBlockingSync", cudaEventBlockingSync},
    {"cudaEventDisableTiming", cudaEventDisableTiming},
    {"cudaEventInterprocess", cudaEventInterprocess},
    {"cudaHostAllocDefault", cudaHostAllocDefault},
    {"cudaHostAllocPortable", cudaHostAllocPortable},
    {"cudaHostAllocMapped", cudaHostAllocMapped},
    {"cudaHostAllocWriteCombined", cudaHostAllocWriteCombined},
    {"cudaHostRegisterDefault", cudaHostRegisterDefault},
    {"cudaHostRegisterPortable", cudaHostRegisterPortable},
    {"cudaHostRegisterMapped", cudaHostRegisterMapped},
    {"cudaHostRegisterIoMemory", cudaHostRegisterIoMemory},
    {"cudaHostRegisterReadOnly", cudaHostRegisterReadOnly},
    {"cudaMemAttachGlobal", cudaMemAttachGlobal},
    {"cudaMemAttachHost", cudaMemAttachHost},
    {"cudaMemAttachSingle", cudaMemAttachSingle},
    {"cudaMemoryTypeUnregistered", cudaMemoryTypeUnregistered},
    {"cudaMemoryTypeHost", cudaMemoryTypeHost},
    {"cudaMemoryTypeDevice", cudaMemoryTypeDevice},
    {"cudaMemoryTypeManaged", cudaMemoryTypeManaged},
    {"cudaDeviceScheduleAuto", cudaDeviceScheduleAuto},
    {"cudaDeviceScheduleSpin", cudaDeviceScheduleSpin},
    {"cudaDeviceScheduleYield", cudaDeviceScheduleYield},
    {"cudaDeviceScheduleBlockingSync", cudaDeviceScheduleBlockingSync},
    {"cudaDeviceMapHost", cudaDeviceMapHost},
    {"cudaDeviceLmemResizeToMax", cudaDeviceLmemResizeToMax},
    {"cudaFuncCachePreferNone", cudaFuncCachePreferNone},
    {"cudaFuncCachePreferShared", cudaFuncCachePreferShared},
    {"cudaFuncCachePreferL1", cudaFuncCachePreferL1},
    {"cudaFuncCachePreferEqual", cudaFuncCachePreferEqual},
    {"cudaLimitStackSize", cudaLimitStackSize},
    {"cudaLimitPrintfFifoSize", cudaLimitPrintfFifoSize},
    {"cudaLimitMallocHeapSize", cudaLimitMallocHeapSize},
    {"cudaIpcMemLazyEnablePeerAccess", cudaIpcMemLazyEnablePeerAccess},
    {"cudaStreamLegacy", 1},
    {"cudaStreamPerThread", 2},
    {"cudaCpuDeviceId", cudaCpuDeviceId},
};

}  // namespace

void bind_constants(module_& m) {
  for (const Constant& constant : constants) m.attr(constant.name) = constant.value;
}

}  // namespace PyGPU::python
