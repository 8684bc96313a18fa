// Conversions of a GPUArray to Python's numbers, lists and text. Each copies elements to the host.
// A GPUArray is never converted to a numpy.ndarray implicitly.
#include "python/binders.h"
#include "python/binding/hooks.h"
#include "python/operations/copies.h"

namespace PyGPU::python {
namespace {

py::object on_host(const GPUArray& array) { return get_to_host(array, py::none(), false, nullptr); }

py::object only_element(const GPUArray& array, const char* call) {
  if (array.layout().size() != 1)
    throw py::type_error(std::string(call) + ": expected an array of one element, got shape " +
                         array.layout().shape().text());
  return on_host(array).attr("item")();
}

// Convert a position to a flat index in C order. A position is a flat index or one index for each
// axis; negative indices count from the end.
Index flat_index(const Axes& position, const Axes& shape) {
  const auto in_range = [&](Index index, Index length, const std::string& range) {
    if (index < -length || index >= length)
      throw py::index_error("item: index " + std::to_string(index) + " is out of bounds for " +
                            range + " with size " + std::to_string(length));
    return index < 0 ? index + length : index;
  };
  Index size = 1, flat = 0;
  for (Index length : shape) size *= length;
  if (position.size() == 1) return in_range(position[0], size, "an array");
  if (position.size() != shape.size())
    throw py::value_error("item: expected one flat index, or one index for each axis of shape " +
                          shape.text() + ", got " + std::to_string(position.size()) + " indices");
  for (int axis = 0; axis < shape.size(); ++axis)
    flat =
        flat * shape[axis] + in_range(position[axis], shape[axis], "axis " + std::to_string(axis));
  return flat;
}

py::object element_at(const py::object& self, const py::tuple& index) {
  const auto& array = held<GPUArray>(self);
  const Axes& shape = array.layout().shape();
  if (index.empty()) {
    if (array.layout().size() != 1)
      throw py::value_error("item: an array of shape " + shape.text() +
                            " does not have exactly one element; pass an index, or use tolist()");
    return only_element(array, "item");
  }
  Index flat = flat_index(
      axes_of(index.size() == 1 ? py::object(index[0]) : py::object(index), "index"), shape);
  std::vector<IndexItem> items(std::size_t(shape.size()), {IndexItem::Kind::integer});
  for (int axis = shape.size(); axis-- > 0; flat /= shape[axis])
    items[std::size_t(axis)].start = flat % shape[axis];
  const View view = array.layout().index(items);
  return only_element(view_of(self, view.layout, view.offset), "item");
}

py::object as_index(const GPUArray& array) {
  const char kind = py::reinterpret_borrow<np::dtype>(array.dtype).kind();
  if (array.layout().ndim() != 0 || (kind != 'i' && kind != 'u'))
    throw py::type_error("index: expected a 0-d integer array, got a GPUArray of shape " +
                         array.layout().shape().text() + " and dtype " + text_of(array.dtype));
  return only_element(array, "index");
}

bool truth(const GPUArray& array) {
  if (array.layout().size() != 1)
    throw py::value_error("the truth value of an array with " +
                          std::to_string(array.layout().size()) +
                          " elements is ambiguous; call .any() or .all()");
  return on_host(array).attr("__bool__")().cast<bool>();
}

// Describe a failed copy instead of raising. A multiprocessing.Pool calls repr() on results that it
// cannot pickle: an exception there would end the worker, and the parent would wait forever.
py::object representation(const py::object& self) {
  const auto& array = held<GPUArray>(self);
  py::object host;
  try {
    host = on_host(array);
  } catch (const DeviceError& error) {
    const py::object failure = hook(Hook::exception_of)(error.call, instance(error.status));
    return py::str("<" + name_of_class(Py_TYPE(self.ptr())) + " of shape " +
                   array.layout().shape().text() + " and dtype " + text_of(array.dtype) +
                   ", which cannot be read: " + text_of(failure) + ">");
  }
  return host.attr("__repr__")();
}

py::object formatted(const GPUArray& array, const py::str& format) {
  if (py::len(format) == 0) return on_host(array).attr("__str__")();
  const py::object value = only_element(array, "format");
  return py::reinterpret_steal<py::object>(PyObject_Format(value.ptr(), format.ptr()));
}

py::object rounded(const GPUArray& array, const py::object& digits) {
  const py::object round = module_::import("builtins").attr("round");
  if (array.layout().size() != 1)
    throw py::type_error("round: expected an array of one element, got shape " +
                         array.layout().shape().text() + "; .round(decimals) rounds each element");
  return round(only_element(array, "round"), digits);
}

py::object as_complex(const GPUArray& array) {
  const py::handle type(reinterpret_cast<PyObject*>(&PyComplex_Type));
  return type(only_element(array, "complex"));
}

void refuse_conversion(py::handle, py::handle, py::handle) {
  throw py::type_error(
      "a GPUArray is not converted to a numpy.ndarray implicitly; call .get() to copy it to the "
      "host");
}

}  // namespace

void bind_conversions(const py::object& c) {
  method(c, "__bool__", &truth, "Return the truth value of the only element.");
  method(
      c, "__int__",
      [](const GPUArray& a) {
        return py::reinterpret_steal<py::object>(PyNumber_Long(only_element(a, "int").ptr()));
      },
      "Return the only element as an int.");
  method(
      c, "__float__", [](const GPUArray& a) { return py::float_(only_element(a, "float")); },
      "Return the only element as a float.");
  method(c, "__complex__", &as_complex, "Return the only element as a complex number.");
  method(c, "__index__", &as_index, "Return the element of a 0-d integer array as an int.");
  method(c, "__round__", &rounded, "Round the only element as Python's round() does.",
         {{"ndigits", py::none()}});
  method(c, "__format__", &formatted,
         "Format the only element, or the whole array as str() does for an empty format_spec.",
         {{"format_spec"}});
  method(
      c, "__str__", [](const GPUArray& a) { return on_host(a).attr("__str__")(); },
      "Copy the array to the host and return its text.");
  method(
      c, "__repr__", &representation,
      "Copy the array to the host and return its representation. If the copy fails, describe the "
      "array and the error.");
  method(c, "__array__", &refuse_conversion,
         "Raise TypeError: call get() to copy the array to the host.",
         {{"dtype", py::none()}, {"copy", py::none()}});
  method(c, "item", &element_at,
         R"doc(Copy one element to the host and return it as a Python number.

index: [int]
    One flat index in C order, or one index for each axis. No index for an array of one element.
-> [int, float, complex, bool, bytes, str or tuple] The element, converted as by numpy.ndarray.item.
Raises IndexError: If an index is out of bounds.
Raises ValueError: If the number of indices is neither 1 nor the number of axes. If no index is
    given and the array does not have exactly one element.
)doc",
         {{"*index"}});
  method(
      c, "tolist", [](const GPUArray& a) { return on_host(a).attr("tolist")(); },
      R"doc(Copy the array to the host and return it as nested lists of Python numbers.

-> [list or scalar] Lists nested to the number of axes; a Python scalar for a 0-d array.
)doc");
}

}  // namespace PyGPU::python
