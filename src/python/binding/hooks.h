// Hooks: the only way from C++ to PyGPU's Python code. At import, PyGPU/_runtime/hooks.py registers
// functions and classes by name; C++ imports no module of PyGPU.
#pragma once

#include "python/binding/functions.h"

namespace PyGPU::python {

// Names of the hooks; PyGPU/_runtime/hooks.py documents each.
#define PYGPU_HOOKS(X)  \
  X(exception_of)       \
  X(argument_error)     \
  X(argument_warning)   \
  X(warn)               \
  X(shape_error)        \
  X(exchange_error)     \
  X(compiler_missing)   \
  X(argument_handler)   \
  X(types)              \
  X(elementwise_module) \
  X(reduction_module)   \
  X(gather_module)      \
  X(check_module)       \
  X(mask_module)        \
  X(compaction_module)  \
  X(join_module)        \
  X(references_of)      \
  X(release_held)       \
  X(transfer_progress)  \
  X(require_c_type)     \
  X(check_exponents) X(get_item) X(set_item)

enum class Hook {
#define PYGPU_HOOK(name) name,
  PYGPU_HOOKS(PYGPU_HOOK)
#undef PYGPU_HOOK
};

// Return the registered object, valid until the process ends; null if none is registered.
py::handle hook_or_null(Hook name);
// Return the registered object; throws RuntimeError if none is registered.
py::handle hook(Hook name);

void bind_hooks(module_& m);

}  // namespace PyGPU::python
