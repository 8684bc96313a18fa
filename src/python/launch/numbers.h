// Conversion of numbers to the bytes of kernel arguments, and the errors for numbers that do not
// fit.
#pragma once

#include <optional>

#include "python/launch/packing.h"

namespace PyGPU::python {

const char* kind_text(Kind kind);
// Return a parameter's name and type, such as "n: int32".
std::string parameter_text(const KernelParameter& parameter);
// Throw ArgumentError, which names the parameter, its type, the argument, and the reason.
[[noreturn]] void refuse(PyObject* argument, const KernelParameter& parameter, std::size_t index,
                         const std::string& why);

inline bool is_integral(Kind kind) {
  return kind == Kind::integer || kind == Kind::unsigned_integer;
}
// Return true for parameters that receive the values of numbers, integers included.
inline bool is_floating_point(Kind kind) {
  return kind == Kind::floating_point || kind == Kind::bfloat;
}
inline bool may_be(Kind parameter, Kind kind) {
  return parameter == Kind::unknown || parameter == kind;
}
inline bool may_be_integral(const KernelParameter& parameter) {
  const bool may_hold =
      parameter.kind == Kind::unknown && parameter.nbytes <= sizeof(std::uint64_t);
  return may_hold || is_integral(parameter.kind) || parameter.kind == Kind::boolean;
}

// Store the low bytes of a 64-bit number; all supported machines are little-endian.
void put_integer(std::uint64_t bits, std::size_t nbytes, char* to);
// Read an integer of `nbytes` bytes, extended to 64 bits.
std::uint64_t extended(const char* from, std::size_t nbytes, bool with_sign);
// Return the bits of a Python int; nothing if it does not fit into an integer of `nbytes` bytes.
std::optional<std::uint64_t> integer_bits(PyObject* number, bool with_sign, std::size_t nbytes);
// Return the bits of an argument. ArgumentError if it does not fit.
std::uint64_t fitting_bits(PyObject* argument, bool with_sign, std::size_t nbytes,
                           const KernelParameter& parameter, std::size_t index);
// Store a floating-point number, rounded once.
void put_floating_point(double value, const KernelParameter& parameter, char* to);
void put_floating_point(double value, std::size_t nbytes, char* to);
void put_complex(Py_complex value, std::size_t nbytes, char* to);
// Store a plain Python number, converted to the type in the signature.
void put_number(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to);

}  // namespace PyGPU::python
