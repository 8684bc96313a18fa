// Comparison of dtypes with buffer formats (the struct module's letters, and Z for complex).
#include "PyGPU/runtime/dtypes.h"

namespace PyGPU {
namespace {

constexpr bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

char kind_of_letter(char letter) {
  switch (letter) {
    case '?': return 'b';
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return 'i';
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return 'u';
    case 'e':
    case 'f':
    case 'd': return 'f';
    default: return 0;
  }
}

}  // namespace

bool is_format_of(const std::string& format, std::size_t itemsize, const DType& dtype) {
  std::size_t at = 0;
  if (!format.empty() && std::string("@=<>!").find(format[0]) != std::string::npos) {
    const bool swapped =
        format[0] == (little_endian ? '>' : '<') || (format[0] == '!' && little_endian);
    if (swapped && itemsize > 1) return false;
    at = 1;
  }
  const bool complex = at < format.size() && format[at] == 'Z';
  if (complex) ++at;
  if (at + 1 != format.size() || itemsize != dtype.itemsize) return false;
  const char kind = kind_of_letter(format[at]);
  return complex ? kind == 'f' && dtype.kind == 'c' : kind == dtype.kind;
}

}  // namespace PyGPU
