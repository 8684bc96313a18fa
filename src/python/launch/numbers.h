// Numbers of kernel arguments as bytes, and the words for what does not fit.
#pragma once

#include "python/launch/packing.h"

namespace PyGPU::python {

const char* kind_text(Kind kind);
// ArgumentError: the parameter, what it is, what was given, and why that does not go there.
[[noreturn]] void refuse(PyObject* argument, const Slot& slot, std::size_t index,
                         const std::string& why);

inline bool is_integral(Kind kind) { return kind == Kind::integer || kind == Kind::natural; }
// Do numbers go there by their values, whole ones as well?
inline bool is_real(Kind kind) { return kind == Kind::real || kind == Kind::bfloat; }
inline bool may_be(Kind slot, Kind kind) { return slot == Kind::unknown || slot == kind; }
inline bool may_be_integral(const Slot& slot) {
  const bool may_hold = slot.kind == Kind::unknown && slot.nbytes <= sizeof(std::uint64_t);
  return may_hold || is_integral(slot.kind) || slot.kind == Kind::boolean;
}

// The low bytes of a 64-bit number; the machines are little-endian.
void put_integer(std::uint64_t bits, std::size_t nbytes, char* to);
// A number read from `nbytes` bytes, extended to 64 bits.
std::uint64_t extended(const char* from, std::size_t nbytes, bool with_sign);
// A Python int that fits an integer of `nbytes`; ArgumentError if it does not.
std::uint64_t integer_bits(PyObject* argument, bool with_sign, std::size_t nbytes, const Slot& slot,
                           std::size_t index);
// Rounded once.
void put_real(double value, const Slot& slot, char* to);
void put_real(double value, std::size_t nbytes, char* to);
void put_complex(Py_complex value, std::size_t nbytes, char* to);
// A plain Python number, where the signature says what is meant.
void put_number(PyObject* argument, const Slot& slot, std::size_t index, char* to);

}  // namespace PyGPU::python
