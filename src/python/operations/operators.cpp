// Operators of GPUArray. See operators.h.
#include "python/operations/operators.h"

#include <algorithm>
#include <string_view>

#include "PyGPU/runtime/settings.h"
#include "python/binding/errors.h"
#include "python/operations/copies.h"
#include "python/operations/elements.h"
#include "python/operations/elementwise.h"
#include "python/operations/results.h"

namespace PyGPU::python {
namespace {

Operation operation_of(Op op) {
  static const Operation numbers[] = {
#define PYGPU_NUMBER(name, ...) operation_named(#name),
      PYGPU_BINARY_OPERATIONS(PYGPU_NUMBER) PYGPU_COMPARISONS(PYGPU_NUMBER)
          PYGPU_UNARY_OPERATIONS(PYGPU_NUMBER)
#undef PYGPU_NUMBER
  };
  return numbers[int(op)];
}

const std::string& name_of(Op op) { return operation_name(operation_of(op)); }
bool is_comparison(Op op) { return op >= Op::less && op <= Op::greater_equal; }
bool is_bitwise(Op op) { return op >= Op::bitwise_and && op <= Op::right_shift; }

const DType& operand_dtype(const Operand& operand) { return dtypes[operand.code]; }

// Raise the errors that NumPy raises for in-place operations.
void check_in_place(Op op, const Operand& self, const Operand& other) {
  const char kind = operand_dtype(self).kind;
  const char other_kind = other.code >= 0                       ? operand_dtype(other).kind
                          : PyFloat_Check(other.number.ptr())   ? 'f'
                          : PyComplex_Check(other.number.ptr()) ? 'c'
                                                                : 'i';
  const auto refused = [&](const char* dtype) {
    return py::type_error(name_of(op) + " is not defined for " + dtype);
  };
  if (is_bitwise(op) && (other_kind == 'f' || other_kind == 'c'))
    throw refused("floating-point operands");
  if (op == Op::subtract && kind == 'b') throw py::type_error("- is not defined for bool; use ^");
  if (op == Op::divide && kind != 'f' && kind != 'c')
    throw py::type_error(std::string("in place: the quotients do not fit into ") +
                         operand_dtype(self).name + "; use //=");
  if ((is_bitwise(op) && (kind == 'f' || kind == 'c')) ||
      (kind == 'c' && (op == Op::floor_divide || op == Op::remainder)))
    throw refused(operand_dtype(self).name);
  if (!other.array) return;
  const Axes& shape = self.array->layout().shape();
  const Axes& added = other.array->layout().shape();
  if (added != shape && broadcast_or_raise(shape, added) != shape)
    raise_shape_error("in place: shape " + added.text() + " does not fit into " + shape.text());
}

// Return the dtype in which `self op= other` is computed, for operands of different dtypes and for
// bools: NumPy's common dtype, if its results fit into `self` by NumPy's rule "same_kind". Two
// cases that NumPy refuses are allowed. Sums, products and bitwise operations of integers are
// correct modulo 2^n for any widths and signs. Sums and products of integers with floating-point
// numbers are truncated, as in PyCUDA.
int code_in_place(Op op, Operation operation, const Operand* operands) {
  const DType& self = operand_dtype(operands[0]);
  const char other = operands[1].code < 0 ? 'b' : operand_dtype(operands[1]).kind;
  const auto is_integer = [](char kind) { return kind == 'i' || kind == 'u'; };
  const bool is_sum = op == Op::add || op == Op::subtract || op == Op::multiply;
  const bool is_modular =
      is_sum || op == Op::bitwise_and || op == Op::bitwise_or || op == Op::bitwise_xor;
  if (is_modular && is_integer(self.kind) && (is_integer(other) || other == 'b'))
    return operands[0].code;
  const Types types = types_of(operation, operands, 2);
  const DType& common = dtypes[types.compute[0]];
  constexpr std::string_view kinds = "buifc";
  if (kinds.find(common.kind) > kinds.find(self.kind) &&
      !(is_sum && is_integer(self.kind) && other == 'f'))
    raise_argument_error("in place: " + name_of(op) + " gives " + common.name +
                         ", which does not fit into the array's " + self.name +
                         "; convert the operand with .astype(), or make a new array: a = a op b");
  return types.compute[0];
}

py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// Return NotImplemented for an object whose class may compute the operation. A list or tuple would
// compare as a whole, and would be repeated by the value of a 0-d array: TypeError.
py::object refuse(Op op, PyObject* a, PyObject* b) {
  PyObject* const other = gpuarray_in(a) ? b : a;
  const PyNumberMethods* const numbers = Py_TYPE(other)->tp_as_number;
  const PySequenceMethods* const sequence = Py_TYPE(other)->tp_as_sequence;
  const bool is_repeatable = sequence && sequence->sq_repeat && !(numbers && numbers->nb_multiply);
  const bool is_text = PyUnicode_Check(other) || PyBytes_Check(other);
  if ((!is_repeatable && !PyRange_Check(other)) || (is_text && op != Op::multiply))
    return not_implemented();
  throw py::type_error(name_of(op) + ": expected arrays and numbers, got a " +
                       text_of(py::type::of(other).attr("__name__")) +
                       "; to_gpu(numpy.asarray(...)) copies a sequence to the device");
}

}  // namespace

bool compares_as_pycuda = setting_text("PYGPU_COMPARISONS") == "pycuda";

py::object operate(Op op, PyObject* a, PyObject* b) {
  Map map(operation_of(op), 2, 1);
  Operand* const operand = map.operand;
  if (!read_operand(a, operand[0]) || !read_operand(b, operand[1])) return refuse(op, a, b);
  compare_as_infinity(map.operation, operand);
  const Types types = types_of(map.operation, operand, 2);
  std::copy_n(types.compute, 2, map.compute);
  int code = types.result[0];
  if (is_comparison(op) && compares_as_pycuda) {  // the dtype of the array, or of both
    const bool two = operand[0].code >= 0 && operand[1].code >= 0;
    code = two ? map.compute[0] : operand[operand[0].code >= 0 ? 0 : 1].code;
    if (two && code != map.compute[1])  // int64 and uint64 are compared without conversion
      code = find_code(np::dtype("float64"));
  }
  py::object out = result_array(operand, 2, code, operand[0].array ? a : b);
  map.result[0] = &held<GPUArray>(out);
  launch(map, default_stream());
  return out;
}

py::object operate_in_place(Op op, PyObject* self, PyObject* other) {
  Map map(operation_of(op), 2, 1);
  Operand* const operand = map.operand;
  if (!read_operand(self, operand[0]) || !read_operand(other, operand[1]))
    return refuse(op, self, other);
  check_in_place(op, operand[0], operand[1]);
  const bool is_plain = operand_dtype(operand[0]).kind != 'b' &&
                        (!operand[1].array || operand[1].code == operand[0].code);
  map.compute[0] = map.compute[1] =
      is_plain ? operand[0].code : code_in_place(op, map.operation, operand);
  map.result[0] = operand[0].array;
  launch(map, default_stream());
  return py::reinterpret_borrow<py::object>(self);
}

py::object operate_on(Op op, PyObject* self) {
  Operand operand;
  read_operand(self, operand);
  const DType& dtype = operand_dtype(operand);
  if (op == Op::invert && (dtype.kind == 'f' || dtype.kind == 'c'))
    throw py::type_error(std::string("~ is not defined for ") + dtype.name +
                         "; use numpy.logical_not");
  if (op == Op::negative && dtype.kind == 'b')
    throw py::type_error("- is not defined for bool; use ~ or !=");
  int code = operand.code;
  if (op == Op::absolute && dtype.kind == 'c')
    code = code_of(np::dtype(dtype.itemsize == 8 ? "float32" : "float64"));
  py::object out = result_array(&operand, 1, code, self);
  launch({operation_of(op), operand, operand.code, held<GPUArray>(out)}, default_stream());
  return out;
}

py::object cast_to(const py::object& self, const py::object& dtype, const StreamRef& stream) {
  Operand operand;
  read_operand(self.ptr(), operand);
  py::object out = result_array(&operand, 1, code_of(dtype_of(dtype)), self.ptr());
  const GPUArray& result = held<GPUArray>(out);
  if (result.dtype.equal(operand.array->dtype) && operand_dtype(operand).kind != 'b')
    set_from_device(result, *operand.array, &stream);
  else  // casts from bool normalize to 0 and 1
    launch({operation_of(Op::copy), operand, operand.code, result}, stream);
  return out;
}

// Fill with elements without arithmetic, such as records: upload one and copy it to all others.
void fill_by_copies(const GPUArray& array, const py::object& value, const StreamRef& stream) {
  py::object host;
  try {
    host = element_of(array.dtype, value);
  } catch (const py::error_already_set& error) {
    throw_if_from_program(error);
    raise_argument_error("value: expected an element of dtype " + text_of(array.dtype) + ", got " +
                         repr_of(value));
  }
  if (array.layout().size() == 0) return;
  const DeviceGuard guard = use_device(array.core.device());
  GPUArray one = scratch_array(Layout(Axes(), array.layout().itemsize()), array.dtype, stream);
  set_from_host(one, host, &stream);
  one.core = one.core.view(broadcast_to(one.layout(), array.layout().shape()));
  set_from_device(array, one, &stream);
}

void fill(const GPUArray& array, const py::object& value, const StreamRef& stream) {
  if (find_code(array.dtype) < 0) return fill_by_copies(array, value, stream);
  const int code = code_of(array.dtype);
  const DType& dtype = dtypes[code];
  const auto element = [&](const py::object& any) {
    return element_of(array.dtype, any).attr("__getitem__")(py::tuple());
  };
  Operand operand;
  py::object number = value;
  if (py::isinstance<np::array>(value) && py::reinterpret_borrow<np::array>(value).size() == 1)
    number = np::is_plain_array(value.ptr())
                 ? value.attr("reshape")(py::tuple()).attr("__getitem__")(py::tuple())
                 : element(value);
  if (!read_operand(number.ptr(), operand) || operand.array)
    raise_argument_error("value: expected a number, got " + repr_of(value));
  const bool is_real =
      operand.code < 0 ? PyFloat_Check(number.ptr()) : dtypes[operand.code].kind == 'f';
  if (is_real && (dtype.kind == 'i' || dtype.kind == 'u')) operand.number = element(number);
  alignas(16) char bytes[16] = {};
  put_element(operand.number, code, bytes, "value=");
  const auto is_first = [&](char byte) { return byte == bytes[0]; };
  if (capabilities.launch_runs_kernel && array.layout().dense() &&
      std::all_of(bytes, bytes + dtype.itemsize, is_first)) {
    keep_for_graph(array);
    return array.core.fill_bytes(bytes[0], stream);
  }
  const Operation copy = operation_of(Op::copy);
  if (dtype.kind == 'c') return launch({copy, operand, code, array}, stream);
  // Fill as integers: one kernel serves all dtypes of a size.
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, dtype.itemsize);
  const GPUArray integers = as_units(array, dtype.itemsize);
  operand.code = code_of(integers.dtype);
  operand.number = py::int_(bits);
  launch({copy, operand, operand.code, integers}, stream);
}

PyObject* apply(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    if (count != 5 || !PyTuple_Check(arguments[1]))
      throw py::type_error("_apply(operation, operands, stream, allocator, out)");
    PyObject* const given = arguments[1];
    const auto operands = int(PyTuple_GET_SIZE(given));
    Map map(operation_in(arguments[0]), operands, 0);
    const std::string& name = operation_name(map.operation);
    if (operands > max_operands)
      throw py::value_error(name + ": " + std::to_string(operands) + " operands; expected up to " +
                            std::to_string(max_operands));
    PyObject* like = nullptr;
    for (int i = 0; i < operands; ++i) {
      PyObject* const one = PyTuple_GET_ITEM(given, i);
      if (!read_operand(one, map.operand[i]))
        throw py::type_error("expected arrays and numbers, got " + repr_of(one));
      if (!like && map.operand[i].array) like = one;
    }
    const GPUArray* const out = gpuarray_in(arguments[4]);
    if (arguments[4] != Py_None && !(out && like)) return not_implemented().release().ptr();
    if (!like)
      throw py::type_error(name + ": expected at least one GPUArray, got " + repr_of(given));
    if (operands == 2) compare_as_infinity(map.operation, map.operand);
    const Types types = types_of(map.operation, map.operand, operands);
    map.results = types.results;
    if (out) {
      if (map.results != 1 || find_code(out->dtype) != types.result[0])
        return not_implemented().release().ptr();  // a case for Python
      map.result[0] = out;
      check_shapes(map);
    }
    py::object made[max_results];
    for (int i = 0; i < map.results && !out; ++i) {
      made[i] = result_array(map.operand, operands, types.result[i], like,
                             py::reinterpret_borrow<py::object>(arguments[3]));
      map.result[i] = &held<GPUArray>(made[i]);
    }
    for (int i = 0; i < operands; ++i) {
      map.compute[i] = types.compute[i];
      convert_to_bool(map.operand[i], map.compute[i]);
    }
    launch(map, stream_of(arguments[2]));
    if (out) return py::reinterpret_borrow<py::object>(arguments[4]).release().ptr();
    if (map.results == 1) return made[0].release().ptr();
    return py::make_tuple(made[0], made[1]).release().ptr();
  });
}

}  // namespace PyGPU::python
