// Kernels over arrays. See map.h.
#include "python/array/map.h"

#include <cmath>
#include <unordered_map>

#include "python/launch/packing.h"

namespace PyGPU::python {
namespace {

// Subclasses (IntEnum ...) are numbers like those they are made of, but not weak in NumPy 2.
void read_subclass(PyObject* object, Operand& operand) {
  if (PyLong_Check(object) && !PyLong_CheckExact(object) && !PyBool_Check(object))
    operand.number = py::int_(0).attr("__add__")(operand.number);
  else if (PyFloat_Check(object) && !PyFloat_CheckExact(object))
    operand.number = py::float_(PyFloat_AS_DOUBLE(object));
  else
    return;
  if (!promotes_by_value())
    operand.code =
        code_of(py::module_::import("numpy").attr("asarray")(operand.number).attr("dtype"));
}

// A number as bytes of a dtype. ArgumentError where it is not in the dtype's domain.
void put_number(py::handle number, int code, char* to) {
  const DType& dtype = dtypes[code];
  const int scalar = numpy_scalar_dtype(number.ptr());
  const bool is_complex =
      scalar >= 0 ? dtypes[scalar].kind == 'c' : bool(PyComplex_Check(number.ptr()));
  if (is_complex && dtype.kind != 'c')
    raise_argument_error("a complex number does not fit into " + std::string(dtype.name));
  if (scalar >= 0 && dtypes[scalar].kind == 'b')  // NumPy's bools are no indices
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

// What a kernel is made for.
struct KernelKey {
  std::uint64_t types = 0;  // four bits each: operands, their computation, results
  std::uint64_t shape = 0;  // everything else

  void add_type(int code) { types = types << 4 | std::uint64_t(code); }
  void add(unsigned value, int bits) { shape = shape << bits | value; }
  bool operator==(const KernelKey& other) const {
    return types == other.types && shape == other.shape;
  }
};
struct KernelHash {
  std::size_t operator()(const KernelKey& key) const {
    return std::size_t((key.types * 0x9e3779b97f4a7c15u ^ key.shape) * 0x9e3779b97f4a7c15u >> 8);
  }
};

KernelKey key_of(const Run& work, const int* results, const Loop& loop, const Deal& deal,
                 int device) {
  KernelKey key;
  key.add(unsigned(work.operation), 12);
  key.add(unsigned(work.operands), 3);
  key.add(unsigned(work.results), 2);
  key.add(unsigned(loop.linear ? 0 : loop.shape.size()), 6);
  key.add(unsigned(deal.width), 4);
  key.add(unsigned(deal.vectors), 13);
  key.add(deal.repeated, max_operands);
  key.add(deal.turned, max_operands);
  key.add(loop.wide, 1);
  key.add(unsigned(device), 8);
  for (int i = 0; i < work.operands; ++i) {
    const Operand& operand = work.operand[i];
    key.add(operand.array == nullptr, 1);
    key.add_type(operand.array ? operand.code : work.compute[i]);
    key.add_type(work.compute[i]);
  }
  for (int i = 0; i < work.results; ++i) key.add_type(results[i]);
  return key;
}

std::unique_ptr<Kernel> make_kernel(const Run& work, const int* results, const Loop& loop,
                                    const Deal& deal) {
  const auto name_at = [](int code) { return py::str(dtypes[code].name); };
  py::tuple inputs(work.operands), compute(work.operands), are_scalars(work.operands);
  py::tuple outputs(work.results);
  for (int i = 0; i < work.operands; ++i) {
    const bool is_scalar = !work.operand[i].array;
    inputs[i] = name_at(is_scalar ? work.compute[i] : work.operand[i].code);
    compute[i] = name_at(work.compute[i]);
    are_scalars[i] = is_scalar;
  }
  for (int i = 0; i < work.results; ++i) outputs[i] = name_at(results[i]);
  const py::object made =
      hook(Hook::elementwise_module)(operation_name(work.operation), inputs, compute, outputs,
                                     are_scalars, loop.linear ? 0 : loop.shape.size(), loop.wide,
                                     deal.width, deal.vectors, deal.repeated, deal.turned);
  return std::make_unique<Kernel>(made.cast<std::shared_ptr<Module>>(), "elementwise");
}

const Kernel& kernel_for(const Run& work, const Loop& loop, const Deal& deal, int device) {
  static auto& kept = *new std::unordered_map<KernelKey, std::unique_ptr<Kernel>, KernelHash>;
  int results[max_results];
  for (int i = 0; i < work.results; ++i) results[i] = code_of(work.result[i]->dtype);
  const KernelKey key = key_of(work, results, loop, deal, device);
  const auto found = kept.find(key);
  if (found != kept.end() && found->second->module().alive()) return *found->second;
  std::unique_ptr<Kernel> made = make_kernel(work, results, loop, deal);
  std::unique_ptr<Kernel>& place = kept[key];  // another thread may have been faster
  if (!place || !place->module().alive()) place = std::move(made);
  return *place;
}

struct Operations {
  std::vector<std::string> names;
  std::unordered_map<std::string, Operation> numbers;
};
Operations& operations() {
  static auto& all = *new Operations;
  return all;
}

// Do all elements lie at multiples of what the dtype needs? A GPU cannot read others.
bool is_aligned(const Array& array, const DType& dtype) {
  const std::size_t part = dtype.kind == 'c' ? dtype.itemsize / 2 : dtype.itemsize;
  auto bits = reinterpret_cast<std::uintptr_t>(array.address());
  for (int axis = 0; axis < array.layout().ndim(); ++axis)
    if (array.layout().shape()[axis] > 1) bits |= std::uintptr_t(array.layout().strides()[axis]);
  return bits % part == 0;
}

// A packed copy, in the order of the stream.
Array packed_copy(const GPUArray& array, const StreamRef& stream) {
  if (array.layout().ndim() == Axes::capacity) return array.core.dense_copy(stream);
  GPUArray packed = array;
  packed.core = Array::empty(array.layout().k_order());
  copy_by_kernel(packed, array, stream);
  return packed.core;
}

[[noreturn]] void on_two_devices(int a, int b) {
  throw py::type_error("operands on devices " + std::to_string(a) + " and " + std::to_string(b) +
                       ": copy one to the other's device first");
}

}  // namespace

const std::vector<py::object>& dtype_objects() {
  static const auto& all = *new const auto([] {  // leaked on purpose
    std::vector<py::object> made;
    for (const DType& dtype : dtypes) made.push_back(py::dtype(dtype.name));
    return made;
  }());
  return all;
}

const py::object& dtype_object(int code) { return dtype_objects()[std::size_t(code)]; }

int find_code(const py::object& dtype) {
  const std::vector<py::object>& all = dtype_objects();
  for (int code = 0; code < dtype_count; ++code)
    if (all[std::size_t(code)].is(dtype)) return code;
  for (int code = 0; code < dtype_count; ++code)
    if (all[std::size_t(code)].equal(dtype)) return code;
  return -1;
}

int code_of(const py::object& dtype) {
  const int code = find_code(dtype);
  if (code < 0)
    throw py::value_error("unable to map dtype '" + py::str(dtype).cast<std::string>() +
                          "': no arithmetic on it");
  return code;
}

bool promotes_by_value() {
  static const bool by_value =
      py::module_::import("numpy").attr("__version__").cast<std::string>()[0] == '1';
  return by_value;
}

bool read_operand(PyObject* object, Operand& operand) {
  if ((operand.array = gpuarray_in(object))) {
    operand.array->core.require_alive();
    operand.code = code_of(operand.array->dtype);
    return true;
  }
  operand.number = py::reinterpret_borrow<py::object>(object);
  if (PyLong_CheckExact(object) || PyFloat_CheckExact(object)) return true;
  if (const int scalar = numpy_scalar_dtype(object); scalar >= 0) {
    operand.code = scalar;
    return true;
  }
  if (py::isinstance<py::array>(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    if (array.ndim() > 0)
      throw py::type_error(
          "an operation between a GPUArray and a numpy.ndarray: send the ndarray to the device "
          "with to_gpu(), or fetch the GPUArray with .get()");
    operand.number = array.attr("__getitem__")(py::tuple());
    operand.code = code_of(array.dtype());
    return true;
  }
  if (!PyLong_Check(object) && !PyFloat_Check(object) && !PyComplex_Check(object)) return false;
  read_subclass(object, operand);
  return true;
}

py::object beyond_all(py::handle integer) {
  const bool negative = PyObject_RichCompareBool(integer.ptr(), py::int_(0).ptr(), Py_LT) == 1;
  return py::float_(negative ? -HUGE_VAL : HUGE_VAL);
}

GPUArray result_array(const Operand* operands, int count, int code, const py::object& allocator) {
  const Layout* layouts[max_operands];
  int arrays = 0;
  const GPUArray* first = nullptr;
  Axes shape;
  for (int i = 0; i < count; ++i) {
    if (!operands[i].array) continue;
    const Layout& layout = operands[i].array->layout();
    if (!first) {
      first = operands[i].array;
      shape = layout.shape();
    } else if (layout.shape() != shape) {
      shape = broadcast_or_raise(shape, layout.shape());
    }
    layouts[arrays++] = &layout;
  }
  if (!first) throw py::type_error("expected at least one GPUArray among the operands");
  const DeviceGuard here = use_device(first->core.device());
  return new_array(result_layout(shape, layouts, arrays, dtypes[code].itemsize), dtype_object(code),
                   allocator.is_none() ? first->allocator : allocator);
}

Axes broadcast_or_raise(const Axes& a, const Axes& b) {
  try {
    return broadcast(a, b);
  } catch (const ShapeMismatch& mismatch) {
    raise_shape_error(mismatch.what());
  }
}

Operation operation_named(const std::string& name) {
  auto& [names, numbers] = operations();
  const auto [place, is_new] = numbers.try_emplace(name, Operation(names.size()));
  if (is_new) names.push_back(name);
  return place->second;
}

const std::string& operation_name(Operation operation) {
  return operations().names[std::size_t(operation)];
}

void run(const Run& work, const StreamRef& stream) {
  const Layout& whole = work.result[0]->layout();
  if (whole.size() == 0) return;
  const int device = work.result[0]->core.device();
  const DeviceGuard here = use_device(device);
  const Layout* layouts[max_arrays];
  void* addresses[max_arrays];
  std::size_t itemsizes[max_arrays];
  void* arguments[1 + max_arrays];
  int arrays = 0, given = 1;
  const auto add = [&](const Layout& layout, const Array& array) {
    if (array.device() != device) on_two_devices(device, array.device());
    layouts[arrays] = &layout;
    itemsizes[arrays] = layout.itemsize();
    addresses[arrays] = array.address();
    arguments[given++] = &addresses[arrays++];
  };
  for (int i = 0; i < work.results; ++i) {
    const GPUArray& result = *work.result[i];
    if (!is_aligned(result.core, dtypes[code_of(result.dtype)]))
      throw py::value_error("the result's elements are not aligned to their size");
    if (i > 0 && result.core.overlaps(work.result[0]->core))
      throw py::value_error("out: the results overlap");
    add(result.layout(), result.core);
  }
  Layout stretched_layouts[max_operands];
  // Of operands that a result would overwrite too early, or that are not aligned.
  Array copies[max_operands];
  alignas(16) char numbers[max_operands][16];
  for (int i = 0; i < work.operands; ++i) {
    const Operand& operand = work.operand[i];
    if (!operand.array) {
      put_number(operand.number, work.compute[i], numbers[i]);
      arguments[given++] = numbers[i];
      continue;
    }
    const Array* array = &operand.array->core;
    bool needs_copy = !is_aligned(*array, dtypes[operand.code]);
    for (int k = 0; !needs_copy && k < work.results; ++k) {
      const Array& result = work.result[k]->core;
      const bool same = array->address() == result.address() &&
                        array->layout().shape() == whole.shape() &&
                        array->layout().strides() == result.layout().strides() &&
                        array->layout().itemsize() == result.layout().itemsize();
      needs_copy = !same && array->overlaps(result);
    }
    if (needs_copy) {
      if (array->device() != device) on_two_devices(device, array->device());
      copies[i] = packed_copy(*operand.array, stream);
      array = &copies[i];
    }
    const Layout& own = array->layout();
    if (own.shape() != whole.shape()) stretched_layouts[i] = stretched(own, whole.shape());
    add(own.shape() == whole.shape() ? own : stretched_layouts[i], *array);
  }
  Loop loop = Loop::over(layouts, arrays);
  const Deal deal = deal_for(loop, work.results, addresses, itemsizes);
  const Kernel& kernel = kernel_for(work, loop, deal, device);
  const auto each_storage = [&](auto visit) {
    if (!stream.handle) return;
    for (int i = 0; i < work.results; ++i)
      if (work.result[i]->core.storage()) visit(*work.result[i]->core.storage());
    for (int i = 0; i < work.operands; ++i) {
      if (copies[i].storage()) visit(*copies[i].storage());
      if (work.operand[i].array && work.operand[i].array->core.storage())
        visit(*work.operand[i].array->core.storage());
    }
  };
  each_storage([&](Storage& storage) { storage.enter(stream); });
  Status status = without_gil_if_waiting(device, !stream.handle, [&] {
    return launch_elementwise(kernel, loop, deal, arguments, stream.handle);
  });
  each_storage([&](Storage& storage) { storage.leave(stream); });
  check("cudaLaunchKernel", std::move(status));
}

namespace {

// Bytes of the widest integers that the elements can be moved as.
std::size_t unit_of(const Array& array) {
  auto bits = reinterpret_cast<std::uintptr_t>(array.address()) | array.layout().itemsize();
  for (Index stride : array.layout().strides()) bits |= std::uintptr_t(stride);
  return std::min<std::size_t>(8, bits & (~bits + 1));  // the lowest bit that is set
}

// The same memory as integers: an item of several has an axis of its own.
GPUArray as_integers(const GPUArray& array, std::size_t unit) {
  Axes shape = array.layout().shape(), strides = array.layout().strides();
  if (const std::size_t count = array.layout().itemsize() / unit; count > 1) {
    shape.push_back(Index(count));
    strides.push_back(Index(unit));
  }
  int code = 0;
  while (dtypes[code].kind != 'u' || dtypes[code].itemsize != unit) ++code;
  return {array.core.view(Layout(shape, strides, unit)), dtype_object(code), py::none()};
}

}  // namespace

void copy_by_kernel(const GPUArray& to, const GPUArray& from, const StreamRef& stream) {
  const std::size_t unit = std::min(unit_of(to.core), unit_of(from.core));
  const GPUArray target = as_integers(to, unit), source = as_integers(from, unit);
  const int code = code_of(target.dtype);
  Run work(operation_named("copy"), 1, 1);
  work.compute[0] = code;
  work.result[0] = &target;
  work.operand[0].array = &source;
  work.operand[0].code = code;
  run(work, stream);
}

}  // namespace PyGPU::python
