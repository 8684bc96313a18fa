// Numbers of kernel arguments as bytes, and the words for what does not fit.
#pragma once

#include "python/launch/packing.h"

namespace PyGPU::python {

const char* kind_text(Kind kind);
// ArgumentError: the parameter, what it is, what was given, and why that does not go there.
[[noreturn]] void refuse(PyObject* argument, const KernelParameter& parameter, std::size_t index,
                         const std::string& why);

inline bool is_integral(Kind kind) {
  return kind == Kind::integer || kind == Kind::unsigned_integer;
}
// Do numbers go there by their values, whole ones as well?
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

// The low bytes of a 64-bit number; the machines are little-endian.
void put_integer(std::uint64_t bits, std::size_t nbytes, char* to);
// A number read from `nbytes` bytes, extended to 64 bits.
std::uint64_t extended(const char* from, std::size_t nbytes, bool with_sign);
// A Python int that fits an integer of `nbytes`; ArgumentError if it does not.
std::uint64_t integer_bits(PyObject* argument, bool with_sign, std::size_t nbytes,
                           const KernelParameter& parameter, std::size_t index);
// Rounded once.
void put_floating_point(double value, const KernelParameter& parameter, char* to);
void put_floating_point(double value, std::size_t nbytes, char* to);
void put_complex(Py_complex value, std::size_t nbytes, char* to);
// A plain Python number, where the signature says what is meant.
void put_number(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to);

}  // namespace PyGPU::python
