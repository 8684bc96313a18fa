// Parameters of kernels and of library functions, and the errors for arguments that do not fit.
#pragma once

#include <string>
#include <vector>

#include "python/launch/numbers.h"

namespace PyGPU::python {

// Parameter of a kernel or of a library function.
struct KernelParameter : ValueType {
  std::string name;        // name in the source; empty if unknown
  std::size_t offset = 0;  // offset of the value in the packed arguments
  // Type of the elements that a pointer points to, if they are numbers, vectors of `pointee_count`
  // numbers, or structures; see checks.h.
  Kind pointee = Kind::unknown;
  std::size_t pointee_nbytes = 0;
  std::size_t pointee_count = 1;
  bool is_writable = false;  // true for a pointer to elements that are known not to be const
  mutable py::object last_accepted_dtype;  // dtype of the last array that passed the check
  mutable bool has_warned = false;         // true after an ArgumentWarning about this parameter
};

// Assign the offsets of the values: consecutive multiples of 16 bytes.
void assign_offsets(std::vector<KernelParameter>& parameters);

inline bool accepts_kind(Kind parameter, Kind kind) {
  return parameter == Kind::unknown || parameter == kind;
}
inline bool accepts_integers(const KernelParameter& parameter) {
  const bool may_hold =
      parameter.kind == Kind::unknown && parameter.nbytes <= sizeof(std::uint64_t);
  return may_hold || is_integral(parameter.kind) || parameter.kind == Kind::boolean;
}

// Return true if a kind declared in the source matches the size that the runtime reports.
bool fits(Kind kind, std::size_t nbytes);
// Return a parameter's name and type, such as "n: int32".
std::string parameter_text(const KernelParameter& parameter);
// Return a parameter's position and name, such as "parameter #0 (0-based) 'n'".
std::string position_text(const KernelParameter& parameter, std::size_t index);
// Return the number of arguments as text, such as "1 argument" or "2 arguments".
std::string counted_arguments(std::size_t number);
// Throw ArgumentError. Its message contains the parameter, its type, the argument and the reason.
[[noreturn]] void refuse(PyObject* argument, const KernelParameter& parameter, std::size_t index,
                         const std::string& why);
// Throw ArgumentError for a number that is out of the range of a type.
[[noreturn]] void refuse_out_of_range(PyObject* argument, ValueType type,
                                      const KernelParameter& parameter, std::size_t index);

}  // namespace PyGPU::python
