// Python's index expressions as the layout's index items.
#include <cstring>

#include "gpuarray.h"

namespace PyGPU::python {
namespace {

[[noreturn]] void not_an_index(py::handle item) {
  throw py::index_error("expected an int, a slice, '...' or None as index, got " +
                        py::repr(item).cast<std::string>());
}

// An index value; the clip that Python's own sequences give to ints beyond 64 bits.
Index whole_number(PyObject* object) {
  const Py_ssize_t value = PyNumber_AsSsize_t(object, nullptr);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

IndexItem slice_item(PyObject* object) {
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  IndexItem item{IndexItem::Kind::slice};
  item.has_start = slice->start != Py_None;
  item.has_stop = slice->stop != Py_None;
  if (item.has_start) item.start = whole_number(slice->start);
  if (item.has_stop) item.stop = whole_number(slice->stop);
  if (slice->step != Py_None) item.step = whole_number(slice->step);
  return item;
}

IndexItem index_item(PyObject* object) {
  if (PySlice_Check(object)) return slice_item(object);
  if (object == Py_Ellipsis) return {IndexItem::Kind::ellipsis};
  if (object == Py_None) return {IndexItem::Kind::new_axis};
  // Arrays have the index slot too, but select by their elements, which views cannot do.
  const bool is_array =
      py::isinstance<py::array>(object) && py::reinterpret_borrow<py::array>(object).ndim() > 0;
  // Older NumPys let their bools pass for 0 and 1; they are masks.
  const bool is_mask = std::strncmp(Py_TYPE(object)->tp_name, "numpy.bool", 10) == 0;
  if (!PyIndex_Check(object) || is_array || is_mask) not_an_index(object);
  IndexItem item{IndexItem::Kind::integer};
  try {
    item.start = whole_number(object);
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_TypeError)) not_an_index(object);
    throw;
  }
  return item;
}

}  // namespace

std::vector<IndexItem> index_items(py::handle key) {
  std::vector<IndexItem> items;
  if (PyTuple_Check(key.ptr())) {
    const Py_ssize_t count = PyTuple_GET_SIZE(key.ptr());
    items.reserve(std::size_t(count));
    for (Py_ssize_t i = 0; i < count; ++i)
      items.push_back(index_item(PyTuple_GET_ITEM(key.ptr(), i)));
  } else {
    items.push_back(index_item(key.ptr()));
  }
  return items;
}

}  // namespace PyGPU::python
