// Fields of structured arrays: a["x"] and a[["x", "id"]], views of the same memory.
#include "python/value/fields.h"

namespace PyGPU::python {
namespace {

// Return the view of one field. A field of subarrays appends their axes to those of the array.
GPUArray field_at(const py::object& self, const GPUArray& array, const py::handle& name) {
  const py::object fields = array.dtype.attr("fields");
  const py::object found = fields.is_none() ? py::none() : fields.attr("get")(name);
  if (found.is_none())
    throw py::value_error("no field of name " + repr_of(name) + " in an array of dtype " +
                          text_of(array.dtype));
  py::object dtype = found[py::int_(0)];
  const auto offset = found[py::int_(1)].cast<Index>();
  Axes shape = array.layout().shape(), strides = array.layout().strides();
  const int own = shape.size();
  shape = shape_with_subarray(shape, dtype);
  const std::size_t itemsize = itemsize_of(dtype);
  Axes inner;
  for (int axis = own; axis < shape.size(); ++axis) inner.push_back(shape[axis]);
  const Layout subarray(inner, itemsize);
  for (const Index stride : subarray.strides()) strides.push_back(stride);
  GPUArray view = view_at(self, array, Layout(shape, strides, itemsize), offset);
  view.dtype = std::move(dtype);
  view.has_hidden_fields = false;
  return view;
}

GPUArray several_fields(const py::object& self, const GPUArray& array, const py::handle& names) {
  GPUArray view = view_at(self, array, array.layout(), 0);
  view.dtype = array.dtype[names];  // KeyError for a name that is not there
  view.has_hidden_fields = true;
  return view;
}

}  // namespace

bool is_field_key(PyObject* key) {
  if (PyUnicode_Check(key)) return true;
  return PyList_Check(key) && PyList_GET_SIZE(key) > 0 && PyUnicode_Check(PyList_GET_ITEM(key, 0));
}

GPUArray fields_at(PyObject* self, const GPUArray& array, PyObject* key) {
  if (array.dtype.attr("names").is_none())
    throw py::index_error("an array of dtype " + text_of(array.dtype) + " has no fields, got " +
                          repr_of(key));
  const auto object = py::reinterpret_borrow<py::object>(self);
  return PyUnicode_Check(key) ? field_at(object, array, key) : several_fields(object, array, key);
}

bool has_gaps(const py::object& dtype) {
  if (dtype.attr("names").is_none()) return false;
  std::size_t used = 0;
  for (const py::handle name : dtype.attr("names")) used += itemsize_of(dtype[name]);
  return used < itemsize_of(dtype);
}

std::vector<GPUArray> each_field(const GPUArray& array) {
  std::vector<GPUArray> fields;
  for (const py::handle name : array.dtype.attr("names"))
    fields.push_back(field_at(array.base, array, name));
  return fields;
}

std::vector<std::pair<GPUArray, py::object>> fields_with_values(const GPUArray& array,
                                                                const py::object& value) {
  const py::object dtype = attribute_or_null(value, "dtype");
  const py::object own = dtype ? attribute_or_null(dtype, "names") : dtype;
  const bool is_tuple = py::isinstance<py::tuple>(value);
  const bool is_whole = (!own || own.is_none()) && !is_tuple;
  std::vector<GPUArray> fields = each_field(array);
  const std::size_t count = is_whole ? fields.size() : py::len(is_tuple ? value : own);
  if (count != fields.size())
    throw py::type_error("a[names] = value: value has " + std::to_string(count) +
                         " fields, the selection " + std::to_string(fields.size()));
  std::vector<std::pair<GPUArray, py::object>> pairs;
  for (std::size_t k = 0; k < count; ++k) {
    const py::int_ place(k);
    py::object part = is_whole ? value : is_tuple ? value[place] : value[own[place]];
    pairs.emplace_back(std::move(fields[k]), std::move(part));
  }
  return pairs;
}

}  // namespace PyGPU::python
