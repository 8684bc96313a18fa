// The operators of GPUArray. See operators.h. NumPy is asked for result types, once for each
// combination; the answers are kept here.
#include "python/array/operators.h"

#include <unordered_map>

#include "python/launch/packing.h"

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

// Promotion, asked of PyGPU._kernels.elementwise once.
struct Types {
  int compute, result;
};

// A number's kind, beyond the dtypes: bool, int, float, complex.
int weak_kind(py::handle number) {
  if (PyBool_Check(number.ptr())) return dtype_count;
  if (PyLong_Check(number.ptr())) return dtype_count + 1;
  return PyFloat_Check(number.ptr()) ? dtype_count + 2 : dtype_count + 3;
}

// Does an integer dtype hold the number?
bool fits(py::handle number, const DType& dtype) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  const int bits = dtype.kind == 'b' ? 1 : 8 * int(dtype.itemsize);
  if (dtype.kind == 'i')
    return !overflow &&
           (bits == 64 || (value >= -(1LL << (bits - 1)) && value < 1LL << (bits - 1)));
  if (overflow > 0 && bits == 64) {
    (void)PyLong_AsUnsignedLongLong(number.ptr());
    const bool held = !PyErr_Occurred();
    PyErr_Clear();
    return held;
  }
  return !overflow && value >= 0 && (bits == 64 || value >> bits == 0);
}

// Does NumPy's answer depend on the number itself?
bool depends_on_value(py::handle number, const DType& dtype) {
  if (!PyLong_Check(number.ptr()) || PyBool_Check(number.ptr())) return false;
  if (dtype.kind == 'f' || dtype.kind == 'c') return false;
  return promotes_by_value() || !fits(number, dtype);
}

Types types_of(Op op, const Operand& a, const Operand& b) {
  static auto& kept = *new std::unordered_map<std::uint32_t, Types>;
  const bool weak = a.code < 0 || b.code < 0;
  const Operand& strong = a.code < 0 ? b : a;
  const py::object& number = a.code < 0 ? a.number : b.number;
  const bool by_value = weak && depends_on_value(number, dtypes[strong.code]);
  const int second = weak ? weak_kind(number) : b.code;
  const std::uint32_t key =
      std::uint32_t(op) | std::uint32_t(strong.code) << 8 | std::uint32_t(second) << 16;
  if (!by_value) {
    const auto found = kept.find(key);
    if (found != kept.end()) return found->second;
  }
  const py::object other = weak ? number : dtype_object(b.code);
  const py::tuple answer = hook(Hook::binary_types)(name_of(op), dtype_object(strong.code), other);
  const Types types{code_of(answer[0]), code_of(answer[1])};
  if (!by_value) kept[key] = types;
  return types;
}

// Comparisons with integers beyond the array's dtype, whose answer is the same for every element.
bool compares_beyond(Op op, Operand& array, Operand& number) {
  if (!is_comparison(op) || number.code >= 0 || !PyLong_Check(number.number.ptr())) return false;
  const DType& dtype = dtypes[array.code];
  if (dtype.kind == 'f' || dtype.kind == 'c') {
    (void)PyLong_AsDouble(number.number.ptr());
    if (!PyErr_Occurred()) return false;
    PyErr_Clear();
  } else if (dtype.kind == 'b' || fits(number.number, dtype)) {
    int overflow = 0;
    (void)PyLong_AsLongLongAndOverflow(number.number.ptr(), &overflow);
    if (!overflow || dtype.kind != 'b') return false;
  }
  number.number = beyond_all(number.number);
  return true;
}

const DType& dtype_of(const Operand& operand) { return dtypes[operand.code]; }

// What NumPy refuses to do in place.
void check_in_place(Op op, const Operand& self, const Operand& other) {
  const char kind = dtype_of(self).kind;
  const char other_kind = other.code >= 0                       ? dtype_of(other).kind
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
                         dtype_of(self).name + "; use //=");
  if ((is_bitwise(op) && (kind == 'f' || kind == 'c')) ||
      (kind == 'c' && (op == Op::floor_divide || op == Op::remainder)))
    throw refused(dtype_of(self).name);
  if (!other.array) return;
  const Axes& shape = self.array->layout().shape();
  const Axes& added = other.array->layout().shape();
  if (added != shape && broadcast_or_raise(shape, added) != shape)
    raise_shape_error("in place: shape " + added.text() + " does not fit into " + shape.text());
  if (kind != 'c' && other_kind == 'c')
    raise_argument_error("in place: complex numbers do not fit into " +
                         std::string(dtype_of(self).name));
}

// An operand and its result alone.
Run unary_run(Op op, const Operand& operand, int compute, const GPUArray& result) {
  Run work(operation_of(op), 1, 1);
  work.compute[0] = compute;
  work.result[0] = &result;
  work.operand[0] = operand;
  return work;
}

py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

}  // namespace

py::object operate(Op op, PyObject* a, PyObject* b) {
  Run work(operation_of(op), 2, 1);
  Operand* const operand = work.operand;
  if (!read_operand(a, operand[0]) || !read_operand(b, operand[1])) return not_implemented();
  Types types;
  Operand& array = operand[operand[0].array ? 0 : 1];
  if (compares_beyond(op, array, operand[operand[0].array ? 1 : 0])) {
    const bool is_complex = dtype_of(array).kind == 'c';
    if (is_complex && op != Op::equal && op != Op::not_equal)
      throw py::type_error(name_of(op) + " is not defined for complex numbers");
    types = {code_of(py::dtype(is_complex ? "complex128" : "float64")), array.code};
  } else {
    types = types_of(op, operand[0], operand[1]);
  }
  GPUArray out = result_array(operand, 2, types.result);
  work.compute[0] = work.compute[1] = types.compute;
  work.result[0] = &out;
  run(work, {});
  return wrap(std::move(out), operand[0].array ? a : b);
}

py::object operate_in_place(Op op, PyObject* self, PyObject* other) {
  Run work(operation_of(op), 2, 1);
  Operand* const operand = work.operand;
  if (!read_operand(self, operand[0]) || !read_operand(other, operand[1])) return not_implemented();
  check_in_place(op, operand[0], operand[1]);
  work.compute[0] = work.compute[1] = operand[0].code;
  work.result[0] = operand[0].array;
  run(work, {});
  return py::reinterpret_borrow<py::object>(self);
}

py::object operate_on(Op op, PyObject* self) {
  Operand operand;
  read_operand(self, operand);
  const DType& dtype = dtype_of(operand);
  if (op == Op::invert && (dtype.kind == 'f' || dtype.kind == 'c'))
    throw py::type_error(std::string("~ is not defined for ") + dtype.name);
  if (op == Op::negative && dtype.kind == 'b')
    throw py::type_error("- is not defined for bool; use ~ or !=");
  int code = operand.code;
  if (op == Op::absolute && dtype.kind == 'c')
    code = code_of(py::dtype(dtype.itemsize == 8 ? "float32" : "float64"));
  GPUArray out = result_array(&operand, 1, code);
  run(unary_run(op, operand, operand.code, out), {});
  return wrap(std::move(out), self);
}

py::object cast_to(const py::object& self, const py::object& dtype, const StreamRef& stream) {
  Operand operand;
  read_operand(self.ptr(), operand);
  GPUArray out = result_array(&operand, 1, code_of(python::dtype_of(dtype)));
  run(unary_run(Op::copy, operand, operand.code, out), stream);
  return wrap(std::move(out), self.ptr());
}

void fill(const GPUArray& array, const py::object& value, const StreamRef& stream) {
  array.core.require_alive();
  Operand operand;
  py::object number = value;
  if (py::isinstance<py::array>(value) && py::reinterpret_borrow<py::array>(value).size() == 1)
    number = value.attr("reshape")(py::tuple()).attr("__getitem__")(py::tuple());
  if (!read_operand(number.ptr(), operand) || operand.array)
    raise_argument_error("fill: expected a number, got " + py::repr(value).cast<std::string>());
  run(unary_run(Op::copy, operand, code_of(array.dtype), array), stream);
}

}  // namespace PyGPU::python
