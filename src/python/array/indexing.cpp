// Indexing: a[key] and a[key] = value. Keys of ints, slices, '...' and None create views here.
// Masks and index arrays select single elements: gather.cpp, masks.cpp and
// PyGPU/_arrays/indexing.py.
#include <cstring>

#include "PyGPU/arrays/loop.h"
#include "python/array/slots.h"
#include "python/launch/specializations.h"
#include "python/operations/copies.h"
#include "python/operations/elements.h"
#include "python/operations/gather.h"
#include "python/operations/operators.h"
#include "python/value/fields.h"

namespace PyGPU::python {
namespace {

[[noreturn]] void not_an_index(py::handle item) {
  throw py::index_error("expected ints, slices, '...', None, masks or arrays of integers, got " +
                        repr_of(item) +
                        (PyUnicode_Check(item.ptr()) ? "; a[name] selects a field alone" : ""));
}

// Return an index. Ints beyond 64 bits are clipped, as for Python's own sequences.
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

// Return true for masks, lists and arrays. Python's bools and those of older NumPys would convert
// to the ints 0 and 1, but they are masks.
bool selects_elements(PyObject* object) {
  if (py::isinstance<np::array>(object)) {
    const auto array = py::reinterpret_borrow<np::array>(object);
    return array.ndim() > 0 || array.dtype().kind() == 'b';
  }
  return PyBool_Check(object) || PyList_Check(object) || gpuarray_in(object) ||
         std::strncmp(Py_TYPE(object)->tp_name, "numpy.bool", 10) == 0;
}

// Append the item. Return false for an item that selects element by element.
bool add_item(std::vector<IndexItem>& items, PyObject* object) {
  if (PySlice_Check(object)) {
    items.push_back(slice_item(object));
  } else if (object == Py_Ellipsis) {
    items.push_back({IndexItem::Kind::ellipsis});
  } else if (object == Py_None) {
    items.push_back({IndexItem::Kind::new_axis});
  } else if (!PyLong_CheckExact(object) && selects_elements(object)) {
    return false;
  } else if (PyIndex_Check(object)) {
    items.push_back({IndexItem::Kind::integer});
    items.back().start = PyNumber_AsSsize_t(object, nullptr);
    if (items.back().start == -1 && PyErr_Occurred()) {
      clear_conversion_error();  // NumPy's arrays of floats have an __index__ that fails
      not_an_index(object);
    }
  } else {
    not_an_index(object);
  }
  return true;
}

bool index_items(std::vector<IndexItem>& items, PyObject* key) {
  if (!PyTuple_Check(key)) return add_item(items, key);
  items.reserve(std::size_t(PyTuple_GET_SIZE(key)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i)
    if (!add_item(items, PyTuple_GET_ITEM(key, i))) return false;
  return true;
}

GPUArray view_at(PyObject* self, const GPUArray& array, const std::vector<IndexItem>& items) {
  const View view = array.layout().index(items);
  return view_at(py::reinterpret_borrow<py::object>(self), array, view.layout, view.offset);
}

std::string dtypes_text(const py::object& value, const GPUArray& target) {
  return "a[index] = value: value has dtype " + text_of(value) + ", the array " +
         text_of(target.dtype) + ": convert it with .astype()";
}

// Return the number of leading axes of length one that NumPy ignores in a value.
int axes_too_many(const Axes& value, const Axes& target) {
  int count = 0;
  while (value.size() - count > target.size() && value[count] == 1) ++count;
  return count;
}

void assign_array(const GPUArray& target, const GPUArray& source) {
  if (!source.dtype.equal(target.dtype)) throw py::type_error(dtypes_text(source.dtype, target));
  GPUArray fitted = source;
  const Axes& shape = target.layout().shape();
  if (const int extra = axes_too_many(source.layout().shape(), shape)) {
    const std::vector<IndexItem> first(std::size_t(extra), {IndexItem::Kind::integer});
    fitted.core = source.core.view(source.layout().index(first).layout);
  }
  const Axes own = fitted.layout().shape();
  if (own != shape) {
    if (!is_broadcastable_to(own, shape))
      throw py::value_error("a[index] = value: value has shape " + own.text() + ", the selection " +
                            shape.text());
    fitted.core = fitted.core.view(broadcast_to(fitted.layout(), shape));
  }
  set_from_device(target, fitted, nullptr);
}

// Assign one element to the whole target: with a kernel if the dtype has arithmetic and a compiler
// is available, else by a copy from the host.
void assign_element(const GPUArray& target, const py::object& value) {
  const np::array host = element_of(target.dtype, value);
  if (find_code(target.dtype) >= 0 &&
      with_compiler([&] { fill(target, host.attr("__getitem__")(py::tuple()), default_stream()); }))
    return;
  const module_ numpy = module_::import("numpy");
  set_from_host(target, numpy.attr("broadcast_to")(host, tuple_of(target.layout().shape())),
                nullptr);
}

void assign(const GPUArray& target, const py::object& value) {
  if (target.has_hidden_fields) {
    for (const auto& [field, part] : fields_with_values(target, value)) assign(field, part);
    return;
  }
  if (const GPUArray* source = gpuarray_in(value.ptr())) return assign_array(target, *source);
  if (py::isinstance<np::array>(value) && py::reinterpret_borrow<np::array>(value).ndim() > 0) {
    if (!py::object(value.attr("dtype")).equal(target.dtype))
      throw py::type_error(dtypes_text(value.attr("dtype"), target));
    const module_ numpy = module_::import("numpy");
    const Axes& shape = target.layout().shape();
    py::object fitted = value;
    if (const py::tuple own = value.attr("shape"); int(own.size()) > shape.size())
      fitted = value.attr("reshape")(
          own[py::slice(axes_too_many(axes_of(own, "value"), shape), py::ssize_t(own.size()), 1)]);
    return set_from_host(target, numpy.attr("broadcast_to")(fitted, tuple_of(shape)), nullptr);
  }
  if (value.is_none() || py::isinstance<py::list>(value))
    throw py::type_error("a[index] = value: expected a scalar, an ndarray or a GPUArray, got " +
                         repr_of(value));
  assign_element(target, value);
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded(
      [&] {
        std::vector<IndexItem> items;
        const GPUArray& array = *gpuarray_in(self);
        if (is_field_key(key)) return wrap(fields_at(self, array, key)).release().ptr();
        if (index_items(items, key)) return wrap(view_at(self, array, items)).release().ptr();
        GPUArray chosen({}, py::none(), py::none());
        if (select_by_array(array, key, chosen)) return wrap(std::move(chosen)).release().ptr();
        return hook(Hook::get_item)(py::handle(self), py::handle(key)).release().ptr();
      },
      static_cast<PyObject*>(nullptr));
}

// Iteration starts at 0 and ends with an IndexError. There is no __iter__, because programs
// distinguish arrays from lists by it.
PyObject* item(PyObject* self, Py_ssize_t number) {
  return guarded(
      [&] {
        if (gpuarray_in(self)->layout().ndim() == 0)
          throw py::type_error("iteration over a 0-d array");
        if (number < 0)
          throw py::index_error("index out of range");  // CPython has already added the length
        const std::vector<IndexItem> items{{IndexItem::Kind::integer, number}};
        return wrap(view_at(self, *gpuarray_in(self), items)).release().ptr();
      },
      static_cast<PyObject*>(nullptr));
}

// Assign to the elements that masks and index arrays select in a view of several fields.
void assign_to_each_field(const GPUArray& array, PyObject* key, const py::object& value) {
  for (auto& [field, part] : fields_with_values(array, value)) {
    const py::object target = wrap(std::move(field));
    if (PyObject_SetItem(target.ptr(), key, part.ptr())) throw py::error_already_set();
  }
}

void set_part(PyObject* self, PyObject* key, const py::object& value) {
  std::vector<IndexItem> items;
  const GPUArray& array = *gpuarray_in(self);
  if (is_field_key(key)) return assign(fields_at(self, array, key), value);
  if (index_items(items, key)) return assign(view_at(self, array, items), value);
  if (array.has_hidden_fields) return assign_to_each_field(array, key, value);
  if (!assign_by_array(array, key, value))
    hook(Hook::set_item)(py::handle(self), py::handle(key), value);
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(
      [&] {
        if (!value) throw py::type_error("del a[index]: elements of a GPUArray cannot be deleted");
        set_part(self, key, py::reinterpret_borrow<py::object>(value));
        return 0;
      },
      -1);
}

Py_ssize_t length(PyObject* self) {
  return guarded(
      [&]() -> Py_ssize_t {
        const Layout& layout = gpuarray_in(self)->layout();
        if (layout.ndim() == 0) throw py::type_error("len() of a 0-d array");
        return layout.shape()[0];
      },
      Py_ssize_t(-1));
}

}  // namespace

void add_indexing(Slots& slots) {
  slots.push_back({Py_mp_subscript, as_slot(&get_item)});
  slots.push_back({Py_mp_ass_subscript, as_slot(&set_item)});
  slots.push_back({Py_mp_length, as_slot(&length)});
  slots.push_back({Py_sq_item, as_slot(&item)});
  slots.push_back({Py_sq_length, as_slot(&length)});
}

}  // namespace PyGPU::python
