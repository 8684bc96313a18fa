// Numbers as bytes. See numbers.h.
#include "python/launch/numbers.h"

#include <cmath>
#include <cstring>

namespace PyGPU::python {
namespace {

constexpr const char* no_c_type =
    "a plain Python number has no C type, and the signature is not known here: pass "
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
    case Kind::natural: return "an unsigned integer";
    case Kind::real: return "a floating-point number";
    case Kind::bfloat: return "a bfloat16";
    case Kind::boolean: return "a bool";
    case Kind::complex: return "a complex number";
    case Kind::bytes: return "a structure";
    case Kind::unknown: break;
  }
  return "of a type that the signature does not tell";
}

void refuse(PyObject* argument, const Slot& slot, std::size_t index, const std::string& why) {
  std::string text = "invalid type on parameter #" + std::to_string(index) + " (0-based)";
  if (!slot.name.empty()) text += " '" + slot.name + "'";
  text += ", which is ";
  if (slot.nbytes) text += std::to_string(slot.nbytes) + " bytes, ";
  text += std::string(kind_text(slot.kind)) + ": got " + type_text(argument);
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

std::uint64_t integer_bits(PyObject* argument, bool with_sign, std::size_t nbytes, const Slot& slot,
                           std::size_t index) {
  const unsigned bits = 8 * unsigned(nbytes);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (overflow > 0 && !with_sign && nbytes == 8) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(argument);
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
  refuse(argument, slot, index,
         repr_of(argument) + " is out of the range of " + std::to_string(nbytes) +
             (with_sign ? " signed" : " unsigned") + " bytes");
}

void put_real(double value, std::size_t nbytes, char* to) {
  if (nbytes == 8) {
    std::memcpy(to, &value, 8);
  } else if (nbytes == 4) {
    const float narrow = float(value);
    std::memcpy(to, &narrow, 4);
  } else {
    // From there on it is rounded to infinity, of which NumPy would warn.
    constexpr double too_large = 65520;
    const double given = std::abs(value) >= too_large ? std::copysign(HUGE_VAL, value) : value;
    const py::object half = py::module_::import("numpy").attr("float16")(given);
    const py::bytes bits = half.attr("tobytes")();
    std::memcpy(to, PyBytes_AS_STRING(bits.ptr()), 2);
  }
}

// To an odd float on the way where that is not exact, so that the second rounding sees it.
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

void put_real(double value, const Slot& slot, char* to) {
  if (slot.kind == Kind::bfloat) return put_bfloat(value, to);
  put_real(value, slot.nbytes, to);
}

void put_complex(Py_complex value, std::size_t nbytes, char* to) {
  put_real(value.real, nbytes / 2, to);
  put_real(value.imag, nbytes / 2, to + nbytes / 2);
}

void put_number(PyObject* argument, const Slot& slot, std::size_t index, char* to) {
  if (PyComplex_Check(argument)) {
    if (slot.kind != Kind::complex)
      refuse(argument, slot, index, slot.kind == Kind::unknown ? no_c_type : "");
    return put_complex(PyComplex_AsCComplex(argument), slot.nbytes, to);
  }
  if (PyFloat_Check(argument)) {
    if (is_real(slot.kind)) return put_real(PyFloat_AS_DOUBLE(argument), slot, to);
    if (slot.kind == Kind::complex)
      return put_complex({PyFloat_AS_DOUBLE(argument), 0}, slot.nbytes, to);
    refuse(argument, slot, index, slot.kind == Kind::unknown ? no_c_type : "");
  }
  switch (slot.kind) {
    case Kind::integer:
    case Kind::natural:
      return put_integer(
          integer_bits(argument, slot.kind == Kind::integer, slot.nbytes, slot, index), slot.nbytes,
          to);
    case Kind::pointer: return put_integer(integer_bits(argument, false, 8, slot, index), 8, to);
    case Kind::boolean: *to = char(PyObject_IsTrue(argument)); return;
    case Kind::real:
    case Kind::bfloat:
    case Kind::complex: {
      const double value = PyLong_AsDouble(argument);
      if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
      return slot.kind == Kind::complex ? put_complex({value, 0}, slot.nbytes, to)
                                        : put_real(value, slot, to);
    }
    default: refuse(argument, slot, index, slot.kind == Kind::unknown ? no_c_type : "");
  }
}

}  // namespace PyGPU::python
