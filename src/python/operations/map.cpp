// Kernels and launches of operations on arrays. See map.h.
#include "python/operations/map.h"

#include <algorithm>

#include "python/binding/errors.h"
#include "python/launch/launch.h"
#include "python/launch/specializations.h"
#include "python/operations/elements.h"

namespace PyGPU::python {
namespace {

bool is_power(const Map& map) {
  static const Operation power = operation_named("power");
  return map.operation == power;
}

// NumPy refuses negative integer exponents.
void check_exponent(const Map& map) {
  PyObject* const exponent = map.operand[1].number.ptr();
  const int is_negative = PyObject_RichCompareBool(exponent, py::int_(0).ptr(), Py_LT);
  if (is_negative < 0) PyErr_Clear();  // a complex number: put_element raises the error
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

const Kernel& kernel_for(const Map& map, const LoopPlan& plan, int device) {
  static auto& cache = *new Specializations<SpecializedKernel>;
  constexpr unsigned max_bits = (1u << max_operands) - 1;  // a bit for each operand
  SpecializationKey key;
  int results[max_results];
  key.add<max_operations>(unsigned(map.operation));
  key.add<max_operands>(unsigned(map.operands));
  key.add<max_results>(unsigned(map.results));
  key.add<LoopAxes<max_arrays>::most>(unsigned(plan.contiguous ? 0 : plan.axes.ndim));
  key.add<max_vector_width>(unsigned(plan.vector_width));
  key.add<INT_MAX>(unsigned(plan.vectors));
  key.add<max_bits>(plan.broadcast);
  key.add<max_bits>(plan.transposed);
  key.add<1>(plan.index64);
  key.add<max_device>(unsigned(device));
  for (int i = 0; i < map.operands; ++i) {
    const Operand& operand = map.operand[i];
    key.add<1>(operand.array == nullptr);
    key.add<dtype_count>(unsigned(operand.array ? operand.code : map.compute[i]));
    key.add<dtype_count>(unsigned(map.compute[i]));
  }
  for (int i = 0; i < map.results; ++i) {
    results[i] = code_of(map.result[i]->dtype);
    key.add<dtype_count>(unsigned(results[i]));
  }
  const auto make = [&] {
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
    return std::make_unique<SpecializedKernel>(held<Module>(made), "elementwise");
  };
  return cache.at(key, make).kernel;
}

}  // namespace

bool is_aligned(const Array& array, int code) {
  const DType& dtype = dtypes[code];
  const std::size_t unit = dtype.kind == 'c' ? dtype.itemsize / 2 : dtype.itemsize;
  return PyGPU::is_aligned(array.layout(), array.address(), unit);
}

bool is_overwritten(const Array& operand, const Array& result) {
  const bool same = operand.address() == result.address() &&
                    operand.layout().shape() == result.layout().shape() &&
                    operand.layout().strides() == result.layout().strides() &&
                    operand.layout().itemsize() == result.layout().itemsize();
  return !same && operand.overlaps(result);
}

bool needs_copy(const Map& map, const Operand& operand) {
  bool is_needed = !is_aligned(operand.array->core, operand.code);
  for (int k = 0; !is_needed && k < map.results; ++k)
    is_needed = is_overwritten(operand.array->core, map.result[k]->core);
  return is_needed;
}

bool has_signed_exponents(const Map& map) {
  const Operand& exponent = map.operand[1];
  return is_power(map) && exponent.array && dtypes[map.compute[1]].kind == 'i' &&
         dtypes[exponent.code].kind == 'i' && map.result[0]->layout().size() > 0;
}

bool launch_if_ready(const Map& map, const StreamRef& stream) {
  if (const Operation simple = simple_power(map); simple >= 0)
    return launch_if_ready({simple, map.operand[0], map.compute[0], *map.result[0]}, stream);
  const Axes& shape = map.result[0]->layout().shape();
  // A number that does not fit into its dtype is an error even without elements.
  if (map.result[0]->layout().size() == 0) {
    alignas(16) char unused[16];
    for (int i = 0; i < map.operands; ++i)
      if (!map.operand[i].array) put_element(map.operand[i].number, map.compute[i], unused);
    return true;
  }
  const int device = map.result[0]->core.device();
  const DeviceGuard here = use_device(device);
  Launch launch(stream, device);
  const Layout* layouts[max_arrays];
  void* addresses[max_arrays];
  KernelArguments arguments;
  arguments.add_address_of(nullptr);  // the loop, which launch_loop sets
  int arrays = 0;
  const auto add = [&](const Layout& layout, const Array& array) {
    layouts[arrays] = &layout;
    addresses[arrays] = array.address();
    arguments.add_address_of(&addresses[arrays++]);
  };
  for (int i = 0; i < map.results; ++i)
    for (int k = 0; k < i; ++k)
      if (map.result[i]->core.overlaps(map.result[k]->core))
        throw py::value_error("out: the results overlap in memory; expected separate arrays");
  for (int i = 0; i < map.results; ++i) {
    const GPUArray& result = *map.result[i];
    if (!is_aligned(result.core, code_of(result.dtype))) return false;
    launch.writes(result);
    add(result.layout(), result.core);
  }
  Layout broadcast_layouts[max_operands];
  alignas(16) char numbers[max_operands][16];
  for (int i = 0; i < map.operands; ++i) {
    const Operand& operand = map.operand[i];
    if (!operand.array) {
      if (i == 1 && is_power(map) && dtypes[map.compute[1]].kind == 'i') check_exponent(map);
      put_element(operand.number, map.compute[i], numbers[i]);
      arguments.add_address_of(numbers[i]);
      continue;
    }
    if (needs_copy(map, operand)) return false;
    launch.reads(*operand.array);
    const Layout& own = operand.array->layout();
    if (own.shape() != shape) broadcast_layouts[i] = broadcast_to(own, shape);
    add(own.shape() == shape ? own : broadcast_layouts[i], operand.array->core);
  }
  const LoopPlan plan = plan_loop(layouts, addresses, arrays, map.results);
  const Kernel& kernel = kernel_for(map, plan, device);
  launch.run([&] {
    check_launch(kernel, stream, without_gil_if_waiting(device, !stream.handle, [&] {
                   return launch_loop(kernel, plan, arguments.pointers(), stream.handle);
                 }));
  });
  return true;
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
  if (!launch_if_ready({copy, {&source, {}, code}, code, target}, stream))
    throw std::logic_error("copy_by_kernel: the arrays share bytes");
}

}  // namespace PyGPU::python
