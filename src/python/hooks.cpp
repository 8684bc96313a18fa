// The table of hooks. See hooks.h.
#include "python/hooks.h"

namespace PyGPU::python {
namespace {

constexpr const char* hook_names[] = {
#define PYGPU_HOOK(name) #name,
    PYGPU_HOOKS(PYGPU_HOOK)
#undef PYGPU_HOOK
};
constexpr std::size_t hook_count = sizeof hook_names / sizeof *hook_names;
PyObject* hooks[hook_count] = {};  // owned, and never given back: arrays outlive the modules

void set_hook(const std::string& name, const py::object& value) {
  for (std::size_t i = 0; i < hook_count; ++i)
    if (name == hook_names[i]) {
      hooks[i] = py::object(value).release().ptr();
      return;
    }
  throw py::key_error("no hook is called '" + name + "'");
}

}  // namespace

// Python code lets the GIL go, and may not get it back: nothing of ours is unwound then.
py::object HookFunction::call(const py::tuple& arguments) const {
  PyObject* answer = nullptr;
  try {
    answer = PyObject_CallObject(ptr(), arguments.ptr());
  } catch (abi::__forced_unwind&) {
    sleep_until_the_end();
  }
  if (!answer) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

HookFunction hook_or_null(Hook name) { return hooks[std::size_t(name)]; }

HookFunction hook(Hook name) {
  if (const HookFunction found = hook_or_null(name)) return found;
  throw std::runtime_error(std::string("the hook '") + hook_names[std::size_t(name)] +
                           "' is not set: import PyGPU, not its compiled module");
}

void bind_hooks(py::module_& m) {
  def(m, "_set_hook", &set_hook, "Give C++ a function or class of Python's. See _runtime/hooks.py.",
      {{"name"}, {"value"}});
}

}  // namespace PyGPU::python
