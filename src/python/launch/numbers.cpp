// Numbers of Python as bytes. See numbers.h.
#include "python/launch/numbers.h"

#include <cmath>
#include <cstring>

#include "python/arguments.h"

namespace PyGPU::python {
namespace {

// Return true if an integer of `nbytes` bytes holds the number.
bool is_in_range(long long number, bool with_sign, std::size_t nbytes) {
  if (nbytes == sizeof number) return with_sign || number >= 0;
  const long long end = 1LL << (8 * nbytes - with_sign);
  return number < end && number >= (with_sign ? -end : 0);
}

std::size_t size_of(ValueType type) {
  return type.kind == Kind::pointer ? sizeof(void*) : type.nbytes;
}

// Store a Python int.
Misfit put_int(PyObject* number, ValueType type, char* to) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (!overflow) return put_number(value, type, to);
  const bool may_fit =
      overflow > 0 && type.kind != Kind::integer && size_of(type) == sizeof(std::uint64_t);
  const unsigned long long large = may_fit ? PyLong_AsUnsignedLongLong(number) : 0;
  if (!may_fit || PyErr_Occurred()) {
    PyErr_Clear();
    return Misfit::out_of_range;
  }
  put_integer(large, sizeof large, to);
  return Misfit::none;
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

void put_half(double value, char* to) {
  // Numbers from here on round to infinity, for which NumPy would warn.
  constexpr double too_large = 65520;
  const double given = std::abs(value) >= too_large ? std::copysign(HUGE_VAL, value) : value;
  const py::object half = module_::import("numpy").attr("float16")(given);
  const py::bytes bits = half.attr("tobytes")();
  std::memcpy(to, PyBytes_AS_STRING(bits.ptr()), 2);
}

// Return why a conversion to double failed, and clear the exception that said so.
Misfit misfit_of(PyObject* number) {
  const bool is_too_large = PyLong_Check(number) && PyErr_ExceptionMatches(PyExc_OverflowError);
  clear_conversion_error();
  return is_too_large ? Misfit::out_of_range : Misfit::another_kind;
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

std::string number_text(py::handle number) {
  constexpr int most_bits = 128;
  if (!PyLong_Check(number.ptr())) {
    const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(number.ptr()));
    if (integer) return number_text(integer);
    clear_conversion_error();
    return text_of(number);
  }
  const py::object bits = number.attr("bit_length")();
  return bits.cast<long>() <= most_bits ? text_of(number)
                                        : "an integer of " + text_of(bits) + " bits";
}

void put_integer(std::uint64_t bits, std::size_t nbytes, char* to) {
  std::memcpy(to, &bits, nbytes);
}

std::uint64_t read_integer(const char* from, std::size_t nbytes, bool with_sign) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, nbytes);
  const unsigned unused = 64 - 8 * unsigned(nbytes);
  if (with_sign && nbytes < 8) bits = std::uint64_t(std::int64_t(bits << unused) >> unused);
  return bits;
}

void put_floating_point(double value, ValueType type, char* to) {
  if (type.kind == Kind::bfloat) return put_bfloat(value, to);
  if (type.nbytes == 8) {
    std::memcpy(to, &value, 8);
  } else if (type.nbytes == 4) {
    const float narrow = float(value);
    std::memcpy(to, &narrow, 4);
  } else {
    put_half(value, to);
  }
}

Misfit put_number(long long number, ValueType type, char* to) {
  const bool with_sign = type.kind == Kind::integer;
  if (!is_integral(type.kind) && type.kind != Kind::pointer) return Misfit::another_kind;
  if (!is_in_range(number, with_sign, size_of(type))) return Misfit::out_of_range;
  put_integer(std::uint64_t(number), size_of(type), to);
  return Misfit::none;
}

Misfit put_number(PyObject* number, ValueType type, char* to) {
  switch (type.kind) {
    case Kind::pointer:
    case Kind::integer:
    case Kind::unsigned_integer: {
      if (PyLong_CheckExact(number)) return put_int(number, type, to);
      if (type.kind == Kind::pointer && !is_integer(number)) return Misfit::another_kind;
      const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(number));
      return integer ? put_int(integer.ptr(), type, to) : misfit_of(number);
    }
    case Kind::floating_point:
    case Kind::bfloat: {
      const double value = PyFloat_AsDouble(number);
      if (value == -1 && PyErr_Occurred()) return misfit_of(number);
      put_floating_point(value, type, to);
      return Misfit::none;
    }
    case Kind::complex: {
      const Py_complex value = PyComplex_AsCComplex(number);
      if (value.real == -1 && PyErr_Occurred()) return misfit_of(number);
      const ValueType part{Kind::floating_point, type.nbytes / 2};
      put_floating_point(value.real, part, to);
      put_floating_point(value.imag, part, to + part.nbytes);
      return Misfit::none;
    }
    case Kind::boolean: *to = char(is_true(number)); return Misfit::none;
    case Kind::bytes:
    case Kind::unknown: break;
  }
  return Misfit::another_kind;
}

}  // namespace PyGPU::python
