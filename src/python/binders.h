// Binders, one for each subject; module.cpp calls them.
#pragma once

#include "python/binding/objects.h"

namespace PyGPU::python {

// Create the classes that pybind11 makes when it handles its first exception. Creating them only
// then could fail: the exception may report too deep a recursion or too little memory.
void make_pybind11_ready();

// Warn if the checkout has other sources than this module.
void warn_if_stale();

void bind_status(module_& m);
void bind_constants(module_& m);
void bind_device(module_& m);
void bind_device_scope(module_& m);
void bind_stream(module_& m);
void bind_calls(module_& m);
void bind_graph(module_& m);
void bind_host_functions(module_& m);
void bind_owners(module_& m);
void bind_capture_scope(module_& m);
void bind_copies(module_& m);
void bind_transfer_settings(module_& m);
void bind_pointers(module_& m);
void bind_device_arrays(module_& m);
void bind_textures(module_& m);
void bind_module(module_& m);
void bind_packing();
void bind_function(module_& m);
void bind_library(module_& m);
void bind_library_function(module_& m);
void bind_elementwise(module_& m);
void bind_reduction_launcher(module_& m);
void bind_scan(module_& m);
void bind_fused(module_& m);
void bind_reductions(module_& m);
void bind_gather(module_& m);
void bind_joining(module_& m);
void bind_allocation(module_& m);
// Create the class GPUArray, whose methods and attributes the functions with the parameter `c` add.
py::object bind_gpuarray(module_& m);
void bind_attributes(module_& m, const py::object& c);
void bind_shapes(const py::object& c);
void bind_conversions(const py::object& c);
void bind_operators(module_& m, const py::object& c);
void bind_results(const py::object& c);
void bind_creation(module_& m);
void bind_pickling(module_& m);
void bind_exports(const py::object& c);
void bind_imports(module_& m);

}  // namespace PyGPU::python
