// Constants of the runtime as ints. Their numbers are CUDA's on every target.
#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

struct Constant {
  const char* name;
  long value;
};

// Constants whose names in HIP differ, or whose numbers.
// clang-format off
#define PYGPU_MORE_CONSTANTS(X)                                                                   \
  X(HostAllocDefault) X(HostAllocPortable) X(HostAllocMapped) X(HostAllocWriteCombined)           \
  X(HostRegisterReadOnly) X(MemoryTypeUnregistered) X(MemoryTypeHost) X(MemoryTypeDevice)         \
  X(MemoryTypeManaged) X(LimitStackSize) X(IpcMemLazyEnablePeerAccess)
// clang-format on

constexpr Constant constants[] = {
#define PYGPU_NUMBER(name, number) {"cuda" #name, number},
#define PYGPU_ROW(name) {"cuda" #name, cuda##name},
    PYGPU_CUDA_ERRORS(PYGPU_NUMBER) PYGPU_CUDA_DEVICE_ATTRIBUTES(PYGPU_NUMBER)
        PYGPU_CUDA_P2P_ATTRIBUTES(PYGPU_NUMBER) PYGPU_RUNTIME_CONSTANTS(PYGPU_ROW)
            PYGPU_MORE_CONSTANTS(PYGPU_ROW) PYGPU_NUMBER(StreamLegacy, 1)
                PYGPU_NUMBER(StreamPerThread, 2)
#undef PYGPU_NUMBER
#undef PYGPU_ROW
};

}  // namespace

void bind_constants(module_& m) {
  for (const Constant& constant : constants) m.attr(constant.name) = constant.value;
}

}  // namespace PyGPU::python
