// Definitions of pybind11's exception and classes, compiled in this file alone: the other files
// include smaller headers, which only declare them. Functions that need the definitions belong
// here.
#include <pybind11/pybind11.h>

#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

void make_pybind11_ready() { const py::gil_scoped_acquire taken; }

}  // namespace PyGPU::python
