// Conversion of Python's and NumPy's numbers to elements of arrays. See elements.h.
#include "python/operations/elements.h"

#include <string>
#include <vector>

#include "python/arguments.h"
#include "python/binding/errors.h"
#include "python/launch/packing.h"

namespace PyGPU::python {
namespace {

// Describe the numbers that a dtype can represent, such as "an integer from 0 to 255".
std::string accepted_text(const DType& dtype) {
  if (dtype.kind != 'i' && dtype.kind != 'u') return kind_text(Kind(dtype.kind));
  const bool with_sign = dtype.kind == 'i';
  const std::uint64_t maximum = ~std::uint64_t() >> (64 - 8 * dtype.itemsize + with_sign);
  const std::string minimum = with_sign ? std::to_string(-std::int64_t(maximum) - 1) : "0";
  return "an integer from " + minimum + " to " + std::to_string(maximum);
}

// Return true if the conversion of a number to `dtype` would drop its imaginary part or its
// fraction. `scalar` is the dtype code of a NumPy scalar, and negative for Python's numbers.
bool drops_a_part(PyObject* number, int scalar, const DType& dtype) {
  const char kind = scalar >= 0               ? dtypes[scalar].kind
                    : PyComplex_Check(number) ? 'c'
                    : PyFloat_Check(number)   ? 'f'
                                              : 'i';
  if (kind == 'c') return dtype.kind != 'c';
  return kind == 'f' && (dtype.kind == 'i' || dtype.kind == 'u');
}

}  // namespace

void put_element(py::handle number, int code, char* to, const char* name) {
  const DType& dtype = dtypes[code];
  const int scalar = numpy_scalar_dtype(number.ptr());
  if (scalar >= 0 && dtypes[scalar].kind == 'b')  // NumPy's bools have no __index__
    return put_element(py::bool_(is_true(number)), code, to, name);
  const bool may_fit = !drops_a_part(number.ptr(), scalar, dtype);
  if (may_fit && put_number(number.ptr(), {Kind(dtype.kind), dtype.itemsize}, to) == Misfit::none)
    return;
  raise_argument_error(name + number_text(number) + " does not fit into " + dtype.name +
                       ": expected " + accepted_text(dtype));
}

np::array element_of(const py::object& dtype, const py::object& value, const std::string& name) {
  np::array element(py::reinterpret_borrow<np::dtype>(dtype), std::vector<py::ssize_t>());
  try {
    if (py::isinstance<np::array>(value) && py::reinterpret_borrow<np::array>(value).ndim() > 0)
      element[py::ellipsis()] = value;
    else  // numbers with a unit or a mask convert themselves, or raise an error
      element[py::tuple()] = value;
  } catch (const py::error_already_set& error) {
    throw_if_from_program(error);
    const py::handle kind = error.matches(PyExc_TypeError)    ? PyExc_TypeError
                            : error.matches(PyExc_ValueError) ? PyExc_ValueError
                                                              : PyExc_OverflowError;
    PyErr_SetString(kind.ptr(), (name + "=" + number_text(value) + " does not fit into " +
                                 text_of(dtype) + ": " + text_of(error.value()))
                                    .c_str());
    throw py::error_already_set();
  }
  return element;
}

}  // namespace PyGPU::python
