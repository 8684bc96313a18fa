// PyGPU's exceptions, as C++ throws them.
#pragma once

#include <string>

#include "python/binding/objects.h"

namespace PyGPU::python {

// Throw PyGPU.errors.ArgumentError.
[[noreturn]] void raise_argument_error(const std::string& text);
// Throw PyGPU.errors.ShapeError.
[[noreturn]] void raise_shape_error(const std::string& text);

}  // namespace PyGPU::python
