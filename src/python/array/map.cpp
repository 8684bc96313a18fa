// Kernels and launches of elementwise operations. See map.h.
#include "python/array/map.h"

#include "python/launch/enqueue.h"
#include "python/launch/numbers.h"
#include "python/launch/packing.h"
#include "python/launch/specializations.h"

namespace PyGPU::python {
namespace {

// Store an integer. ArgumentError if it is out of the range of the dtype.
void put_in_range(py::handle number, const DType& dtype, char* to) {
  const bool with_sign = dtype.kind == 'i';
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(number.ptr()));
  if (!integer) throw py::error_already_set();
  if (const auto bits = integer_bits(integer.ptr(), with_sign, dtype.itemsize))
    return put_integer(*bits, dtype.itemsize, to);
  const std::uint64_t most = ~std::uint64_t() >> (64 - 8 * dtype.itemsize + with_sign);
  const std::string least = with_sign ? std::to_string(-std::int64_t(most) - 1) : "0";
  raise_argument_error(text_of(integer) + " does not fit into " + dtype.name +
                       ": expected an integer from " + least + " to " + std::to_string(most));
}

}  // namespace

void put_number(py::handle number, int code, char* to) {
  const DType& dtype = dtypes[code];
  const int scalar = numpy_scalar_dtype(number.ptr());
  const auto is = [&](char kind, bool python) {
    return scalar >= 0 ? dtypes[scalar].kind == kind : python;
  };
  if (is('c', PyComplex_Check(number.ptr())) && dtype.kind != 'c')
    raise_argument_error(text_of(number) + " is complex and does not fit into " + dtype.name);
  if (is('f', PyFloat_Check(number.ptr())) && (dtype.kind == 'i' || dtype.kind == 'u'))
    raise_argument_error(text_of(number) + " does not fit into " + dtype.name +
                         ": expected an integer");
  if (scalar >= 0 && dtypes[scalar].kind == 'b')  // NumPy's bools have no __index__
    return put_number(py::bool_(is_true(number)), code, to);
  if (dtype.kind == 'i' || dtype.kind == 'u') return put_in_range(number, dtype, to);
  KernelParameter parameter;
  parameter.nbytes = dtype.itemsize;
  parameter.kind = Kind(dtype.kind);
  pack_declared(number.ptr(), {parameter.kind, parameter.nbytes}, parameter, 0, to);
}

namespace {

bool is_power(const Map& map) {
  static const Operation power = operation_named("power");
  return map.operation == power;
}

// NumPy refuses negative integer exponents. Exponents in an array are not checked, because that
// would wait for the device.
void check_exponent(const Map& map) {
  PyObject* const exponent = map.operand[1].number.ptr();
  const int is_negative = PyObject_RichCompareBool(exponent, py::int_(0).ptr(), Py_LT);
  if (is_negative < 0) PyErr_Clear();  // a complex number: put_number raises the error
  if (is_negative == 1)
    throw py::value_error("power: integers to negative integer powers are not allowed, got " +
                          text_of(exponent));
}

// Return the operation that computes a power with this exponent, or -1: squares, cubes, roots and
// reciprocals. Each is faster than the general power, and at least as exact.
Operation simple_power(const Map& map) {
  if (!is_power(map) || map.operand[1].array) return -1;
  static const Operation square = operation_named("square"), cube = operation_named("cube"),
                         root = operation_named("sqrt"), reciprocal = operation_named("reciprocal");
  PyObject* const exponent = map.operand[1].number.ptr();
  const char kind = dtypes[map.compute[0]].kind;
  if (kind == 'b' || !(PyFloat_Check(exponent) || PyIndex_Check(exponent))) return -1;
  const double value = PyFloat_AsDouble(exponent);
  if (value == -1 && PyErr_Occurred()) {  // the int does not fit into a double
    PyErr_Clear();
    return -1;
  }
  if (value == 2) return square;
  if (value == 3) return cube;
  if (kind != 'f' && kind != 'c') return -1;
  return value == 0.5 ? root : value == -1 ? reciprocal : -1;
}

const Kernel& kernel_for(const Map& map, const LoopPlan& plan, int device, HeldArrays& used) {
  static auto& cache = *new Specializations<SpecializedKernel>;
  SpecializationKey key;
  int results[max_results];
  key.add(unsigned(map.operation), operation_bits);
  key.add(unsigned(map.operands), 4);
  key.add(unsigned(map.results), 3);
  key.add(unsigned(plan.contiguous ? 0 : plan.axes.ndim), 6);
  key.add(unsigned(plan.vector_width), 4);
  key.add(unsigned(plan.vectors), 13);
  key.add(plan.broadcast, max_operands);
  key.add(plan.transposed, max_operands);
  key.add(plan.index64, 1);
  key.add(unsigned(device), 8);
  for (int i = 0; i < map.operands; ++i) {
    const Operand& operand = map.operand[i];
    key.add(operand.array == nullptr, 1);
    key.add(unsigned(operand.array ? operand.code : map.compute[i]), 4);
    key.add(unsigned(map.compute[i]), 4);
  }
  for (int i = 0; i < map.results; ++i) {
    results[i] = code_of(map.result[i]->dtype);
    key.add(unsigned(results[i]), 4);
  }
  const auto make = [&] {
    for (int i = 0; i < map.operands; ++i)
      if (map.operand[i].array) used.hold(*map.operand[i].array);
    for (int i = 0; i < map.results; ++i) used.hold(*map.result[i]);
    const auto name_at = [](int code) { return py::str(dtypes[code].name); };
    py::tuple inputs(map.operands), compute(map.operands), are_scalars(map.operands);
    py::tuple outputs(map.results);
    for (int i = 0; i < map.operands; ++i) {
      const bool is_scalar = !map.operand[i].array;
      inputs[i] = name_at(is_scalar ? map.compute[i] : map.operand[i].code);
      compute[i] = name_at(map.compute[i]);
      are_scalars[i] = is_scalar;
    }
    for (int i = 0; i < map.results; ++i) outputs[i] = name_at(results[i]);
    const py::object made = hook(Hook::elementwise_module)(
        operation_name(map.operation), inputs, compute, outputs, are_scalars,
        plan.contiguous ? 0 : plan.axes.ndim, plan.index64, plan.vector_width, plan.vectors,
        plan.broadcast, plan.transposed);
    used.require_alive();
    return std::make_unique<SpecializedKernel>(held<Module>(made), "elementwise");
  };
  return cache.at(key, make).kernel;
}

}  // namespace

Axes broadcast_or_raise(const Axes& a, const Axes& b) {
  try {
    return broadcast(a, b);
  } catch (const ShapeMismatch& mismatch) {
    raise_shape_error(mismatch.what());
  }
}

void require_device(const Array& array, int device) {
  if (array.address() && array.device() != device)
    throw py::type_error("operands on devices " + std::to_string(device) + " and " +
                         std::to_string(array.device()) + ": copy one to the other's device first");
}

namespace {

// Return the alignment of a dtype: its item size, or that of a complex number's part.
std::size_t aligned_part(int code) {
  return dtypes[code].kind == 'c' ? dtypes[code].itemsize / 2 : dtypes[code].itemsize;
}

bool is_aligned(const Array& array, int code) {
  return PyGPU::is_aligned(array.layout(), array.address(), aligned_part(code));
}

}  // namespace

bool is_overwritten(const Array& operand, const Array& result) {
  const bool same = operand.address() == result.address() &&
                    operand.layout().shape() == result.layout().shape() &&
                    operand.layout().strides() == result.layout().strides() &&
                    operand.layout().itemsize() == result.layout().itemsize();
  return !same && operand.overlaps(result);
}

Array contiguous_copy(const GPUArray& array, const StreamRef& stream, const Layout* layout) {
  GPUArray copy = array;
  copy.core = Array::empty(layout ? *layout : array.layout().k_order());
  keep_for_callers_graph(copy, stream);
  set_from_device(copy, array, &stream);
  return copy.core;
}

void require_aligned(const Array& result, int code) {
  if (!is_aligned(result, code))
    throw py::value_error(
        "out: the elements are not aligned to their size; expected aligned memory");
}

Array aligned(const GPUArray& array, int code, const StreamRef& stream) {
  return is_aligned(array.core, code) ? array.core : contiguous_copy(array, stream);
}

namespace {

// Return true if a result would overwrite the operand too early, or if the operand is not aligned.
bool needs_copy(const Map& map, const Operand& operand) {
  bool is_needed = !is_aligned(operand.array->core, operand.code);
  for (int k = 0; !is_needed && k < map.results; ++k)
    is_needed = is_overwritten(operand.array->core, map.result[k]->core);
  return is_needed;
}

// Launch with copies of the operands that need them. Making a copy may release the GIL, so this
// function first takes a snapshot of all arrays.
void launch_with_copies(const Map& map, const StreamRef& stream) {
  std::vector<GPUArray> snapshot;
  snapshot.reserve(max_arrays);  // the snapshot must not be reallocated
  const auto add = [&](const GPUArray& array) { return &snapshot.emplace_back(array); };
  Map copied = map;
  for (int i = 0; i < map.results; ++i) copied.result[i] = add(*map.result[i]);
  for (int i = 0; i < map.operands; ++i) {
    Operand& operand = copied.operand[i];
    if (!operand.array) continue;
    GPUArray* const own = add(*operand.array);
    operand.array = own;
    if (!needs_copy(copied, operand)) continue;
    require_device(own->core, copied.result[0]->core.device());
    own->core = contiguous_copy(*own, stream);
  }
  launch(copied, stream);
}

// Launch with aligned arrays in place of the results that are not aligned, such as fields of packed
// structures, and copy them there. A kernel writes every element of its results.
void launch_apart(const Map& map, const StreamRef& stream) {
  std::vector<GPUArray> snapshot;
  snapshot.reserve(2 * max_arrays);
  const auto add = [&](const GPUArray& array) { return &snapshot.emplace_back(array); };
  Map apart = map;
  for (int i = 0; i < map.operands; ++i)
    if (map.operand[i].array) apart.operand[i].array = add(*map.operand[i].array);
  const GPUArray* results[max_results];
  for (int i = 0; i < map.results; ++i) {
    const GPUArray& result = *(results[i] = add(*map.result[i]));
    const bool is_ready = is_aligned(result.core, code_of(result.dtype));
    apart.result[i] =
        is_ready ? results[i] : add(scratch_array(result.layout().k_order(), result.dtype, stream));
  }
  launch(apart, stream);
  for (int i = 0; i < map.results; ++i)
    if (apart.result[i] != results[i]) set_from_device(*results[i], *apart.result[i], &stream);
}

}  // namespace

void launch(const Map& map, const StreamRef& stream) {
  if (const Operation simple = simple_power(map); simple >= 0)
    return launch({simple, map.operand[0], map.compute[0], *map.result[0]}, stream);
  const Axes& shape = map.result[0]->layout().shape();
  // A number that does not fit into its dtype is an error even without elements.
  if (map.result[0]->layout().size() == 0) {
    alignas(16) char unused[16];
    for (int i = 0; i < map.operands; ++i)
      if (!map.operand[i].array) put_number(map.operand[i].number, map.compute[i], unused);
    return;
  }
  const int device = map.result[0]->core.device();
  const DeviceGuard here = use_device(device);
  StreamOrder order(stream);
  const Layout* layouts[max_arrays];
  void* addresses[max_arrays];
  void* arguments[1 + max_arrays];
  int arrays = 0, given = 1;
  const auto add = [&](const Layout& layout, const Array& array) {
    require_device(array, device);
    order.uses(array.storage());
    layouts[arrays] = &layout;
    addresses[arrays] = array.address();
    arguments[given++] = &addresses[arrays++];
  };
  for (int i = 0; i < map.results; ++i)
    for (int k = 0; k < i; ++k)
      if (map.result[i]->core.overlaps(map.result[k]->core))
        throw py::value_error("out: the results overlap in memory; expected separate arrays");
  for (int i = 0; i < map.results; ++i) {
    const GPUArray& result = *map.result[i];
    if (!is_aligned(result.core, code_of(result.dtype))) return launch_apart(map, stream);
    add(result.layout(), result.core);
    keep_for_graph(result);
  }
  Layout broadcast_layouts[max_operands];
  alignas(16) char numbers[max_operands][16];
  for (int i = 0; i < map.operands; ++i) {
    const Operand& operand = map.operand[i];
    if (!operand.array) {
      if (i == 1 && is_power(map) && dtypes[map.compute[1]].kind == 'i') check_exponent(map);
      put_number(operand.number, map.compute[i], numbers[i]);
      arguments[given++] = numbers[i];
      continue;
    }
    if (needs_copy(map, operand)) return launch_with_copies(map, stream);
    keep_for_graph(*operand.array);
    const Layout& own = operand.array->layout();
    if (own.shape() != shape) broadcast_layouts[i] = broadcast_to(own, shape);
    add(own.shape() == shape ? own : broadcast_layouts[i], operand.array->core);
  }
  const LoopPlan plan = plan_loop(layouts, addresses, arrays, map.results);
  HeldArrays used;
  const Kernel& kernel = kernel_for(map, plan, device, used);
  order.run([&] {
    check_launch(kernel, stream, without_gil_if_waiting(device, !stream.handle, [&] {
                   return launch_loop(kernel, plan, arguments, stream.handle);
                 }));
  });
}

void check_shapes(const Map& map) {
  const Axes& shape = map.result[0]->layout().shape();
  for (int i = 1; i < map.results; ++i)
    if (map.result[i]->layout().shape() != shape)
      raise_shape_error("out: results " + shape.text() + " and " +
                        map.result[i]->layout().shape().text() + " differ in shape");
  for (int i = 0; i < map.operands; ++i) {
    if (!map.operand[i].array) continue;
    const Axes& own = map.operand[i].array->layout().shape();
    if (own != shape && broadcast_or_raise(shape, own) != shape)
      raise_shape_error("out: an operand of shape " + own.text() +
                        " does not broadcast to the result's shape " + shape.text());
  }
}

namespace {

// Return the size of the widest numbers as which the elements can be copied. Numbers of 16 bytes
// are complex, which need an alignment of 8 only.
std::size_t unit_of(const Array& array) {
  const std::size_t itemsize = array.layout().itemsize();
  auto bits = number_of(array.address()) | itemsize;
  for (Index stride : array.layout().strides()) bits |= std::uintptr_t(stride);
  const std::size_t unit = bits & (~bits + 1);  // lowest set bit
  return unit < 8 ? unit : itemsize % 16 ? 8 : 16;
}

}  // namespace

GPUArray as_units(const GPUArray& array, std::size_t unit) {
  Axes shape = array.layout().shape(), strides = array.layout().strides();
  if (const std::size_t count = array.layout().itemsize() / unit; count > 1) {
    shape.push_back(Index(count));
    strides.push_back(Index(unit));
  }
  int code = 0;
  const char kind = unit == 16 ? 'c' : 'u';
  while (dtypes[code].kind != kind || dtypes[code].itemsize != unit) ++code;
  return {array.core.view(Layout(shape, strides, unit)), dtype_object(code), py::none(), array.base,
          array.gpudata};
}

void copy_by_kernel(const GPUArray& to, const GPUArray& from, const StreamRef& stream) {
  const std::size_t unit = std::min(unit_of(to.core), unit_of(from.core));
  const GPUArray target = as_units(to, unit), source = as_units(from, unit);
  const int code = code_of(target.dtype);
  static const Operation copy = operation_named("copy");
  launch({copy, {&source, {}, code}, code, target}, stream);
}

}  // namespace PyGPU::python
