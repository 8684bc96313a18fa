// Classes of the runtime whose values C++ shares.
#pragma once

#include <memory>

#include "PyGPU/runtime/device_array.h"
#include "PyGPU/runtime/kernel.h"
#include "PyGPU/runtime/stream.h"
#include "PyGPU/runtime/texture.h"
#include "python/binding/heap_type.h"

namespace PyGPU::python {

// Classes whose values C++ shares, and may keep longer than Python does.
#define PYGPU_SHARED(T)              \
  template <>                        \
  struct HeldAs<T> {                 \
    using Type = std::shared_ptr<T>; \
  };
PYGPU_SHARED(Stream)
PYGPU_SHARED(Event)
PYGPU_SHARED(Module)
PYGPU_SHARED(TextureArray)
PYGPU_SHARED(TextureObject)
PYGPU_SHARED(SurfaceObject)
PYGPU_SHARED(DeviceArray)

}  // namespace PyGPU::python
