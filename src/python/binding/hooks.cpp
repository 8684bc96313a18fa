// Table of the Python functions and classes that C++ calls. See hooks.h.
#include "python/binding/hooks.h"

namespace PyGPU::python {
namespace {

constexpr const char* hook_names[] = {
#define PYGPU_HOOK(name) #name,
    PYGPU_HOOKS(PYGPU_HOOK)
#undef PYGPU_HOOK
};
constexpr std::size_t hook_count = sizeof hook_names / sizeof *hook_names;
PyObject* hooks[hook_count] = {};  // owned and never released: arrays may outlive the modules

void set_hook(const std::string& name, const py::object& value) {
  for (std::size_t i = 0; i < hook_count; ++i)
    if (name == hook_names[i]) {
      hooks[i] = py::object(value).release().ptr();
      return;
    }
  throw py::key_error("name='" + name + "': no hook has this name");
}

}  // namespace

py::handle hook_or_null(Hook name) { return hooks[std::size_t(name)]; }

py::handle hook(Hook name) {
  if (const py::handle found = hook_or_null(name)) return found;
  throw std::runtime_error(std::string("the hook '") + hook_names[std::size_t(name)] +
                           "' is not set: import PyGPU instead of its compiled module");
}

void bind_hooks(module_& m) {
  def(m, "_set_hook", &set_hook,
      "Register a Python function or class that C++ calls. See _runtime/hooks.py.",
      {{"name"}, {"value"}});
}

}  // namespace PyGPU::python
