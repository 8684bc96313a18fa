// The rest of pybind11's objects: its large header holds the bodies of its exception and of its
// classes, once for all. What calls them stands here: other files see no more than their names.
#include <pybind11/pybind11.h>

#include "python/bindings.h"

namespace PyGPU::python {

void make_pybind11_ready() { const py::gil_scoped_acquire taken; }

}  // namespace PyGPU::python
