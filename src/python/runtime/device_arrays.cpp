// Base class of DeviceArray_<dtype>, the low level's arrays. PyGPU/_runtime/typed.py derives a
// class for each dtype.
#include "PyGPU/runtime/device_array.h"
#include "python/binders.h"
#include "python/runtime/call.h"
#include "python/runtime/pointers.h"
#include "python/runtime/pointers_docs.h"

namespace PyGPU::python {

namespace {

using Shared = std::shared_ptr<DeviceArray>;

np::array host_array(py::object self) {
  const auto& array = *held<DeviceArray>(self);
  const Layout& layout = array.layout();
  const Pointer host = array.host_data();
  if (!host.address && layout.size() > 0)
    throw py::buffer_error(
        "this DeviceArray was made from a device pointer and has no host buffer");
  np::array view(np::dtype(array.dtype().name),
                 std::vector<py::ssize_t>(layout.shape().begin(), layout.shape().end()),
                 std::vector<py::ssize_t>(layout.strides().begin(), layout.strides().end()),
                 host.address, self);
  if (array.read_only()) view.attr("flags").attr("writeable") = false;
  return view;
}

std::string name_of(const DType& dtype) { return std::string("DeviceArray_") + dtype.name; }

Shared alias(const DType& dtype, py::handle buffer) {
  const std::shared_ptr<py::buffer_info> view = view_buffer(buffer);
  if (!is_format_of(view->format, std::size_t(view->itemsize), dtype))
    throw py::type_error(name_of(dtype) + ": expected a buffer of " + dtype.name +
                         ", got one of format '" + view->format + "' with items of " +
                         std::to_string(view->itemsize) + " bytes");
  Axes shape, strides;
  for (py::ssize_t length : view->shape) shape.push_back(length);
  for (py::ssize_t stride : view->strides) strides.push_back(stride);
  return std::make_shared<DeviceArray>(dtype, Layout(shape, strides, dtype.itemsize), view->ptr,
                                       view->readonly, view);
}

// Return the order that "C", "F" or a flag names. The first version of PyGPU used a flag: true for
// C order.
Order order_or_flag(const py::object& order) {
  if (order.is_none()) return Order::c;
  if (PyLong_Check(order.ptr())) return order.cast<long>() ? Order::c : Order::f;
  return order_of(order);
}

// Construct from (buffer), (shape[, order]) or (pointer_wrapper, shape[, order]).
Shared make_device_array(py::handle self, py::object source, py::object shape_or_order,
                         py::object order) {
  const DType& dtype = dtype_of_class(self);
  const std::string who = name_of(dtype);
  if (const Pointer* const given = find<Pointer>(source.ptr())) {
    const Pointer pointer = *given;
    if (pointer.dtype != &dtype)
      throw py::type_error(who + ": expected a pointer_wrapper_" + dtype.name +
                           ", got a pointer_wrapper_" + pointer.dtype->name);
    if (shape_or_order.is_none())
      throw py::type_error(who + ": shape is missing: a pointer needs one");
    return std::make_shared<DeviceArray>(pointer, axes_of(shape_or_order, "shape"),
                                         order_or_flag(order));
  }
  if (is_buffer(source)) {
    if (!shape_or_order.is_none() || !order.is_none())
      throw py::type_error(who +
                           ": shape and order cannot be given with a buffer, which has its own");
    return alias(dtype, source);
  }
  if (!shape_or_order.is_none() && !order.is_none())
    throw py::type_error(who + ": shape=" + repr_of(shape_or_order) +
                         ": the first argument is a shape already");
  const Order chosen = order_or_flag(order.is_none() ? shape_or_order : order);
  return std::make_shared<DeviceArray>(dtype, axes_of(source, "shape"), chosen);
}

Status without_gil(DeviceArray& array, Status (DeviceArray::*step)()) {
  const NoGil without = release_gil();
  return (array.*step)();
}

}  // namespace

void bind_device_arrays(module_& m) {
  const py::object c =
      new_class<DeviceArray>(m, "DeviceArray", docs::DeviceArray,
                             {{Py_bf_getbuffer, as_slot(&export_buffer<&host_array>)}});
  constructor(c, &make_device_array, {{"source"}, {"shape", py::none()}, {"order", py::none()}});
  method(
      c, "allocate", [](DeviceArray& a) { return without_gil(a, &DeviceArray::allocate); },
      docs::array_allocate);
  method(
      c, "to_device", [](DeviceArray& a) { return without_gil(a, &DeviceArray::to_device); },
      docs::to_device);
  method(
      c, "to_host", [](DeviceArray& a) { return without_gil(a, &DeviceArray::to_host); },
      docs::to_host);
  method(
      c, "last_status", [](DeviceArray& a) { return a.last_status(); }, docs::array_last_status);
  method(
      c, "host_data", [](const DeviceArray& a) { return wrap_pointer(a.host_data()); },
      docs::host_data);
  method(
      c, "device_data", [](const DeviceArray& a) { return wrap_pointer(a.device_data()); },
      docs::device_data);
  method(
      c, "allocated", [](const DeviceArray& a) { return a.allocated(); }, docs::allocated);
  method(
      c, "size", [](const DeviceArray& a) { return std::size_t(a.layout().size()); }, docs::size);
  method(
      c, "nbytes", [](const DeviceArray& a) { return a.layout().nbytes(); }, docs::nbytes);
  method(c, "__len__", [](const DeviceArray& a) {
    if (a.layout().ndim() == 0) throw py::type_error("len() of an unsized object");
    return std::size_t(a.layout().shape()[0]);
  });
  method(
      c, "shape", [](const DeviceArray& a) { return tuple_of(a.layout().shape()); }, docs::shape);
  method(
      c, "strides", [](const DeviceArray& a) { return tuple_of(a.layout().strides()); },
      docs::strides);
  method(c, "__repr__", [](const DeviceArray& a) {
    return "<" + name_of(a.dtype()) + " shape=" + a.layout().shape().text() +
           (a.allocated() ? " allocated>" : ">");
  });
}

}  // namespace PyGPU::python
