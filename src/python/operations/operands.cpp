// Operands of elementwise operations, and the dtypes that they promote to. See map.h.
#include "python/operations/operands.h"

#include <algorithm>
#include <unordered_map>

#include "python/binding/errors.h"
#include "python/launch/packing.h"
#include "python/launch/specializations.h"

namespace PyGPU::python {
namespace {

// Return the code of a Python number's kind, after the dtype codes: bool, int, float, complex.
unsigned weak_kind(PyObject* number) {
  if (PyBool_Check(number)) return dtype_count;
  if (PyLong_Check(number)) return dtype_count + 1;
  return PyFloat_Check(number) ? dtype_count + 2 : dtype_count + 3;
}

// Return true if a dtype of integers or bools can hold the int.
bool holds(const DType& dtype, PyObject* number) {
  if (dtype.kind == 'b') {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow && value >> 1 == 0;
  }
  char unused[sizeof(std::uint64_t)];
  return put_number(number, {Kind(dtype.kind), dtype.itemsize}, unused) == Misfit::none;
}

bool is_weak_integer(const Operand& operand) {
  PyObject* const number = operand.number.ptr();
  return operand.code < 0 && PyLong_Check(number) && !PyBool_Check(number);
}

// Return true if NumPy's result dtype depends on the value of a number.
bool depends_on_value(const Operand* operands, int count) {
  for (int i = 0; i < count; ++i) {
    if (!is_weak_integer(operands[i])) continue;
    for (int k = 0; k < count; ++k) {
      if (operands[k].code < 0) continue;
      const DType& dtype = dtypes[operands[k].code];
      if (dtype.kind == 'f' || dtype.kind == 'c') continue;
      if (np::is_numpy_1() || !holds(dtype, operands[i].number.ptr())) return true;
    }
  }
  return false;
}

// Return an operand's kind for PyGPU/_kernels/promotion.py: a dtype, or a number's type and value.
py::object kind_of(const Operand& operand) {
  if (operand.code >= 0) return dtype_object(operand.code);
  const bool is_integer = PyLong_Check(operand.number.ptr());
  return py::make_tuple(py::type::of(operand.number),
                        is_integer ? operand.number : py::object(py::int_(1)));
}

template <std::size_t count>
int read_codes(signed char (&codes)[count], const py::handle& dtypes_in) {
  const auto given = py::reinterpret_borrow<py::tuple>(dtypes_in);
  for (std::size_t i = 0; i < given.size() && i < count; ++i)
    codes[i] = static_cast<signed char>(code_of(given[i]));
  return int(given.size());
}

// Convert subclasses of int and float, such as IntEnum, to their base class. Since NumPy 2.1 their
// types are not weak.
void read_subclass(PyObject* object, Operand& operand) {
  if (PyLong_Check(object) && !PyLong_CheckExact(object) && !PyBool_Check(object))
    operand.number = py::int_(0).attr("__add__")(operand.number);
  else if (PyFloat_Check(object) && !PyFloat_CheckExact(object))
    operand.number = py::float_(PyFloat_AS_DOUBLE(object));
  else
    return;
  if (!np::are_subclasses_weak())
    operand.code = code_of(module_::import("numpy").attr("asarray")(operand.number).attr("dtype"));
}

}  // namespace

Axes broadcast_or_raise(const Axes& a, const Axes& b) {
  try {
    return broadcast(a, b);
  } catch (const ShapeMismatch& mismatch) {
    raise_shape_error(mismatch.what());
  }
}

bool read_operand(PyObject* object, Operand& operand) {
  if ((operand.array = gpuarray_in(object))) {
    operand.code = code_of(operand.array->dtype);
    return true;
  }
  operand.number = py::reinterpret_borrow<py::object>(object);
  if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) return true;
  if (const int scalar = numpy_scalar_dtype(object); scalar >= 0) {
    operand.code = scalar;
    return true;
  }
  if (py::isinstance<np::array>(object)) {
    const auto array = py::reinterpret_borrow<np::array>(object);
    if (array.ndim() > 0)
      throw py::type_error(
          "an operation between a GPUArray and a numpy.ndarray: send the ndarray to the device "
          "with to_gpu(), or fetch the GPUArray with .get()");
    if (!np::is_plain_array(object)) return false;  // its class may add a unit or a mask
    operand.number = array.attr("__getitem__")(py::tuple());
    operand.code = code_of(array.dtype());
    return true;
  }
  if (!PyLong_Check(object) && !PyFloat_Check(object) && !PyComplex_Check(object)) return false;
  read_subclass(object, operand);
  return true;
}

Types types_of(Operation operation, const Operand* operands, int count) {
  static auto& cache = *new std::unordered_map<SpecializationKey, Types, SpecializationKey::Hash>;
  const bool by_value = depends_on_value(operands, count);
  SpecializationKey key;
  key.add<max_operations>(unsigned(operation));
  key.add<max_operands>(unsigned(count));
  for (int i = 0; i < count; ++i) {
    const int code = operands[i].code;
    key.add<dtype_count + 3>(code >= 0 ? unsigned(code) : weak_kind(operands[i].number.ptr()));
  }
  if (!by_value)
    if (const auto found = cache.find(key); found != cache.end()) return found->second;
  py::tuple kinds(count);
  for (int i = 0; i < count; ++i) kinds[i] = kind_of(operands[i]);
  const py::tuple found_types = hook(Hook::types)(operation_name(operation), kinds);
  Types types;
  read_codes(types.compute, found_types[0]);
  types.results = read_codes(types.result, found_types[1]);
  if (!by_value) cache[key] = types;
  return types;
}

void convert_to_bool(Operand& operand, int compute) {
  if (operand.array || dtypes[compute].kind != 'b') return;
  operand.number = py::bool_(is_true(operand.number));
}

void compare_as_infinity(Operation operation, Operand* operands) {
  static const Operation comparisons[] = {
      operation_named("less"),    operation_named("less_equal"),
      operation_named("equal"),   operation_named("not_equal"),
      operation_named("greater"), operation_named("greater_equal")};
  if (std::find(std::begin(comparisons), std::end(comparisons), operation) == std::end(comparisons))
    return;
  Operand& number = operands[is_weak_integer(operands[0]) ? 0 : 1];
  const Operand& other = operands[&number == operands ? 1 : 0];
  if (!is_weak_integer(number) || other.code < 0) return;
  PyObject* const value = number.number.ptr();
  const DType& dtype = dtypes[other.code];
  int overflow = 0;
  if (dtype.kind == 'f' || dtype.kind == 'c') {
    (void)PyLong_AsDouble(value);
    if (!PyErr_Occurred()) return;
    PyErr_Clear();
  } else if (dtype.kind == 'b') {  // bool is compared as int64
    (void)PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) return;
  } else if (holds(dtype, value)) {
    return;
  }
  const bool negative = PyObject_RichCompareBool(value, py::int_(0).ptr(), Py_LT) == 1;
  number.number = py::float_(negative ? -HUGE_VAL : HUGE_VAL);
}

}  // namespace PyGPU::python
