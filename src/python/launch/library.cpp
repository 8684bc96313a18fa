// Shared libraries of users: opening them, and the tables that <PyGPU/export.h> writes into them.
#include <dlfcn.h>

#include "PyGPU/export.h"
#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

std::string loader_error() {
  const char* const text = dlerror();
  return text ? text : "no reason is given";
}

// Libraries stay loaded: the vendor's runtime keeps pointers to their kernels.
std::uintptr_t open_library(const std::string& path) {
  void* handle = nullptr;
  std::string error;
  {
    const NoGil without = release_gil();  // constructors of the library run
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) error = loader_error();
  }
  if (handle) return number_of(handle);
  PyErr_SetString(PyExc_OSError, error.c_str());
  throw py::error_already_set();
}

void* handle_of(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

std::uintptr_t symbol(std::uintptr_t handle, const std::string& name) {
  return number_of(dlsym(handle_of(handle), name.c_str()));
}

py::tuple row_of(const PyGPUExportedElement& element) {
  return py::make_tuple(std::string(1, element.kind), std::size_t(element.nbytes));
}

py::tuple row_of(const PyGPUExportedType& type) {
  return py::make_tuple(std::string(1, type.kind), std::size_t(type.nbytes), type.is_const,
                        row_of(type.element), row_of(type.component));
}

// Return [(name, parameters, result, address of the call)] of the library's own exports.
py::list exports(std::uintptr_t handle) {
  py::list found;
  using First = const PyGPUExportedFunction* (*)();
  const auto first = reinterpret_cast<First>(dlsym(handle_of(handle), "PyGPU_exports_1"));
  for (const auto* row = first ? first() : nullptr; row; row = row->next) {
    py::list parameters;
    for (unsigned i = 0; i < row->count; ++i) parameters.append(row_of(row->parameters[i]));
    found.append(py::make_tuple(std::string(row->name), parameters, row_of(row->result),
                                number_of(reinterpret_cast<const void*>(row->call))));
  }
  return found;
}

}  // namespace

void bind_library(module_& m) {
  def(m, "_open_library", &open_library, "Load a shared library and return its handle.",
      {{"path"}});
  def(m, "_library_symbol", &symbol, "Return the address of a symbol, or 0.",
      {{"handle"}, {"name"}});
  def(m, "_library_exports", &exports,
      "Return (name, parameters, result, call) of each exported function.", {{"handle"}});
}

}  // namespace PyGPU::python
