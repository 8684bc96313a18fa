// Elementwise operations. See gpuarray_operate.h. What is asked of Python, NumPy's result types and
// the kernels' text, is asked once for each combination and kept here.
#include "gpuarray_operate.h"

#include <cstring>
#include <unordered_map>

#include "bind_packing.h"

namespace PyGPU::python {
namespace {

const char* op_name(Op op) {
  switch (op) {
#define PYGPU_NAME(name, ...) \
  case Op::name: return #name;
    PYGPU_BINARY_OPERATIONS(PYGPU_NAME)
    PYGPU_COMPARISONS(PYGPU_NAME)
    PYGPU_UNARY_OPERATIONS(PYGPU_NAME)
#undef PYGPU_NAME
  }
  return "";
}

// NumPy's dtype objects of PYGPU_DTYPES, in its order. Leaked on purpose.
const std::vector<py::object>& known_dtypes() {
  static const auto& all = *new const auto([] {
    std::vector<py::object> made;
    for (const DType& dtype : dtypes) made.push_back(py::dtype(dtype.name));
    return made;
  }());
  return all;
}

// The place of a dtype in PYGPU_DTYPES. ValueError for what has no arithmetic.
int code_of(const py::object& dtype) {
  const auto& known = known_dtypes();
  for (int code = 0; code < dtype_count; ++code)
    if (known[std::size_t(code)].is(dtype)) return code;
  for (int code = 0; code < dtype_count; ++code)
    if (known[std::size_t(code)].equal(dtype)) return code;
  throw py::value_error("unable to map dtype '" + py::str(dtype).cast<std::string>() +
                        "': no arithmetic on it");
}

const DType& dtype_at(int code) { return dtypes[code]; }
std::size_t itemsize_at(int code) { return dtype_at(code).itemsize; }

// What stands on one side of an operator.
struct Operand {
  const GPUArray* array = nullptr;
  py::object number;  // a Python number, or NumPy's scalar
  int code = -1;      // of the dtype; -1 for a Python number, whose type is weak
};

bool is_python_number(py::handle object) {
  return PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || PyComplex_Check(object.ptr());
}

// False: nothing that arithmetic is done with.
bool read_operand(const py::object& object, Operand& operand) {
  if (py::isinstance<GPUArray>(object)) {
    operand.array = &object.cast<const GPUArray&>();
    operand.array->core.require_alive();
    operand.code = code_of(operand.array->dtype);
    return true;
  }
  operand.number = object;
  if (const int scalar = numpy_scalar_dtype(object.ptr()); scalar >= 0) {
    operand.code = scalar;
    return true;
  }
  if (py::isinstance<py::array>(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    if (array.ndim() > 0)
      throw py::type_error(
          "an operation between a GPUArray and a numpy.ndarray: send the ndarray to the device "
          "with to_gpu(), or fetch the GPUArray with .get()");
    operand.number = object.attr("__getitem__")(py::tuple());
    operand.code = code_of(array.dtype());
    return true;
  }
  if (!is_python_number(object)) return false;
  // Subclasses (IntEnum ...) count as what they are made of.
  if (PyLong_Check(object.ptr()) && !PyLong_CheckExact(object.ptr()) && !PyBool_Check(object.ptr()))
    operand.number = py::int_(0).attr("__add__")(object);
  else if (PyFloat_Check(object.ptr()) && !PyFloat_CheckExact(object.ptr()))
    operand.number = py::float_(PyFloat_AS_DOUBLE(object.ptr()));
  return true;
}

// Promotion, asked of PyGPU._kernels once.
struct Types {
  int compute, result;
};

// A number's kind, beyond the dtypes: bool, int, float, complex.
int weak_kind(py::handle number) {
  if (PyBool_Check(number.ptr())) return dtype_count;
  if (PyLong_Check(number.ptr())) return dtype_count + 1;
  return PyFloat_Check(number.ptr()) ? dtype_count + 2 : dtype_count + 3;
}

// Does NumPy's answer depend on the number itself?
bool depends_on_value(py::handle number, int other) {
  static const bool by_value =
      py::module_::import("numpy").attr("__version__").cast<std::string>()[0] == '1';
  if (!PyLong_Check(number.ptr()) || PyBool_Check(number.ptr())) return false;
  const DType& dtype = dtype_at(other);
  if (dtype.kind == 'f' || dtype.kind == 'c') return false;
  if (by_value) return true;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow || dtype.kind == 'b') return overflow != 0;
  const int bits = 8 * int(dtype.itemsize);
  if (dtype.kind == 'u') return value < 0 || (bits < 64 && value >> bits != 0);
  return bits < 64 && (value < -(1LL << (bits - 1)) || value >= 1LL << (bits - 1));
}

Types types_of(Op op, const Operand& a, const Operand& b) {
  static auto& kept = *new std::unordered_map<std::uint32_t, Types>;
  const bool weak = a.code < 0 || b.code < 0;
  const Operand& strong = a.code < 0 ? b : a;
  const py::object& number = a.code < 0 ? a.number : b.number;
  const bool by_value = weak && depends_on_value(number, strong.code);
  const int second = weak ? weak_kind(number) : b.code;
  const std::uint32_t key =
      std::uint32_t(op) | std::uint32_t(strong.code) << 8 | std::uint32_t(second) << 16;
  if (!by_value) {
    const auto found = kept.find(key);
    if (found != kept.end()) return found->second;
  }
  const py::object dtype = known_dtypes()[std::size_t(strong.code)];
  const py::object other = weak ? number : known_dtypes()[std::size_t(b.code)];
  const py::tuple answer =
      py::module_::import("PyGPU._kernels").attr("binary_types")(op_name(op), dtype, other);
  const Types types{code_of(answer[0]), code_of(answer[1])};
  if (!by_value) kept[key] = types;
  return types;
}

// A number as bytes of a dtype. ArgumentError where it is not in the dtype's domain.
void put_number(py::handle number, int code, char* to) {
  const DType& dtype = dtype_at(code);
  const int scalar = numpy_scalar_dtype(number.ptr());
  const bool is_complex =
      scalar >= 0 ? dtype_at(scalar).kind == 'c' : bool(PyComplex_Check(number.ptr()));
  if (is_complex && dtype.kind != 'c')
    raise_argument_error("a complex number does not fit into " + std::string(dtype.name));
  if (scalar >= 0 && dtype_at(scalar).kind == 'b')  // NumPy's bools are no indices
    return put_number(py::bool_(PyObject_IsTrue(number.ptr()) == 1), code, to);
  Slot slot;
  slot.nbytes = dtype.itemsize;
  slot.kind = dtype.kind == 'b'   ? Kind::boolean
              : dtype.kind == 'i' ? Kind::integer
              : dtype.kind == 'u' ? Kind::natural
              : dtype.kind == 'f' ? Kind::real
                                  : Kind::complex;
  pack_promised(number.ptr(), {slot.kind, slot.nbytes}, slot, 0, to);
}

// Kernels by what they are made for.
struct KernelKey {
  Op op;
  int inputs[2] = {0, 0}, count, compute, result;
  bool scalars[2] = {false, false};
  int ndim, width, device;
  bool wide;

  std::uint64_t packed() const {
    std::uint64_t key = std::uint64_t(op);
    for (const int part :
         {inputs[0], inputs[1], count, compute, result, int(scalars[0]), int(scalars[1]), width})
      key = key << 4 | std::uint64_t(part);
    return (key << 6 | std::uint64_t(ndim)) << 8 | std::uint64_t(device) << 1 | std::uint64_t(wide);
  }
};

const Kernel& kernel_for(const KernelKey& key) {
  static auto& kept = *new std::unordered_map<std::uint64_t, std::unique_ptr<Kernel>>;
  std::unique_ptr<Kernel>& kernel = kept[key.packed()];
  if (kernel && kernel->module().alive()) return *kernel;
  py::tuple inputs(key.count), scalars(key.count);
  for (int i = 0; i < key.count; ++i) {
    inputs[i] = dtype_at(key.inputs[i]).name;
    scalars[i] = key.scalars[i];
  }
  const py::object made =
      py::module_::import("PyGPU._kernels")
          .attr("make")(op_name(key.op), inputs, dtype_at(key.compute).name,
                        dtype_at(key.result).name, key.ndim, key.wide, key.width, scalars);
  kernel = std::make_unique<Kernel>(made.cast<std::shared_ptr<Module>>(), "elementwise");
  return *kernel;
}

// Run one kernel: `operands`, stretched to the shape of `out`, into `out`.
void run(Op op, const std::vector<Operand>& operands, int compute, const GPUArray& out,
         const StreamRef& stream) {
  const Layout& shape = out.layout();
  if (shape.size() == 0) return;
  const DeviceGuard here = use_device(out.core.device());
  std::vector<Layout> layouts{shape};
  std::vector<const void*> addresses{out.core.address()};
  std::vector<Array> copies;  // of operands that the result would overwrite too early
  copies.reserve(operands.size());
  char numbers[2][16];
  std::vector<void*> arguments;
  void* pointers[3] = {out.core.address(), nullptr, nullptr};
  arguments.push_back(&pointers[0]);
  KernelKey key{};
  key.op = op;
  key.count = int(operands.size());
  std::vector<std::size_t> itemsizes{shape.itemsize()};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    if (!operand.array) {
      put_number(operand.number, compute, numbers[i]);
      key.inputs[i] = compute;
      key.scalars[i] = true;
      arguments.push_back(numbers[i]);
      continue;
    }
    const Array* array = &operand.array->core;
    Layout layout = stretched(array->layout(), shape.shape());
    const bool same = array->address() == out.core.address() &&
                      layout.strides() == shape.strides() && layout.itemsize() == shape.itemsize();
    if (!same && array->overlaps(out.core)) {
      copies.push_back(array->pack());
      array = &copies.back();
      layout = stretched(array->layout(), shape.shape());
    }
    if (array->device() != out.core.device())
      throw py::type_error("operands on devices " + std::to_string(out.core.device()) + " and " +
                           std::to_string(array->device()) +
                           ": copy one to the other's device first");
    layouts.push_back(layout);
    addresses.push_back(array->address());
    itemsizes.push_back(layout.itemsize());
    key.inputs[i] = operand.code;
    pointers[i + 1] = array->address();
    arguments.push_back(&pointers[i + 1]);
  }
  const Loop loop = Loop::over(layouts);
  key.compute = compute;
  key.result = code_of(out.dtype);
  key.ndim = loop.linear ? 0 : loop.shape.size();
  key.wide = loop.wide;
  key.width = loop.linear ? vector_width(addresses, itemsizes) : 1;
  key.device = out.core.device();
  const Kernel& kernel = kernel_for(key);
  const auto around = [&](auto visit) {
    if (out.core.storage()) visit(*out.core.storage());
    for (const Operand& operand : operands)
      if (operand.array && operand.array->core.storage()) visit(*operand.array->core.storage());
  };
  around([&](Storage& storage) { storage.enter(stream); });
  {
    py::gil_scoped_release release;
    launch_elementwise(kernel, loop, key.width, arguments, stream.handle);
  }
  around([&](Storage& storage) { storage.leave(stream); });
}

// A result as Python sees it: of the class of `like`, which may be a subclass.
py::object wrap(GPUArray&& array, const py::object& like) {
  const py::type type = py::type::of(like);
  if (type.is(py::type::of<GPUArray>()) || !py::isinstance<GPUArray>(like))
    return py::cast(std::move(array));
  return instance_of(type, std::move(array));
}

Axes broadcast_or_raise(const Axes& a, const Axes& b) {
  try {
    return broadcast(a, b);
  } catch (const ShapeMismatch& mismatch) {
    raise_shape_error(mismatch.what());
  }
}

GPUArray result_array(const std::vector<Operand>& operands, int code) {
  std::vector<const Layout*> layouts;
  Axes shape;
  const GPUArray* first = nullptr;
  for (const Operand& operand : operands) {
    if (!operand.array) continue;
    shape = first ? broadcast_or_raise(shape, operand.array->layout().shape())
                  : operand.array->layout().shape();
    if (!first) first = operand.array;
    layouts.push_back(&operand.array->layout());
  }
  const DeviceGuard here = use_device(first->core.device());
  return new_array(result_layout(shape, layouts, itemsize_at(code)),
                   known_dtypes()[std::size_t(code)], first->allocator);
}

py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

}  // namespace

py::object operate(Op op, const py::object& a, const py::object& b) {
  std::vector<Operand> operands(2);
  if (!read_operand(a, operands[0]) || !read_operand(b, operands[1])) return not_implemented();
  const Types types = types_of(op, operands[0], operands[1]);
  GPUArray out = result_array(operands, types.result);
  run(op, operands, types.compute, out, {});
  return wrap(std::move(out), operands[0].array ? a : b);
}

py::object operate_in_place(Op op, const py::object& self, const py::object& other) {
  std::vector<Operand> operands(2);
  read_operand(self, operands[0]);
  if (!read_operand(other, operands[1])) return not_implemented();
  const GPUArray& array = *operands[0].array;
  const int compute = operands[0].code;
  const char kind = dtype_at(compute).kind;
  if (operands[1].array) {
    const Axes& shape = array.layout().shape();
    if (broadcast_or_raise(shape, operands[1].array->layout().shape()) != shape)
      raise_shape_error("in place: shape " + operands[1].array->layout().shape().text() +
                        " does not fit into " + shape.text());
    if (kind != 'c' && dtype_at(operands[1].code).kind == 'c')
      raise_argument_error("in place: complex numbers do not fit into " +
                           std::string(dtype_at(compute).name));
  }
  const char other_kind = operands[1].code >= 0 ? dtype_at(operands[1].code).kind
                          : PyFloat_Check(operands[1].number.ptr()) ? 'f'
                                                                    : 'i';
  if (op >= Op::bitwise_and && op <= Op::right_shift && (other_kind == 'f' || other_kind == 'c'))
    throw py::type_error(std::string(op_name(op)) + " is not defined for floating-point operands");
  if (op == Op::subtract && kind == 'b') throw py::type_error("- is not defined for bool; use ^");
  if (op == Op::divide && kind != 'f' && kind != 'c')
    throw py::type_error(std::string("in place: the quotients do not fit into ") +
                         dtype_at(compute).name + "; use //=");
  if ((op >= Op::bitwise_and && op <= Op::right_shift && (kind == 'f' || kind == 'c')) ||
      (kind == 'c' && (op == Op::floor_divide || op == Op::remainder)))
    throw py::type_error(std::string(op_name(op)) + " is not defined for " +
                         dtype_at(compute).name);
  run(op, operands, compute, array, {});
  return self;
}

py::object operate_on(Op op, const py::object& self) {
  std::vector<Operand> operands(1);
  read_operand(self, operands[0]);
  const DType& dtype = dtype_at(operands[0].code);
  if (op == Op::invert && (dtype.kind == 'f' || dtype.kind == 'c'))
    throw py::type_error(std::string("~ is not defined for ") + dtype.name);
  if (op == Op::negative && dtype.kind == 'b')
    throw py::type_error("- is not defined for bool; use ~ or !=");
  int code = operands[0].code;
  if (op == Op::absolute && dtype.kind == 'c')
    code = code_of(py::dtype(dtype.itemsize == 8 ? "float32" : "float64"));
  GPUArray out = result_array(operands, code);
  run(op, operands, operands[0].code, out, {});
  return wrap(std::move(out), self);
}

py::object cast_to(const py::object& self, const py::object& dtype, const StreamRef& stream) {
  std::vector<Operand> operands(1);
  read_operand(self, operands[0]);
  GPUArray out = result_array(operands, code_of(dtype_of(dtype)));
  run(Op::copy, operands, operands[0].code, out, stream);
  return wrap(std::move(out), self);
}

void fill(const GPUArray& array, const py::object& value, const StreamRef& stream) {
  array.core.require_alive();
  std::vector<Operand> operands(1);
  py::object number = value;
  if (py::isinstance<py::array>(value) && py::reinterpret_borrow<py::array>(value).size() == 1)
    number = value.attr("reshape")(py::tuple()).attr("__getitem__")(py::tuple());
  if (!read_operand(number, operands[0]) || operands[0].array)
    raise_argument_error("fill: expected a number, got " + py::repr(value).cast<std::string>());
  run(Op::copy, operands, code_of(array.dtype), array, stream);
}

}  // namespace PyGPU::python
