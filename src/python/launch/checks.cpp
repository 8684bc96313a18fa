// Warnings about arguments of a launch. See checks.h.
#include "python/launch/checks.h"

#include <algorithm>
#include <cstring>

#include "PyGPU/runtime/settings.h"
#include "python/binding/errors.h"
#include "python/binding/hooks.h"
#include "python/binding/numpy.h"

namespace PyGPU::python {
namespace {

enum class Check { warn, raise, off };

Check check_mode() {
  static const Check found = [] {
    const std::string text = setting_text("PYGPU_CHECK");
    if (text == "error") return Check::raise;
    return text == "off" ? Check::off : Check::warn;
  }();
  return found;
}

bool is_integer_kind(char kind) { return kind == 'b' || kind == 'i' || kind == 'u'; }

// Return true for combinations that a program may intend: bytes, except bools, on either side,
// structures, integers of the other sign, addresses as integers, complex numbers as pairs of their
// parts.
bool are_compatible(const np::dtype& dtype, const KernelParameter& parameter) {
  const char kind = dtype.kind(), pointee = char(parameter.pointee);
  const auto nbytes = std::size_t(dtype.itemsize());
  const std::size_t whole = parameter.pointee_nbytes * parameter.pointee_count;
  const bool is_vector = parameter.pointee_count > 1,
             is_structure = parameter.pointee == Kind::bytes;
  if (kind == 'V' && (is_vector || is_structure)) return nbytes % whole == 0;
  if (!std::strchr("biufcmM", kind)) return true;
  if (is_structure) return whole % nbytes == 0;
  if (dtype.byteorder() == '>') return false;
  // A vector of bytes may be packed into an integer.
  if (is_vector && parameter.pointee_nbytes == 1)
    return is_integer_kind(kind) && (nbytes == 1 || nbytes == whole);
  if (std::strchr("mM", kind))
    return is_integer_kind(pointee) && nbytes == parameter.pointee_nbytes;
  if (is_integer_kind(pointee) && parameter.pointee_nbytes == 1 && pointee != 'b') return true;
  if (is_integer_kind(kind) && nbytes == 1 && kind != 'b') return true;
  if (parameter.pointee == Kind::pointer) return is_integer_kind(kind) && nbytes == sizeof(void*);
  // The bits of bfloat16 numbers, and of pairs of float16.
  const bool are_pairs_of_half = is_vector && pointee == 'f' && parameter.pointee_nbytes == 2;
  if (parameter.pointee == Kind::bfloat || (are_pairs_of_half && kind == 'u'))
    return kind == 'u' && nbytes == 2;
  if (kind == 'c' && pointee == 'f') return nbytes == 2 * parameter.pointee_nbytes;
  if (nbytes != parameter.pointee_nbytes) return false;
  return kind == pointee || (is_integer_kind(kind) && is_integer_kind(pointee));
}

void report_mismatch(const KernelParameter& parameter, std::size_t index, const std::string& what) {
  if (check_mode() == Check::off || (check_mode() == Check::warn && parameter.has_warned)) return;
  std::string text = position_text(parameter, index) + what;
  if (check_mode() == Check::raise) raise_argument_error(text);
  parameter.has_warned = true;
  text += " (PYGPU_CHECK=error raises an error instead, PYGPU_CHECK=off is silent)";
  hook(Hook::warn)(text, hook(Hook::argument_warning));
}

}  // namespace

void check_integer(PyObject* argument, const KernelParameter& parameter, std::size_t index) {
  report_mismatch(parameter, index,
                  " is " + std::string(kind_text(parameter.kind)) + ": got " +
                      repr_of(py::type::of(argument)) + "; its value is converted");
}

void check_elements(PyObject* object, const KernelParameter& parameter, std::size_t index) {
  const auto dtype = py::reinterpret_borrow<np::dtype>(object);
  if (are_compatible(dtype, parameter)) {
    parameter.last_accepted_dtype = dtype;
    return;
  }
  report_mismatch(
      parameter, index,
      " points to elements of " +
          std::to_string(parameter.pointee_nbytes * parameter.pointee_count) + " bytes, each " +
          (parameter.pointee_count > 1
               ? "a vector of " + std::to_string(parameter.pointee_count) + " elements, each "
               : std::string()) +
          kind_text(parameter.pointee) + ": got an array of dtype " + text_of(py::handle(object)) +
          ", whose bytes the kernel would reinterpret; convert the array with .astype()");
}

}  // namespace PyGPU::python
