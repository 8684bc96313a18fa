// Creation of the arrays that operations write their results to.
#include "python/operations/results.h"

#include "python/binders.h"

namespace PyGPU::python {
namespace {

// Layout of a result, and the operand whose device and allocator the result gets: the first one
// that is no mask, or the first.
struct ResultPlan {
  Layout layout;
  const GPUArray* model;
};

ResultPlan plan_result(const Operand* operands, int count, int code) {
  const Layout* layouts[max_operands];
  int arrays = 0;
  const GPUArray* model = nullptr;
  bool is_mask = true;
  Axes shape;
  for (int i = 0; i < count; ++i) {
    if (!operands[i].array) continue;
    const Layout& layout = operands[i].array->layout();
    const bool is_bool = operands[i].code >= 0 && dtypes[operands[i].code].kind == 'b';
    if (!model || (is_mask && !is_bool)) {
      model = operands[i].array;
      is_mask = is_bool;
    }
    if (arrays == 0) {
      shape = layout.shape();
    } else if (layout.shape() != shape) {
      shape = broadcast_or_raise(shape, layout.shape());
    }
    layouts[arrays++] = &layout;
  }
  if (!model) throw py::type_error("expected at least one GPUArray among the operands");
  return {result_layout(shape, layouts, arrays, dtypes[code].itemsize), model};
}

// Return true if a class creates its objects as GPUArray does.
bool makes_as_ours(PyTypeObject* type) {
  static PyObject* const name = PyUnicode_InternFromString("_new_like_me");
  if (type->tp_init != type_of<GPUArray>->tp_init || type->tp_new != type_of<GPUArray>->tp_new)
    return false;
  const auto ours = py::getattr(reinterpret_cast<PyObject*>(type_of<GPUArray>), name);
  return py::getattr(reinterpret_cast<PyObject*>(type), name).is(ours);
}

py::object new_like(const py::object& like, const Axes& shape, const py::object& dtype) {
  const py::object made = like.attr("_new_like_me")(dtype);
  const GPUArray* const array = gpuarray_in(made.ptr());
  if (!array || array->layout().shape() != shape || !array->dtype.equal(dtype))
    throw py::type_error(
        name_of_class(Py_TYPE(like.ptr())) + "._new_like_me(" + text_of(dtype) +
        "): expected a GPUArray of shape " + shape.text() + " and that dtype, got " +
        (array ? "shape " + array->layout().shape().text() + ", dtype " + text_of(array->dtype)
               : repr_of(made)));
  return made;
}

// PyCUDA's signature. The axes keep their order in memory; `order` is ignored.
py::object new_like_me(const py::object& self, const py::object& dtype, const py::object&) {
  const GPUArray& array = held<GPUArray>(self);
  const py::object type = dtype.is_none() ? array.dtype : python::dtype_of(dtype);
  const Layout layout = array.layout().k_order(itemsize_of(type));
  if (makes_as_ours(Py_TYPE(self.ptr())))
    return wrap(new_array(layout, type, array.allocator), self.ptr());
  return py::type::of(self)(tuple_of(layout.shape()), type, py::arg("allocator") = array.allocator,
                            py::arg("strides") = tuple_of(layout.strides()));
}

}  // namespace

py::object result_array(const Operand* operands, int count, int code, PyObject* like,
                        const py::object& allocator) {
  const ResultPlan plan = plan_result(operands, count, code);
  return result_array(plan.layout, *plan.model, code, like, allocator);
}

py::object result_array(const Layout& layout, const GPUArray& model, int code, PyObject* like,
                        const py::object& allocator) {
  const DeviceGuard here = use_device(model.core.device());
  if (like && Py_TYPE(like) != type_of<GPUArray> && !makes_as_ours(Py_TYPE(like))) {
    if (held<GPUArray>(like).layout().shape() == layout.shape())
      return new_like(py::reinterpret_borrow<py::object>(like), layout.shape(), dtype_object(code));
    like = nullptr;
  }
  return wrap(
      new_array(layout, dtype_object(code), allocator.is_none() ? model.allocator : allocator),
      like);
}

void bind_results(const py::object& c) {
  method(
      c, "_new_like_me", &new_like_me,
      "Return a new array with the same class, shape and order of axes. Operations on objects of a "
      "subclass write their results to it.",
      {{"dtype", py::none()}, {"order", "C"}});
}

}  // namespace PyGPU::python
