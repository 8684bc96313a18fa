// Bodies of pybind11's exception and classes, compiled once: the other files include only smaller
// headers, which declare them. Functions that need the bodies belong here.
#include <pybind11/pybind11.h>

#include "python/bindings.h"

namespace PyGPU::python {

void make_pybind11_ready() { const py::gil_scoped_acquire taken; }

}  // namespace PyGPU::python
