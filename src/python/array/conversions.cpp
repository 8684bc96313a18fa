// Conversions of a GPUArray's elements to Python's numbers and text. Each is an explicit call and
// copies to the host.
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

// Return the number of an item in C order, given that number or an index for each axis.
Index number_in_c_order(const Axes& place, const Axes& shape) {
  const auto in_range = [&](Index index, Index length, const std::string& where) {
    if (index < -length || index >= length)
      throw py::index_error("item: index " + std::to_string(index) + " is out of bounds for " +
                            where + " with size " + std::to_string(length));
    return index < 0 ? index + length : index;
  };
  Index size = 1, number = 0;
  for (Index length : shape) size *= length;
  if (place.size() == 1) return in_range(place[0], size, "an array");
  if (place.size() != shape.size())
    throw py::value_error("item: expected a number, or one index for each of the " +
                          std::to_string(shape.size()) + " axes, got " +
                          std::to_string(place.size()));
  for (int axis = 0; axis < shape.size(); ++axis)
    number =
        number * shape[axis] + in_range(place[axis], shape[axis], "axis " + std::to_string(axis));
  return number;
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
  Index number = number_in_c_order(
      axes_of(index.size() == 1 ? py::object(index[0]) : py::object(index), "index"), shape);
  std::vector<IndexItem> items(std::size_t(shape.size()), {IndexItem::Kind::integer});
  for (int axis = shape.size(); axis-- > 0; number /= shape[axis])
    items[std::size_t(axis)].start = number % shape[axis];
  const View view = array.layout().index(items);
  return only_element(view_of(self, view.layout, view.offset), "item");
}

py::object as_index(const GPUArray& array) {
  const char kind = py::reinterpret_borrow<np::dtype>(array.dtype).kind();
  if (array.layout().ndim() != 0 || (kind != 'i' && kind != 'u'))
    throw py::type_error("index: expected an integer array without axes, got a GPUArray of shape " +
                         array.layout().shape().text() + " and dtype " + text_of(array.dtype));
  return only_element(array, "index");
}

bool truth(const GPUArray& array) {
  if (array.layout().size() != 1)
    throw py::value_error("the truth value of an array with " +
                          std::to_string(array.layout().size()) + " elements is ambiguous");
  return on_host(array).attr("__bool__")().cast<bool>();
}

// A repr that raises ends the worker of a multiprocessing.Pool whose result cannot be pickled, and
// its parent waits forever. So a failed copy is described.
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

py::object formatted(const GPUArray& array, const py::str& how) {
  if (py::len(how) == 0) return on_host(array).attr("__str__")();
  const py::object value = only_element(array, "format");
  return py::reinterpret_steal<py::object>(PyObject_Format(value.ptr(), how.ptr()));
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
  method(c, "__index__", &as_index, "Return the element of an integer array without axes.");
  method(c, "__round__", &rounded, "Round the only element as Python's round() does.",
         {{"ndigits", py::none()}});
  method(c, "__format__", &formatted,
         "Format the only element, or the whole array for an empty format.", {{"format_spec"}});
  method(
      c, "__str__", [](const GPUArray& a) { return on_host(a).attr("__str__")(); },
      "Copy the array to the host and return its text.");
  method(
      c, "__repr__", &representation,
      "Copy the array to the host and return its representation. If the copy fails, the text says "
      "why.");
  method(c, "__array__", &refuse_conversion,
         "Raise TypeError: call get() to copy the array to the host.",
         {{"dtype", py::none()}, {"copy", py::none()}});
  method(c, "item", &element_at,
         R"doc(Copy one element to the host and return it as a Python number.

Parameters
----------
*index : int
    Nothing for the only element, one number in C order, or one index for each axis.

Returns
-------
int, float, complex, bool, bytes, str or tuple
    Element, converted as by numpy.ndarray.item.

Raises
------
IndexError
    If an index is out of bounds.
ValueError
    If no index is given and the array does not have exactly one element, or the number of indices
    is wrong.
)doc",
         {{"*index"}});
  method(
      c, "tolist", [](const GPUArray& a) { return on_host(a).attr("tolist")(); },
      R"doc(Copy all elements to the host and return them as Python numbers.

Returns
-------
list or scalar
    Lists nested as deep as there are axes; a number for an array without axes.
)doc");
}

}  // namespace PyGPU::python
