// Extension module of one target: the list of everything that it binds.
#include "python/binders.h"
#include "python/binding/functions.h"
#include "python/binding/gil.h"
#include "python/binding/hooks.h"

namespace PyGPU::python {
namespace {

#ifndef PYGPU_ARCHITECTURES
#define PYGPU_ARCHITECTURES ""
#endif

// Add each cuda... name as hip... too, for programs written in HIP's vocabulary.
void add_hip_names(module_& m) {
  const py::dict members = m.attr("__dict__");
  for (auto item : py::list(members.attr("items")())) {
    const auto pair = item.cast<py::tuple>();
    const auto name = pair[0].cast<std::string>();
    if (name.rfind("cuda", 0) == 0 && name != "cuda_enabled")
      m.attr(("hip" + name.substr(4)).c_str()) = pair[1];
  }
}

void fill(module_& m) {
  const std::string target = PYGPU_TARGET_NAME;
  m.attr("__doc__") = "PyGPU on the target " + target;
  m.attr("target") = target;
  m.attr("cuda_enabled") = bool(PYGPU_HAVE_GPU);
  m.attr("use_hip") = capabilities.is_rocm;
  m.attr("architectures") = PYGPU_ARCHITECTURES;
  m.attr("__version__") = PYGPU_VERSION;
  m.attr("_parts") = PYGPU_PARTS;  // for _runtime/parts.py

  make_pybind11_ready();
  warn_if_stale();
  m.attr("_takes_types_from_values") = np::is_numpy_1();
  bind_functions(m);
  bind_gil();
  bind_hooks(m);
  bind_status(m);
  bind_constants(m);
  bind_device(m);
  bind_device_scope(m);
  bind_stream(m);
  bind_calls(m);  // after the classes that it names
  bind_graph(m);
  bind_host_functions(m);
  bind_owners(m);
  bind_capture_scope(m);
  bind_copies(m);
  bind_transfer_settings(m);
  bind_pointers(m);
  bind_device_arrays(m);
#if defined(PYGPU_PART_KERNELS)  // the light ring ends here
  bind_allocation(m);
  bind_module(m);
  bind_packing();
  bind_function(m);
  bind_library(m);
  bind_library_function(m);
  bind_textures(m);
#endif
#if defined(PYGPU_PART_ARRAYS)
  const py::object gpuarray = bind_gpuarray(m);  // before the functions that name it
  bind_attributes(m, gpuarray);
  bind_shapes(gpuarray);
  bind_conversions(gpuarray);
  bind_operators(m, gpuarray);
  bind_results(gpuarray);
  bind_creation(m);
  bind_pickling(m);
  bind_exports(gpuarray);
  bind_imports(m);
  bind_fused(m);
  bind_reductions(m);
  bind_gather(m);
  bind_joining(m);
  bind_elementwise(m);
  bind_reduction_launcher(m);
  bind_scan(m);
#endif
  if (target == "hip") add_hip_names(m);
}

#define PYGPU_JOINED(a, b) a##b
#define PYGPU_PASTE(a, b) PYGPU_JOINED(a, b)
#define PYGPU_TEXT(a) #a
#define PYGPU_TEXT_OF(a) PYGPU_TEXT(a)

}  // namespace
}  // namespace PyGPU::python

PyMODINIT_FUNC PYGPU_PASTE(PyInit_, PYGPU_MODULE)() {
  using namespace PyGPU::python;
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, PYGPU_TEXT_OF(PYGPU_MODULE), {}, -1, {}, {}, {}, {}, {}};
  return guarded([] {
    auto m = py::reinterpret_steal<module_>(PyModule_Create(&definition));
    if (!m) throw py::error_already_set();
    fill(m);
    return m.release().ptr();
  });
}
