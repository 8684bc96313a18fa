// Reductions as Python calls them: sum, prod, mean, min, max, any, all and dot, of all elements or
// along axes.
#include <algorithm>

#include "python/binders.h"
#include "python/binding/errors.h"
#include "python/binding/fast_functions.h"
#include "python/binding/hooks.h"
#include "python/operations/copies.h"
#include "python/operations/elementwise.h"
#include "python/operations/fold.h"
#include "python/operations/operators.h"

namespace PyGPU::python {
namespace {

// Return the public name of a reduction.
const char* name_of(Fold fold) {
  if (fold == Fold::minimum) fold = Fold::min;
  if (fold == Fold::maximum) fold = Fold::max;
  return fold_names[int(fold)];
}

Fold fold_named(PyObject* name) {
  for (int i = 0; i < int(std::size(fold_names)); ++i)
    if (PyUnicode_CompareWithASCIIString(name, fold_names[i]) == 0) return Fold(i);
  throw py::value_error("unknown reduction " + repr_of(name));
}

// Return the dtype of the computation. `asked` is the dtype that the caller requested, or -1. As in
// NumPy, the dtype of `out` takes part in the promotion of sums, products and means.
int compute_code(Fold fold, int code, int asked, const GPUArray* out) {
  const char kind = dtypes[code].kind;
  if (fold == Fold::any || fold == Fold::all) return find_code(np::dtype("bool"));
  if (is_extreme(fold)) {
    if (kind == 'c')
      throw py::type_error(std::string(name_of(fold)) + ": complex numbers have no order");
    return code;
  }
  if (is_place(fold)) {
    if (kind == 'c')
      throw py::type_error(std::string(name_of(fold)) + ": complex numbers have no order");
    return find_code(np::dtype("int64"));
  }
  if (is_variance(fold)) {
    const int compute = asked >= 0 ? asked
                        : kind == 'b' || kind == 'i' || kind == 'u'
                            ? find_code(np::dtype("float64"))
                            : code;
    if (kind == 'c' || dtypes[compute].kind != 'f')
      throw py::type_error(std::string(name_of(fold)) + ": expected floating-point numbers");
    return compute;
  }
  if (asked >= 0) return asked;
  const bool whole = kind == 'b' || kind == 'i' || kind == 'u';
  const int own = fold == Fold::mean && whole ? find_code(np::dtype("float64")) : code;
  const int other = out ? find_code(out->dtype) : -1;
  if (other < 0 || other == own) return own;
  static const Operation multiply = operation_named("multiply");
  Operand operands[2];
  operands[0].code = own;
  operands[1].code = other;
  return types_of(multiply, operands, 2).compute[0];
}

// NumPy's casting rule "same_kind".
bool is_same_kind(int from, int to) {
  const auto rank = [](int code) { return std::string("buifc").find(dtypes[code].kind); };
  return rank(from) <= rank(to);
}

// Return the code of a dtype. ValueError for a dtype without a C type, TypeError for one without
// arithmetic.
int arithmetic_code(Fold fold, const py::object& dtype) {
  if (const int code = find_code(dtype); code >= 0) return code;
  hook(Hook::require_c_type)(dtype);
  throw py::type_error(std::string(name_of(fold)) + ": not defined for dtype " + text_of(dtype));
}

// Return the code of the dtype that the caller requested, or -1. Without an `out`, sums and
// products of bools and of integers of 8 and 16 bits have 64 bits, as in NumPy.
int asked_code(Fold fold, PyObject* dtype, int code, const GPUArray* out) {
  const DType& own = dtypes[code];
  const bool is_total = fold == Fold::sum || fold == Fold::prod;
  if (dtype == Py_None && is_total && !out && !compares_as_pycuda && own.itemsize < 4 &&
      own.kind != 'f')
    return find_code(np::dtype(own.kind == 'u' ? "uint64" : "int64"));
  if (dtype == Py_None) return -1;
  return arithmetic_code(fold, python::dtype_of(py::reinterpret_borrow<py::object>(dtype)));
}

// Check an `out` for results of dtype `code`, which "same_kind" casts may convert to its dtype.
void check_out(const GPUArray& out, const Axes& shape, int code) {
  const int own = find_code(out.dtype);
  if (own < 0 || !is_same_kind(code, own))
    throw py::type_error(std::string("out: results of ") + dtypes[code].name + " do not fit into " +
                         text_of(out.dtype) + " (casting='same_kind')");
  if (out.layout().shape() != shape)
    raise_shape_error("out: expected shape " + shape.text() + ", got " +
                      out.layout().shape().text());
}

const GPUArray* out_of(PyObject* object) {
  return object == Py_None ? nullptr : &require_array("out", object);
}

// Mark the axes that an argument names. NumPy's AxisError for axes out of range.
void read_axes(PyObject* axis, int ndim, bool* folded) {
  std::fill(folded, folded + ndim, axis == Py_None);
  if (axis == Py_None) return;
  const bool are_many = PyTuple_Check(axis) || PyList_Check(axis);
  if (ndim == 0 && !are_many && PyIndex_Check(axis)) {  // NumPy accepts 0 and -1
    const Py_ssize_t at = PyNumber_AsSsize_t(axis, nullptr);
    if (PyErr_Occurred()) throw py::error_already_set();
    if (at == 0 || at == -1) return;
  }
  const auto add = [&](PyObject* one) {
    bool& named = folded[axis_index(one, ndim)];
    if (named) throw py::value_error("axis=" + repr_of(axis) + ": the same axis is given twice");
    named = true;
  };
  if (!are_many) return add(axis);
  // Copy a list first: an item's __index__ may change it.
  const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(axis));
  if (!items) throw py::error_already_set();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i)
    add(PyTuple_GET_ITEM(items.ptr(), i));
}

py::object wrapped(GPUArray&& made, PyObject* out) {
  return out == Py_None ? wrap(std::move(made)) : py::reinterpret_borrow<py::object>(out);
}

GPUArray result_of(const Layout& layout, int code, const FoldRequest& request) {
  return request.out ? *request.out : new_array(layout, dtype_object(code), request.allocator);
}

// Copy results to an array of another dtype.
void cast_into(const GPUArray& out, const GPUArray& result, int code, const StreamRef& stream) {
  static const Operation copy = operation_named("copy");
  keep_for_graph(out);
  Operand operand;
  operand.array = &result;
  operand.code = code;
  python::launch({copy, operand, code, out}, stream);  // not one of the unit's other files
}

// Return the array, or a copy, whose axes that are reduced have no negative strides.
GPUArray without_flips(const GPUArray& array, const bool* folded, const StreamRef& stream) {
  const Layout& layout = array.layout();
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (folded[axis] && layout.strides()[axis] < 0)
      return {contiguous_copy(array, stream), array.dtype, array.allocator};
  return array;
}

// Reduce an array along axes. The first arguments are those of _reduce; `degrees` are the degrees
// of freedom by which the divisor of a variance is less than the number of elements.
py::object reduced(PyObject* const* given, Index degrees) {
  const Fold fold = fold_named(given[0]);
  const GPUArray& a = require_array("a", given[1]);
  const DeviceGuard here = use_device_of(a.core);
  FoldRequest request{stream_of(given[6]), py::reinterpret_borrow<py::object>(given[7]),
                      out_of(given[4])};
  if (request.allocator.is_none()) request.allocator = a.allocator;
  request.degrees = degrees;
  FoldKey fold_key(fold, 1);
  fold_key.codes[0] = arithmetic_code(fold, a.dtype);
  const int asked = asked_code(fold, given[3], fold_key.codes[0], request.out);
  fold_key.compute = compute_code(fold, fold_key.codes[0], asked, request.out);
  const int ndim = a.layout().ndim();
  const bool keepdims = is_true(given[5]);
  bool folded[Axes::capacity];
  read_axes(given[2], ndim, folded);
  GPUArray array{aligned(a, fold_key.codes[0], request.stream), a.dtype, a.allocator};
  if (is_place(fold)) array = without_flips(array, folded, request.stream);
  const Layout& layout = array.layout();
  const Axes& shape = layout.shape();
  Axes kept;
  bool whole = true, none = layout.size() == 0;
  for (int axis = 0; axis < ndim; ++axis) {
    whole = whole && folded[axis];
    if (keepdims || !folded[axis]) kept.push_back(folded[axis] ? 1 : shape[axis]);
  }
  if ((is_extreme(fold) || is_place(fold)) && none) {
    for (int axis = 0; axis < ndim; ++axis)
      if (folded[axis] && shape[axis] == 0)
        throw py::value_error(std::string(name_of(fold)) +
                              ": zero elements, expected at least one: shape " + shape.text() +
                              ", axis=" + repr_of(given[2]));
  }
  bool fits = true;  // `out` has the dtype of the computation
  if (request.out) {
    // Integers whose sum is computed in floating point may return to integers, as in NumPy.
    const int natural = compute_code(fold, fold_key.codes[0], asked, nullptr);
    check_out(*request.out, kept, natural);
    fits = request.out->dtype.equal(dtype_object(fold_key.compute));
  }
  const std::size_t itemsize = dtypes[fold_key.compute].itemsize;
  Launch launch(request.stream, current_device());
  launch.reads(array);
  if (array.core.storage() != a.core.storage()) launch.reads(a);  // of which `array` is a copy
  if (request.out) launch.writes(*request.out);
  if (whole && layout.contiguous()) {
    GPUArray result =
        fits ? result_of(Layout(kept, itemsize), fold_key.compute, request)
             : new_array(Layout(kept, itemsize), dtype_object(fold_key.compute), request.allocator);
    launch.writes(result);
    const void* const address = array.core.address();
    fold_linear(launch, fold_key, &address, layout.size(), result.core, request);
    if (!fits) cast_into(*request.out, result, fold_key.compute, request.stream);
    return wrapped(std::move(result), given[4]);
  }
  const AxisReduction plan(layout, folded, array.core.address(), properties_of(current_device()));
  Axes strides;
  for (int axis = 0; axis < ndim; ++axis)
    if (keepdims || !folded[axis])
      strides.push_back((folded[axis] ? 1 : plan.result_steps[axis]) * Index(itemsize));
  const bool direct = request.out && fits && request.out->layout().strides() == strides &&
                      !request.out->core.overlaps(array.core);
  GPUArray result = direct ? *request.out
                           : new_array(Layout(kept, strides, itemsize),
                                       dtype_object(fold_key.compute), request.allocator);
  launch.writes(result);
  if (result.layout().size()) fold_axes(launch, fold_key, plan, array.core, result.core, request);
  if (request.out && !fits)
    cast_into(*request.out, result, fold_key.compute, request.stream);
  else if (request.out && !direct)
    set_from_device(*request.out, result, &request.stream);
  return wrapped(std::move(result), given[4]);
}

// _reduce(name, a, axis, dtype, out, keepdims, stream, allocator)
py::object reduce(PyObject* const* given) { return reduced(given, 0); }

// _variance(name, a, axis, dtype, out, keepdims, stream, allocator, degrees)
py::object variance(PyObject* const* given) {
  const Index degrees = PyNumber_AsSsize_t(given[8], PyExc_OverflowError);
  if (PyErr_Occurred()) throw py::error_already_set();
  return reduced(given, degrees);
}

// Return the array, or a copy, in C order.
Array in_c_order(const GPUArray& array, const Array& aligned_array, const StreamRef& stream) {
  if (aligned_array.layout().c_contiguous()) return aligned_array;
  const Layout c(array.layout().shape(), array.layout().itemsize());
  return contiguous_copy(array, stream, &c);
}

std::string shapes_of(const GPUArray& a, const GPUArray& b) {
  return a.layout().shape().text() + " and " + b.layout().shape().text();
}

// _dot(a, b, dtype, stream, allocator, out): return the sum of the products of all elements.
py::object dot(PyObject* const* given) {
  const GPUArray* const arrays[] = {&require_array("a", given[0]), &require_array("b", given[1])};
  const DeviceGuard here = use_device_of(arrays[0]->core);
  FoldRequest request{stream_of(given[3]), py::reinterpret_borrow<py::object>(given[4]),
                      out_of(given[5])};
  if (request.allocator.is_none()) request.allocator = arrays[0]->allocator;
  const Index size = arrays[0]->layout().size();
  if (size != arrays[1]->layout().size())
    raise_shape_error("dot: sizes differ: shapes " + shapes_of(*arrays[0], *arrays[1]));
  Operand operands[2];
  FoldKey fold_key(Fold::dot, 2);
  for (int i = 0; i < 2; ++i) {
    operands[i].array = arrays[i];
    fold_key.codes[i] = operands[i].code = arithmetic_code(Fold::dot, arrays[i]->dtype);
  }
  const int asked = asked_code(Fold::dot, given[2], fold_key.codes[0], request.out);
  static const Operation multiply = operation_named("multiply");
  fold_key.compute = asked >= 0    ? asked
                     : request.out ? code_of(request.out->dtype)
                                   : types_of(multiply, operands, 2).result[0];
  const Layout &a = arrays[0]->layout(), &b = arrays[1]->layout();
  const bool alike = a.shape() == b.shape() && a.f_contiguous() && b.f_contiguous();
  Launch launch(request.stream, current_device());
  Array ready[2];
  const void* addresses[2];
  for (int i = 0; i < 2; ++i) {
    ready[i] = aligned(*arrays[i], fold_key.codes[i], request.stream);
    if (!alike) ready[i] = in_c_order(*arrays[i], ready[i], request.stream);
    addresses[i] = ready[i].address();
    launch.reads(*arrays[i]);
    launch.reads(ready[i]);
  }
  if (request.out) {
    check_out(*request.out, {}, fold_key.compute);
    if (!request.out->dtype.equal(dtype_object(fold_key.compute)))
      throw py::value_error(std::string("out: expected dtype ") + dtypes[fold_key.compute].name +
                            ", got " + text_of(request.out->dtype));
  }
  GPUArray result =
      result_of(Layout({}, dtypes[fold_key.compute].itemsize), fold_key.compute, request);
  launch.writes(result);
  fold_linear(launch, fold_key, addresses, size, result.core, request);
  return wrapped(std::move(result), given[5]);
}

// _reduce_subset(name, subset, tables, dtype, stream, allocator): reduce the elements of `tables`,
// flattened in C order, at the indices `subset`.
py::object reduce_subset(PyObject* const* given) {
  const Fold fold = fold_named(given[0]);
  const std::string name = std::string("subset_") + name_of(fold);
  const GPUArray* arrays[max_inputs] = {&require_array("subset", given[1])};
  const DeviceGuard here = use_device_of(arrays[0]->core);
  FoldKey fold_key(fold, 1);
  fold_key.tables = int(PyTuple_GET_SIZE(given[2]));
  for (int i = 0; i < fold_key.tables; ++i)
    arrays[1 + i] = &require_array(i ? "b" : "a", PyTuple_GET_ITEM(given[2], i));
  const char kind = py::reinterpret_borrow<np::dtype>(arrays[0]->dtype).kind();
  if (kind != 'i' && kind != 'u')
    throw py::type_error("subset: expected an integer dtype, got " + text_of(arrays[0]->dtype));
  const Index size = arrays[0]->layout().size();
  if (size == 0 && is_extreme(fold)) throw py::value_error(name + ": subset has no elements");
  if (fold_key.tables > 1 && arrays[1]->layout().size() != arrays[2]->layout().size())
    raise_shape_error(name + ": sizes differ: shapes " + shapes_of(*arrays[1], *arrays[2]));
  FoldRequest request{stream_of(given[4]), py::reinterpret_borrow<py::object>(given[5])};
  if (request.allocator.is_none()) request.allocator = arrays[1]->allocator;
  Launch launch(request.stream, current_device());
  Array ready[max_inputs];
  const void* addresses[max_inputs];
  for (int i = 0; i <= fold_key.tables; ++i) {
    fold_key.codes[i] = arithmetic_code(fold, arrays[i]->dtype);
    ready[i] = in_c_order(*arrays[i], aligned(*arrays[i], fold_key.codes[i], request.stream),
                          request.stream);
    addresses[i] = ready[i].address();
    launch.reads(*arrays[i]);
    launch.reads(ready[i]);
  }
  const int asked = asked_code(fold, given[3], fold_key.codes[1], nullptr);
  fold_key.compute = compute_code(fold, fold_key.codes[1], asked, nullptr);
  GPUArray result =
      result_of(Layout({}, dtypes[fold_key.compute].itemsize), fold_key.compute, request);
  launch.writes(result);
  fold_linear(launch, fold_key, addresses, size, result.core, request);
  return wrap(std::move(result));
}

void override_device(const py::object& given) {
  if (given.is_none()) return override_properties(nullptr);
  DeviceProperties properties;
  const auto read = [&](const char* name, auto& number) {
    if (given.contains(name))
      number = std::decay_t<decltype(number)>(py::object(given[name]).cast<Index>());
  };
  read("threads", properties.threads);
  read("multiprocessors", properties.multiprocessors);
  read("resident_threads", properties.resident_threads);
  read("registers", properties.registers);
  read("waves", properties.waves);
  read("index32", properties.index32);
  override_properties(&properties);
}

}  // namespace

void bind_reductions(module_& m) {
  static PyMethodDef methods[] = {
      PYGPU_FAST(_reduce, reduce, name, a, axis, dtype, out, keepdims, stream, allocator),
      PYGPU_FAST(_variance, variance, name, a, axis, dtype, out, keepdims, stream, allocator,
                 degrees),
      PYGPU_FAST(_dot, dot, a, b, dtype, stream, allocator, out),
      PYGPU_FAST(_reduce_subset, reduce_subset, name, subset, tables, dtype, stream, allocator),
      {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
  def(m, "_reduction_block", &reduction_block,
      "Return the largest number of threads of a block for values of a size in bytes.",
      {{"itemsize"}});
  def(m, "_axis_index", [](const py::object& axis, int ndim) { return axis_index(axis, ndim); },
      "Return an axis, counted from 0, from a number that may be negative.", {{"axis"}, {"ndim"}});
  def(m, "_override_device_properties", &override_device,
      "For tests: plan reductions for a device with these properties; None restores the real ones.",
      {{"properties"}});
  py::dict tuning;
  tuning["block_threads"] = capabilities.reduction.block_threads;
  tuning["axis_threads"] = axis_threads;
  tuning["last_threads"] = capabilities.reduction.last_threads;
  tuning["unroll"] = capabilities.reduction.unroll;
  tuning["linear_unroll"] = capabilities.reduction.linear_unroll;
  m.attr("_reduction_tuning") = tuning;
}

}  // namespace PyGPU::python
