// PyGPU's exceptions. See errors.h.
#include "python/binding/errors.h"

#include "python/binding/hooks.h"

namespace PyGPU::python {
namespace {

[[noreturn]] void raise_by(Hook exception, const std::string& text) {
  PyErr_SetString(hook(exception).ptr(), text.c_str());
  throw py::error_already_set();
}

}  // namespace

void raise_argument_error(const std::string& text) { raise_by(Hook::argument_error, text); }
void raise_shape_error(const std::string& text) { raise_by(Hook::shape_error, text); }

}  // namespace PyGPU::python
