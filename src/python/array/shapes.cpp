// GPUArray's elements in other shapes, in NumPy's order: reshape and ravel.
#include "python/array/map.h"

namespace PyGPU::python {
namespace {

// Return an order by its name. "A" is column-major for arrays that are only so contiguous.
Order order_for(const Layout& layout, const py::object& order) {
  if (PyUnicode_Check(order.ptr()) && PyUnicode_CompareWithASCIIString(order.ptr(), "A") == 0)
    return layout.f_contiguous() && !layout.c_contiguous() ? Order::f : Order::c;
  return order_of(order);
}

// Return a copy whose memory has the first layout, seen in the second one.
GPUArray copy_in(const GPUArray& array, const Layout& ordered, const Layout& seen) {
  const DeviceGuard here = use_device_of(array.core);
  GPUArray copy = new_array(ordered, array.dtype, array.allocator);
  set_from_device(copy, array, nullptr);
  copy.core = copy.core.view(seen);
  return copy;
}

// Return the array, a view or a copy, in another shape.
py::object reshaped(const py::object& self, const Axes& shape, Order order) {
  const GPUArray& array = held<GPUArray>(self);
  const Layout& layout = array.layout();
  if (const std::optional<Layout> view = layout.reshape_view(shape, order)) {
    const bool same = view->shape() == layout.shape() && view->strides() == layout.strides();
    return same ? self : wrap(view_of(self, *view));
  }
  const Layout ordered(layout.shape(), layout.itemsize(), order);
  return wrap(copy_in(array, ordered, ordered.reshape(shape, order)));
}

py::object reshape(const py::object& self, const py::tuple& shape, const py::object& order) {
  const bool one = shape.size() == 1;
  if (shape.empty()) throw py::index_error("reshape: expected a shape, got no arguments");
  const Axes lengths = axes_of(one ? py::object(shape[0]) : py::object(shape), "shape");
  return reshaped(self, lengths, order_for(held<GPUArray>(self).layout(), order));
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

}  // namespace

void bind_shapes(const py::object& c) {
  method(c, "reshape", &reshape,
         R"doc(Return the elements in another shape: a view where one exists, else a copy.

Parameters
----------
*shape : int or sequence of int
    Lengths of the new axes, as one sequence or as several ints. One length may be -1: it is
    computed from the size.
order : {'C', 'F', 'A'}, optional
    Order in which the elements are read and placed: row-major or column-major. 'A' is
    column-major for arrays in Fortran order, and row-major for others.

Returns
-------
GPUArray
    View of the array, or the array itself if the shape and the strides do not change; a copy if
    no strides give the elements in this order.

Raises
------
ValueError
    If the new shape has another number of elements.
)doc",
         {{"*shape"}, {"order", "C"}});
  method(c, "ravel", &ravel,
         R"doc(Return the elements along one axis: a view where one exists, else a copy.

Parameters
----------
order : {'C', 'F', 'A', 'K'}, optional
    Order in which the elements are read, as for ``reshape``. 'K' is the order of the memory.

Returns
-------
GPUArray
    Array of shape ``(size,)``.
)doc",
         {{"order", "C"}});
}

}  // namespace PyGPU::python
