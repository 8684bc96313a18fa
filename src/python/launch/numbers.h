// Numbers of Python as the bytes of values in C.
#pragma once

#include <cstdint>
#include <string>

#include "python/binding/objects.h"

namespace PyGPU::python {

enum class Kind : char {
  unknown = '?',  // only the size is known
  pointer = 'P',
  integer = 'i',
  unsigned_integer = 'u',
  floating_point = 'f',
  bfloat = 'B',  // the upper half of a float; NumPy has no dtype for it
  boolean = 'b',
  complex = 'c',
  bytes = 's',  // a structure
};

// Type of a value: of a kernel's parameter, of an argument that prepare() declares, or of an
// array's elements.
struct ValueType {
  Kind kind = Kind::unknown;
  std::size_t nbytes = 0;  // 0: unknown
};

// Return the kind with its article, such as "an integer".
const char* kind_text(Kind kind);

inline bool is_integral(Kind kind) {
  return kind == Kind::integer || kind == Kind::unsigned_integer;
}
// Return true for floating-point types, which also accept integers.
inline bool is_floating_point(Kind kind) {
  return kind == Kind::floating_point || kind == Kind::bfloat;
}

// Return a number for an error message: its digits, or only its size if there are many.
std::string number_text(py::handle number);

// Store the low bytes of a 64-bit number; all supported machines are little-endian.
void put_integer(std::uint64_t bits, std::size_t nbytes, char* to);
// Read an integer of `nbytes` bytes, extended to 64 bits.
std::uint64_t read_integer(const char* from, std::size_t nbytes, bool with_sign);
// Store a floating-point number, rounded once.
void put_floating_point(double value, ValueType type, char* to);

// Reason why a number cannot be stored as a type.
enum class Misfit { none, another_kind, out_of_range };
// Store a number as a value of a type: integers by __index__, floating-point numbers by __float__,
// complex numbers by __complex__, bools by truth, and pointers as unsigned integers. Return what is
// wrong; then nothing is stored. Exceptions of the number's own methods are thrown, unless they
// only say that there is no conversion.
[[nodiscard]] Misfit put_number(PyObject* number, ValueType type, char* to);
// The same for an integer of C++, which becomes an integer or a pointer.
[[nodiscard]] Misfit put_number(long long number, ValueType type, char* to);

}  // namespace PyGPU::python
