// Conversion of numbers to bytes. See numbers.h.
#include "python/launch/numbers.h"

#include <cmath>
#include <cstring>

namespace PyGPU::python {
namespace {

constexpr const char* no_c_type =
    "a plain Python number has no C type, and the kernel's signature is unknown: pass "
    "numpy.int32(x), numpy.float32(x) ...";

std::string type_text(PyObject* argument) {
  const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(argument)));
  const std::string module = py::str(type.attr("__module__"));
  const std::string name = py::str(type.attr("__qualname__"));
  return module == "builtins" ? name : module + "." + name;
}

}  // namespace

const char* kind_text(Kind kind) {
  switch (kind) {
    case Kind::pointer: return "a pointer";
    case Kind::integer: return "an integer";
    case Kind::unsigned_integer: return "an unsigned integer";
    case Kind::floating_point: return "a floating-point number";
    case Kind::bfloat: return "a bfloat16";
    case Kind::boolean: return "a bool";
    case Kind::complex: return "a complex number";
    case Kind::bytes: return "a structure";
    case Kind::unknown: break;
  }
  return "a value of unknown type";
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

void refuse(PyObject* argument, const KernelParameter& parameter, std::size_t index,
            const std::string& why) {
  std::string text = "invalid type on parameter #" + std::to_string(index) + " (0-based)";
  if (!parameter.name.empty()) text += " '" + parameter.name + "'";
  text += ": expected " + std::string(kind_text(parameter.kind));
  if (parameter.nbytes) text += " of " + std::to_string(parameter.nbytes) + " bytes";
  text += ", got " + type_text(argument);
  raise_argument_error(text + (why.empty() ? "" : "; " + why));
}

void put_integer(std::uint64_t bits, std::size_t nbytes, char* to) {
  std::memcpy(to, &bits, nbytes ? nbytes : 8);
}

std::uint64_t extended(const char* from, std::size_t nbytes, bool with_sign) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, nbytes);
  const unsigned unused = 64 - 8 * unsigned(nbytes);
  if (with_sign && nbytes < 8) bits = std::uint64_t(std::int64_t(bits << unused) >> unused);
  return bits;
}

std::optional<std::uint64_t> integer_bits(PyObject* number, bool with_sign, std::size_t nbytes) {
  const unsigned bits = 8 * unsigned(nbytes);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (overflow > 0 && !with_sign && nbytes == 8) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(number);
    if (!PyErr_Occurred()) return large;
    PyErr_Clear();
  } else if (!overflow) {
    if (nbytes == 8) {
      if (with_sign || value >= 0) return std::uint64_t(value);
    } else if (with_sign) {
      const long long most = (1LL << (bits - 1)) - 1;
      if (value >= -most - 1 && value <= most) return std::uint64_t(value);
    } else if (value >= 0 && value < (1LL << bits)) {
      return std::uint64_t(value);
    }
  }
  return std::nullopt;
}

std::uint64_t fitting_bits(PyObject* argument, bool with_sign, std::size_t nbytes,
                           const KernelParameter& parameter, std::size_t index) {
  if (const auto bits = integer_bits(argument, with_sign, nbytes)) return *bits;
  refuse(argument, parameter, index,
         repr_of(argument) + " is out of the range of " + std::to_string(nbytes) +
             (with_sign ? " signed" : " unsigned") + " bytes");
}

void put_floating_point(double value, std::size_t nbytes, char* to) {
  if (nbytes == 8) {
    std::memcpy(to, &value, 8);
  } else if (nbytes == 4) {
    const float narrow = float(value);
    std::memcpy(to, &narrow, 4);
  } else {
    // Numbers from here on round to infinity, for which NumPy would warn.
    constexpr double too_large = 65520;
    const double given = std::abs(value) >= too_large ? std::copysign(HUGE_VAL, value) : value;
    const py::object half = module_::import("numpy").attr("float16")(given);
    const py::bytes bits = half.attr("tobytes")();
    std::memcpy(to, PyBytes_AS_STRING(bits.ptr()), 2);
  }
}

// Round to odd when narrowing to float, so that the second rounding, to bfloat16, is correct.
void put_bfloat(double value, char* to) {
  const float narrow = float(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &narrow, 4);
  if (std::isnan(value)) {
    bits |= 0x00400000;
  } else {
    if (std::abs(double(narrow)) > std::abs(value)) --bits;
    if (double(narrow) != value) bits |= 1;
    bits += 0x7fff + (bits >> 16 & 1);
  }
  const auto upper = std::uint16_t(bits >> 16);
  std::memcpy(to, &upper, 2);
}

void put_floating_point(double value, const KernelParameter& parameter, char* to) {
  if (parameter.kind == Kind::bfloat) return put_bfloat(value, to);
  put_floating_point(value, parameter.nbytes, to);
}

void put_complex(Py_complex value, std::size_t nbytes, char* to) {
  put_floating_point(value.real, nbytes / 2, to);
  put_floating_point(value.imag, nbytes / 2, to + nbytes / 2);
}

void put_number(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to) {
  if (PyComplex_Check(argument)) {
    if (parameter.kind != Kind::complex)
      refuse(argument, parameter, index, parameter.kind == Kind::unknown ? no_c_type : "");
    return put_complex(PyComplex_AsCComplex(argument), parameter.nbytes, to);
  }
  if (PyFloat_Check(argument)) {
    if (is_floating_point(parameter.kind))
      return put_floating_point(PyFloat_AS_DOUBLE(argument), parameter, to);
    if (parameter.kind == Kind::complex)
      return put_complex({PyFloat_AS_DOUBLE(argument), 0}, parameter.nbytes, to);
    refuse(argument, parameter, index, parameter.kind == Kind::unknown ? no_c_type : "");
  }
  switch (parameter.kind) {
    case Kind::integer:
    case Kind::unsigned_integer:
      return put_integer(fitting_bits(argument, parameter.kind == Kind::integer, parameter.nbytes,
                                      parameter, index),
                         parameter.nbytes, to);
    case Kind::pointer:
      return put_integer(fitting_bits(argument, false, 8, parameter, index), 8, to);
    case Kind::boolean: *to = char(is_true(argument)); return;
    case Kind::floating_point:
    case Kind::bfloat:
    case Kind::complex: {
      const double value = PyLong_AsDouble(argument);
      if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
      return parameter.kind == Kind::complex ? put_complex({value, 0}, parameter.nbytes, to)
                                             : put_floating_point(value, parameter, to);
    }
    default: refuse(argument, parameter, index, parameter.kind == Kind::unknown ? no_c_type : "");
  }
}

}  // namespace PyGPU::python
