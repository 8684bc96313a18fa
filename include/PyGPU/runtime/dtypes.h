// Element types of the low level, in one list.
#pragma once

#include <cstddef>
#include <string>

namespace PyGPU {

// X(name, kind as in NumPy, bytes)
#define PYGPU_DTYPES(X) \
  X(bool, 'b', 1)       \
  X(int8, 'i', 1)       \
  X(int16, 'i', 2)      \
  X(int32, 'i', 4)      \
  X(int64, 'i', 8)      \
  X(uint8, 'u', 1)      \
  X(uint16, 'u', 2)     \
  X(uint32, 'u', 4)     \
  X(uint64, 'u', 8)     \
  X(float16, 'f', 2)    \
  X(float32, 'f', 4)    \
  X(float64, 'f', 8)    \
  X(complex64, 'c', 8)  \
  X(complex128, 'c', 16)

struct DType {
  const char* name;
  char kind;
  std::size_t itemsize;
};

inline constexpr DType dtypes[] = {
#define PYGPU_ROW(name, kind, bytes) {#name, kind, bytes},
    PYGPU_DTYPES(PYGPU_ROW)
#undef PYGPU_ROW
};
inline constexpr int dtype_count = sizeof dtypes / sizeof dtypes[0];

// Return whether a buffer of this format and item size is an array of `dtype`. Types of the same
// kind and size are equal, whatever their C names ("l" and "q"). The byte order must be the
// machine's.
bool is_format_of(const std::string& format, std::size_t itemsize, const DType& dtype);

}  // namespace PyGPU
