// Parameters of kernels and of library functions. See parameters.h.
#include "python/launch/parameters.h"

#include <algorithm>

#include "python/binding/errors.h"

namespace PyGPU::python {
namespace {

std::string type_text(PyObject* argument) {
  const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(argument)));
  const std::string module = py::str(type.attr("__module__"));
  const std::string name = py::str(type.attr("__qualname__"));
  return module == "builtins" ? name : module + "." + name;
}

}  // namespace

void assign_offsets(std::vector<KernelParameter>& parameters) {
  std::size_t end = 0;
  for (KernelParameter& parameter : parameters) {
    parameter.offset = end;
    end += (std::max<std::size_t>(parameter.nbytes, 16) + 15) / 16 * 16;
  }
}

bool fits(Kind kind, std::size_t nbytes) {
  switch (kind) {
    case Kind::pointer: return nbytes == 8;
    case Kind::integer:
    case Kind::unsigned_integer: return nbytes == 1 || nbytes == 2 || nbytes == 4 || nbytes == 8;
    case Kind::floating_point: return nbytes == 2 || nbytes == 4 || nbytes == 8;
    case Kind::bfloat: return nbytes == 2;
    case Kind::boolean: return nbytes == 1;
    case Kind::complex: return nbytes == 8 || nbytes == 16;
    default: return true;
  }
}

std::string parameter_text(const KernelParameter& parameter) {
  const std::string name = parameter.name.empty() ? "" : parameter.name + ": ";
  const std::string bits = std::to_string(8 * parameter.nbytes);
  switch (parameter.kind) {
    case Kind::pointer: return name + "pointer";
    case Kind::integer: return name + "int" + bits;
    case Kind::unsigned_integer: return name + "uint" + bits;
    case Kind::floating_point: return name + "float" + bits;
    case Kind::bfloat: return name + "bfloat16";
    case Kind::boolean: return name + "bool";
    case Kind::complex: return name + "complex" + bits;
    case Kind::bytes:
    case Kind::unknown: break;
  }
  return name + (parameter.nbytes ? std::to_string(parameter.nbytes) + " bytes" : "unknown");
}

std::string position_text(const KernelParameter& parameter, std::size_t index) {
  const std::string position = "parameter #" + std::to_string(index) + " (0-based)";
  return parameter.name.empty() ? position : position + " '" + parameter.name + "'";
}

std::string counted_arguments(std::size_t number) {
  return std::to_string(number) + (number == 1 ? " argument" : " arguments");
}

void refuse(PyObject* argument, const KernelParameter& parameter, std::size_t index,
            const std::string& why) {
  std::string text = "invalid type on " + position_text(parameter, index) + ": expected " +
                     kind_text(parameter.kind);
  if (parameter.nbytes) text += " of " + std::to_string(parameter.nbytes) + " bytes";
  text += ", got " + type_text(argument);
  raise_argument_error(text + (why.empty() ? "" : "; " + why));
}

void refuse_out_of_range(PyObject* argument, ValueType type, const KernelParameter& parameter,
                         std::size_t index) {
  const char* const sign = type.kind == Kind::integer ? " signed"
                           : is_integral(type.kind) || type.kind == Kind::pointer
                               ? " unsigned"
                               : " floating-point";
  refuse(argument, parameter, index,
         number_text(argument) + " is out of the range of " + std::to_string(type.nbytes) + sign +
             " bytes");
}

}  // namespace PyGPU::python
