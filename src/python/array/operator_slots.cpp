// Operators of GPUArray as slots of its type: Python calls them without looking up a name.
#include "python/array/slots.h"
#include "python/binders.h"
#include "python/binding/fast_functions.h"
#include "python/operations/copies.h"
#include "python/operations/elements.h"
#include "python/operations/elementwise.h"
#include "python/operations/operators.h"
#include "python/operations/results.h"

namespace PyGPU::python {
namespace {

template <class Work>
PyObject* guarded_object(Work work) {
  return guarded([&] { return work().release().ptr(); }, static_cast<PyObject*>(nullptr));
}

template <Op op>
PyObject* plain(PyObject* a, PyObject* b) {
  return guarded_object([&] { return operate(op, a, b); });
}
template <Op op>
PyObject* in_place(PyObject* self, PyObject* other) {
  return guarded_object([&] { return operate_in_place(op, self, other); });
}
template <Op op>
PyObject* unary(PyObject* self) {
  return guarded_object([&] { return operate_on(op, self); });
}

// pow(a, b, modulus) has a third argument; the other slots have two.
template <binaryfunc function>
PyObject* ternary(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus == Py_None) return function(a, b);
  Py_RETURN_NOTIMPLEMENTED;
}
PyObject* return_self(PyObject* self) {
  Py_INCREF(self);
  return self;
}

PyObject* divmod_operator(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    static const py::int_& operation = *new py::int_(operation_named("divmod"));
    Operand operand;
    if (!read_operand(a, operand) || !read_operand(b, operand)) Py_RETURN_NOTIMPLEMENTED;
    const py::tuple operands = py::make_tuple(py::reinterpret_borrow<py::object>(a),
                                              py::reinterpret_borrow<py::object>(b));
    PyObject* const arguments[] = {operation.ptr(), operands.ptr(), Py_None, Py_None, Py_None};
    return apply(nullptr, arguments, 5);
  });
}

// GPUArray has no matrix product. NotImplemented lets the other operand's class compute it, if that
// class has one.
PyObject* refuse_matrix_product(PyObject* a, PyObject* b) {
  PyObject* const other = is<GPUArray>(a) ? b : a;
  const PyNumberMethods* const numbers = Py_TYPE(other)->tp_as_number;
  if (!is<GPUArray>(other) && numbers && numbers->nb_matrix_multiply) Py_RETURN_NOTIMPLEMENTED;
  PyErr_SetString(PyExc_TypeError,
                  "@: GPUArray has no matrix product; use a linear algebra library on the same "
                  "memory: torch.from_dlpack(a) @ torch.from_dlpack(b), cupy.asarray(a) @ "
                  "cupy.asarray(b). gpuarray.dot(a, b) is the sum of the products of all elements");
  return nullptr;
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  constexpr Op ops[] = {Op::less,      Op::less_equal, Op::equal,
                        Op::not_equal, Op::greater,    Op::greater_equal};
  return guarded_object([&] { return operate(ops[op], self, other); });
}

// PyGPU.cumath and other modules run operations through map_arrays and empty_for.
void map_arrays(const std::string& name, const py::tuple& operands, const py::tuple& compute,
                const py::tuple& results, const StreamRef& stream) {
  Map map(operation_named(name), int(operands.size()), int(results.size()));
  if (operands.size() > max_operands || results.size() > max_results || results.empty() ||
      compute.size() != operands.size())
    throw py::value_error("_map: expected up to " + std::to_string(max_operands) +
                          " operands, 1 to " + std::to_string(max_results) +
                          " results, and a dtype for each operand");
  for (std::size_t i = 0; i < results.size(); ++i) {
    map.result[i] = gpuarray_in(py::object(results[i]).ptr());
    if (!map.result[i])
      throw py::type_error("out: expected a GPUArray, got " + repr_of(results[i]));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const py::object operand = operands[i];
    if (!read_operand(operand.ptr(), map.operand[i]))
      throw py::type_error(name + ": expected arrays and numbers, got " + repr_of(operand));
    map.compute[i] = code_of(compute[i]);
  }
  check_shapes(map);
  launch(map, stream);
}

py::object empty_for(const py::tuple& operands, const py::object& dtype,
                     const py::object& allocator) {
  Operand operand[max_operands];
  if (operands.size() > max_operands)
    throw py::value_error("_empty_for: " + std::to_string(operands.size()) +
                          " operands; expected up to " + std::to_string(max_operands));
  for (std::size_t i = 0; i < operands.size(); ++i)
    operand[i].array = gpuarray_in(py::object(operands[i]).ptr());
  PyObject* like = nullptr;  // the tuple keeps it alive
  for (std::size_t i = operands.size(); i-- > 0;)
    if (operand[i].array) like = py::object(operands[i]).ptr();
  return result_array(operand, int(operands.size()), code_of(dtype_of(dtype)), like, allocator);
}

py::object in_order(const StreamRef& stream, const py::tuple& arrays, const py::function& work) {
  StreamOrder order(stream);
  for (const py::handle one : arrays) {
    order.uses(storage_in(one.ptr()));
    if (const GPUArray* const array = gpuarray_in(one.ptr())) keep_for_graph(*array);
  }
  py::object guarded_object;
  order.run([&] { guarded_object = work(); });
  return guarded_object;
}

py::object astype(const py::object& self, const py::object& to, const StreamRef& stream,
                  const std::string& order, const std::string& casting, bool, bool copy) {
  const GPUArray& array = held<GPUArray>(self);
  const py::object dtype = dtype_of(to);
  const auto is_allowed = [&] {
    return is_true(module_::import("numpy").attr("can_cast")(array.dtype, dtype, casting));
  };
  if (casting != "unsafe" && !is_allowed())
    throw py::type_error("astype: casting='" + casting + "' does not allow a cast from " +
                         text_of(array.dtype) + " to " + text_of(dtype));
  const auto has_order = [&](const Layout& own) {
    return order == "K" || own.same_strides(layout_like(own, own.shape(), own.itemsize(), order));
  };
  if (!copy && dtype.equal(array.dtype) && has_order(array.layout())) return self;
  const py::object made = cast_to(self, dtype, stream);
  const GPUArray& cast = held<GPUArray>(made);
  return has_order(cast.layout()) ? made : wrap(copy_of(cast, &stream, order));
}

}  // namespace

void add_operators(Slots& slots) {
  const auto add = [&](int slot, auto* function) { slots.push_back({slot, as_slot(function)}); };
#define PYGPU_ADD(name, slot, slot_in_place) \
  add(Py_##slot, &plain<Op::name>);          \
  add(Py_##slot_in_place, &in_place<Op::name>);
  PYGPU_BINARY_OPERATIONS(PYGPU_ADD)
#undef PYGPU_ADD
  add(Py_nb_power, &ternary<plain<Op::power>>);
  add(Py_nb_inplace_power, &ternary<in_place<Op::power>>);
  add(Py_nb_divmod, &divmod_operator);
  add(Py_nb_matrix_multiply, &refuse_matrix_product);
  add(Py_nb_negative, &unary<Op::negative>);
  add(Py_nb_absolute, &unary<Op::absolute>);
  add(Py_nb_invert, &unary<Op::invert>);
  add(Py_nb_positive, &return_self);
  add(Py_tp_richcompare, &compare);
  add(Py_tp_hash, &PyObject_HashNotImplemented);
}

void bind_operators(module_& m, const py::object& c) {
  method(c, "astype", &astype, R"doc(Return a copy with another dtype.

Elements are cast as in C.

dtype: [numpy.dtype or anything numpy.dtype accepts] Dtype of the copy.
stream: [PyGPU.driver.Stream, int or None, optional]
    Stream of the conversion; None is the null stream.
order: [{'K', 'A', 'C', 'F'}, optional] Order of the axes in memory, as for ``copy``.
casting: [str, optional] Casts that are allowed, as in numpy.can_cast.
subok: [bool, optional] Ignored; NumPy's parameter.
copy: [bool, optional] False returns the array itself if its dtype and order are those of the call.
-> [GPUArray] Contiguous copy of the same shape, or the array itself.
Raises TypeError: If ``casting`` does not allow the cast.
Raises ValueError: If a dtype has no arithmetic, such as a structured dtype.
)doc",
         {{"dtype"},
          {"stream", py::none()},
          {"*"},
          {"order", "K"},
          {"casting", "unsafe"},
          {"subok", true},
          {"copy", true}});
  method(c, "fill",
         [](const py::object& self, const py::object& value, const StreamRef& stream) {
           fill(held<GPUArray>(self), value, stream);
           return self;
         },
         R"doc(Set every element to one value.

value: [number, or element of the array's dtype] Value of all elements.
stream: [PyGPU.driver.Stream, int or None, optional] Stream of the work; None is the null stream.
-> [GPUArray] The array itself.
Raises PyGPU.errors.ArgumentError: If ``value`` does not fit into the dtype.
)doc",
         {{"value"}, {"stream", py::none()}});
  def(m, "_map", &map_arrays,
      "Run an operation of PyGPU._kernels.operations on arrays and numbers. Each operand is "
      "converted to its dtype in `compute` and broadcast to the shape of the results.",
      {{"name"}, {"operands"}, {"compute"}, {"results"}, {"stream", py::none()}});
  def(m, "_overlap", [](const GPUArray& a, const GPUArray& b) { return a.core.overlaps(b.core); },
      "Return True if two arrays share bytes of memory.", {{"a"}, {"b"}});
  def(m, "_element", &element_of, "Return a value as a 0-d ndarray of a dtype.",
      {{"dtype"}, {"value"}, {"name", "value"}});
  def(m, "_keep_for_callers_graph", &keep_for_callers_graph,
      "Keep scratch memory for good if another library captures the stream.",
      {{"scratch"}, {"stream"}});
  def(m, "_in_order", &in_order,
      "Call `work`, which enqueues work on the stream that uses the memory of these arrays.",
      {{"stream"}, {"arrays"}, {"work"}});
  def(
      m, "_compares_as_pycuda", [] { return compares_as_pycuda; },
      "Return True if PYGPU_COMPARISONS=pycuda is in force.");
  def(m, "_compare_as_pycuda", [](bool chosen) { compares_as_pycuda = chosen; },
      "Choose between PyCUDA's and NumPy's dtypes of comparisons, from now on.", {{"chosen"}});
  def(m, "_operation", &operation_named, "Return the number of an operation.", {{"name"}});
  def(m, "_dtype_code", &code_of,
      "Return the number of a dtype. ValueError for a dtype without arithmetic.", {{"dtype"}});
  static PyMethodDef methods[] = {
      fast_row("_apply", &apply,
               PYGPU_SIGNATURE("_apply(operation, operands, stream, allocator, out)")),
      {nullptr, nullptr, 0, nullptr}};
  add_functions(m, methods);
  def(m, "_empty_for", &empty_for,
      "Return a new array for the result of an operation on these operands: their broadcast shape, "
      "the order of their axes, the allocator and class of the first array.",
      {{"operands"}, {"dtype"}, {"allocator", py::none()}});
}

}  // namespace PyGPU::python
