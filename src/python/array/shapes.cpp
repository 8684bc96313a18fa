// Methods of GPUArray that change shape or dtype: reshape, ravel, transpose, squeeze, view.
#include "python/binders.h"
#include "python/operations/copies.h"
#include "python/value/fields.h"

namespace PyGPU::python {
namespace {

// Convert the name of an order. "A" is column-major for arrays that are contiguous in that order
// alone, and row-major for others.
Order order_for(const Layout& layout, const py::object& order) {
  if (PyUnicode_Check(order.ptr()) && PyUnicode_CompareWithASCIIString(order.ptr(), "A") == 0)
    return layout.f_contiguous() && !layout.c_contiguous() ? Order::f : Order::c;
  return order_of(order);
}

// Copy an array to new memory with the layout `ordered`, and return a view of the copy with the
// layout `result`.
GPUArray copy_in(const GPUArray& array, const Layout& ordered, const Layout& result) {
  const DeviceGuard here = use_device_of(array.core);
  GPUArray copy = new_array(ordered, array.dtype, array.allocator);
  set_from_device(copy, array, nullptr);
  copy.core = copy.core.view(result);
  return copy;
}

// Return an array of another shape: `self`, a view or a copy. As in PyCUDA, the result of a
// contiguous array is contiguous in `order`. `copy` is None, True or False, as in NumPy.
py::object reshaped(const py::object& self, const Axes& shape, Order order,
                    const py::object& copy = py::none()) {
  const GPUArray& array = held<GPUArray>(self);
  const Layout& layout = array.layout();
  const std::optional<Layout> view = layout.reshape_view(shape, order);
  const bool may_copy = copy.is_none() || is_true(copy), must_copy = may_copy && !copy.is_none();
  if (!may_copy && !view)
    throw py::value_error("reshape: copy=False: shape " + shape.text() + " needs a copy");
  if (view && !must_copy && (!may_copy || view->contiguous(order) || !layout.contiguous())) {
    const bool is_same = view->shape() == layout.shape() && view->strides() == layout.strides();
    return is_same ? self : wrap(view_of(self, *view));
  }
  const Layout ordered(layout.shape(), layout.itemsize(), order);
  return wrap(copy_in(array, ordered, ordered.reshape(shape, order)));
}

py::object reshape(const py::object& self, const py::tuple& shape, const py::object& order,
                   const py::object& copy) {
  if (shape.empty()) throw py::index_error("reshape: expected a shape, got no arguments");
  const Axes lengths =
      axes_of(shape.size() == 1 ? py::object(shape[0]) : py::object(shape), "shape");
  return reshaped(self, lengths, order_for(held<GPUArray>(self).layout(), order), copy);
}

// Return a view or a copy with one axis. Order "K" reads contiguous arrays in memory order.
GPUArray ravel(const py::object& self, const py::object& order) {
  const GPUArray& array = held<GPUArray>(self);
  const Layout& layout = array.layout();
  const bool in_memory_order =
      PyUnicode_Check(order.ptr()) && PyUnicode_CompareWithASCIIString(order.ptr(), "K") == 0;
  if (!in_memory_order) {
    const py::object found = reshaped(self, {-1}, order_for(layout, order));
    return found.is(self) ? view_of(self, layout) : held<GPUArray>(found);
  }
  const Layout ordered = layout.k_order(), flat({layout.size()}, layout.itemsize());
  return ordered.same_strides(layout) ? view_of(self, flat) : copy_in(array, ordered, flat);
}

// Return a view of the whole array with permuted axes. The view has the same gpudata and the same
// owner as the array. gpudata is not created here, because that would expose the memory.
GPUArray transpose(const py::object& self, const py::tuple& permutation, py::object axes) {
  if (!permutation.empty())
    axes = permutation.size() == 1 ? py::object(permutation[0]) : py::object(permutation);
  auto& array = held<GPUArray>(self);
  const Layout& layout = array.layout();
  GPUArray transposed =
      view_of(self, axes.is_none() ? layout.transpose() : layout.transpose(axes_of(axes, "axes")));
  transposed.gpudata = array.gpudata;
  transposed.covers_base = array.covers_base || array.base.is_none();
  if (!array.base.is_none()) transposed.base = array.base;
  return transposed;
}

GPUArray squeezed(const py::object& self, const py::object& axis) {
  const Layout& layout = held<GPUArray>(self).layout();
  std::array<bool, Axes::capacity> removed{};
  for (int at = 0; at < layout.ndim() && axis.is_none(); ++at)
    removed[std::size_t(at)] = layout.shape()[at] == 1;
  for (const Index one : axis.is_none() ? Axes() : axes_of(axis, "axis")) {
    const int at = axis_index(py::int_(one), std::max(layout.ndim(), 1));
    if (layout.ndim() == 0) continue;  // NumPy accepts axis 0 of a zero-dimensional array
    if (layout.shape()[at] != 1 || std::exchange(removed[std::size_t(at)], true))
      throw py::value_error("squeeze: axis=" + text_of(axis) +
                            ": expected different axes of length 1, got shape " +
                            layout.shape().text());
  }
  Axes shape, strides;
  for (int at = 0; at < layout.ndim(); ++at) {
    if (removed[std::size_t(at)]) continue;
    shape.push_back(layout.shape()[at]);
    strides.push_back(layout.strides()[at]);
  }
  return view_of(self, Layout(shape, strides, layout.itemsize()));
}

GPUArray view_as(const py::object& self, const py::object& dtype) {
  const auto& array = held<GPUArray>(self);
  const py::object type = dtype.is_none() ? array.dtype : dtype_of(dtype);
  if (!type.attr("subdtype").is_none())
    throw py::type_error("view: dtype=" + text_of(type) +
                         ": a subarray dtype; expected a dtype without a shape of its own");
  GPUArray view = view_of(self, array.layout().view(itemsize_of(type)));
  if (!type.equal(array.dtype))
    view.has_hidden_fields = !array.dtype.attr("names").is_none() && has_gaps(type);
  view.dtype = type;
  return view;
}

}  // namespace

void bind_shapes(const py::object& c) {
  method(
      c, "reshape", &reshape,
      R"doc(Return an array of another shape with the same elements: a view if possible, else a copy.

shape: [int or sequence of int]
    Lengths of the new axes, as one sequence or as several ints. One length may be -1: it is
    computed from the size.
order: [{'C', 'F', 'A'}, optional]
    Order in which the elements are read and written: row-major or column-major. 'A' is column-major
    for arrays in Fortran order, and row-major for others.
copy: [bool, optional]
    True copies, False requires a view. None copies if no view has the elements in this order, or if
    the view of a contiguous array is not contiguous in this order.
-> [GPUArray]
    View of the array, a copy, or the array itself if the shape and the strides do not change.
Raises ValueError: If the new shape has another number of elements, or ``copy=False`` and a copy is
    needed.
)doc",
      {{"*shape"}, {"order", "C"}, {"copy", py::none()}});
  method(c, "ravel", &ravel,
         R"doc(Return the elements as an array of one axis: a view if possible, else a copy.

order: [{'C', 'F', 'A', 'K'}, optional]
    Order in which the elements are read, as for ``reshape``. 'K' is the order of the memory.
-> Array of shape ``(size,)``.
)doc",
         {{"order", "C"}});
  property(
      c, "T", [](const py::object& self) { return transpose(self, py::tuple(), py::none()); },
      "View with all axes reversed.");
  method(c, "view", &view_as,
         R"doc(Return a view of the same memory with another dtype.

If the item size changes, so does the length of one axis: of the last axis if it is contiguous, else
of the axis with the smallest stride.

dtype: [numpy.dtype or anything numpy.dtype accepts, optional]
    Dtype of the view; None keeps the dtype.
-> View of the array.
Raises TypeError: If ``dtype`` is a subarray dtype.
Raises ValueError: If that axis is not contiguous, or if its bytes are not a multiple of the new
    item size.
)doc",
         {{"dtype", py::none()}});
  method(c, "transpose", &transpose, R"doc(Return a view with permuted axes.

permutation: [int] Axes of the array in the order of the view, as several ints or as one sequence.
axes: [sequence of int, optional] The same as one sequence; None reverses all axes.
-> View of the array.
)doc",
         {{"*permutation"}, {"axes", py::none()}});
  method(c, "squeeze", &squeezed, R"doc(Return a view without axes of length one.

axis: [int or sequence of int, optional] Axes to remove; None removes all axes of length one.
-> View of the array.
Raises ValueError: If an axis has another length or is repeated.
)doc",
         {{"axis", py::none()}});
}

}  // namespace PyGPU::python
