// Conversion of Python arguments to addresses, buffers and shapes.
#include "python/arguments.h"

#include <cstdio>

#include "PyGPU/runtime/capture.h"

namespace PyGPU::python {
namespace {

[[noreturn]] void wrong_type(const char* argument, const char* expected, py::handle got,
                             const char* hint = "") {
  throw py::type_error(std::string(argument) + ": expected " + expected + ", got " +
                       repr_of(py::type::of(got)) + hint);
}

void* address_of_int(py::handle number, const char* argument) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow < 0 || (!overflow && small < 0))
    throw py::value_error(std::string(argument) + ": an address cannot be negative, got " +
                          repr_of(number));
  const std::uintptr_t value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    throw py::value_error(std::string(argument) + ": an address has 64 bits, got " +
                          repr_of(number));
  }
  return reinterpret_cast<void*>(value);
}

FindAddress address_of_array = nullptr;

}  // namespace

void throw_if_from_program(const py::error_already_set& error) {
  // Exceptions raised by Python code have a traceback here.
  if (error.trace() || !(error.matches(PyExc_TypeError) || error.matches(PyExc_ValueError) ||
                         error.matches(PyExc_OverflowError)))
    throw error;
}

void clear_conversion_error() { throw_if_from_program(py::error_already_set()); }

void set_address_of_arrays(FindAddress find) { address_of_array = find; }

std::string hex(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", reinterpret_cast<std::size_t>(address));
  return text;
}

bool is_array(py::handle object) {
  return attribute_or_null(object, "__array__") || attribute_or_null(object, "__dlpack__");
}

bool is_integer(py::handle object) {
  return PyIndex_Check(object.ptr()) && !PyBool_Check(object.ptr()) &&
         (!is_array(object) || py::isinstance(object, module_::import("numpy").attr("generic")));
}

void require_reachable([[maybe_unused]] py::handle object, [[maybe_unused]] const char* argument) {
#if !PYGPU_HAVE_GPU
  const py::object ask = attribute_or_null(object, "__dlpack_device__");
  if (ask && py::tuple(ask())[0].cast<int>() != 1)
    wrong_type(argument, "memory of the host", object, "; its memory is on a GPU");
#endif
}

std::optional<void*> find_address(py::handle object, const char* argument, bool writable) {
  if (PyLong_CheckExact(object.ptr())) return address_of_int(object, argument);
  if (const Pointer* const pointer = find<Pointer>(object.ptr())) return pointer->address;
  if (void* address = nullptr; address_of_array && address_of_array(object.ptr(), &address))
    return address;
  // Only a missing attribute means "not such an object"; the error of a freed array must propagate.
  const py::object interface = attribute_or_null(object, "__cuda_array_interface__");
  if (interface && !interface.is_none()) {
    if (writable && is_read_only(interface))
      throw py::value_error(std::string(argument) + ": the array is read-only");
    require_reachable(object, argument);
    return address_of_int(interface_data(interface)[0], argument);
  }
  if (is_integer(object)) {
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!number) throw py::error_already_set();
    return address_of_int(number, argument);
  }
  const py::object pointer = attribute_or_null(object, "ptr");
  if (pointer && PyLong_Check(pointer.ptr())) return address_of_int(pointer, argument);
  py::object memory = attribute_or_null(object, "gpudata");
  if (!memory)
    if (const py::object get_pointer = attribute_or_null(object, "get_pointer"))
      memory = get_pointer();
  if (!memory || memory.is(object)) return {};
  return memory.is_none() ? nullptr : address_of(memory, argument);
}

void* address_of(py::handle object, const char* argument, bool writable) {
  if (const auto found = find_address(object, argument, writable)) return *found;
  const bool has_elements = is_array(object);
  if (!PyFloat_Check(object.ptr()) && !PyBool_Check(object.ptr()) && !has_elements &&
      attribute_or_null(object, "__int__"))
    return address_of_int(py::int_(py::reinterpret_borrow<py::object>(object)), argument);
  wrong_type(argument, "an address: an int, device memory, or an object with .ptr", object,
             has_elements ? "; gpuarray.to_gpu(numpy.asarray(x)) copies an array of the host" : "");
}

py::tuple interface_data(const py::object& interface) {
  py::object data;
  if (PyDict_Check(interface.ptr())) data = interface.attr("get")("data");
  if (!data || !(py::isinstance<py::tuple>(data) || py::isinstance<py::list>(data)) ||
      py::len(data) != 2)
    throw py::type_error("__cuda_array_interface__: expected a dict with data=(address, is it " +
                         ("read-only?), got " + repr_of(interface)));
  return py::tuple(data);
}

bool is_read_only(const py::object& interface) { return is_true(interface_data(interface)[1]); }

bool is_buffer(py::handle object) {
  return PyObject_CheckBuffer(object.ptr()) && !is_integer(object);
}

std::shared_ptr<py::buffer_info> view_buffer(py::handle object) {
  const auto buffer = py::reinterpret_borrow<py::buffer>(object);
  try {
    return std::make_shared<py::buffer_info>(buffer.request(true));
  } catch (const py::error_already_set& error) {  // a read-only buffer can still be read
    if (!error.matches(PyExc_Exception)) throw;
    return std::make_shared<py::buffer_info>(buffer.request(false));
  }
}

std::optional<CopyEnd> end_in_ndarray(py::handle object, bool writable) {
  if (!np::is_array(object.ptr())) return {};
  const auto array = py::reinterpret_borrow<np::array>(object);
  if (!array.is_contiguous() || (writable && !array.writeable()) || array.dtype().has_object())
    return {};
  const auto nbytes = std::size_t(array.size() * array.dtype().itemsize());
  return CopyEnd{const_cast<void*>(array.data()), nbytes, nullptr};
}

CopyEnd copy_end(py::handle object, const char* argument, bool writable) {
  if (!Capture::current())  // otherwise a graph keeps the view
    if (const auto end = end_in_ndarray(object, writable)) return *end;
  if (!is_buffer(object)) return {address_of(object, argument), SIZE_MAX, nullptr};
  const auto view = view_buffer(object);
  const Py_buffer* raw = view->view();
  if (writable && view->readonly)
    throw py::value_error(std::string(argument) + ": the buffer is read-only");
  if (!PyBuffer_IsContiguous(raw, 'A'))
    throw py::value_error(std::string(argument) +
                          ": the buffer is not contiguous; expected a contiguous buffer");
  return {raw->buf, std::size_t(raw->len), view};
}

Axes axes_of(py::handle object, const char* argument) {
  Axes axes;
  auto add = [&](PyObject* item) {
    if (!PyIndex_Check(item)) wrong_type(argument, "ints", item);
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item));
    if (!number) throw py::error_already_set();
    int overflow = 0;
    const Index value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow)
      throw py::value_error(std::string(argument) + ": " + repr_of(number) +
                            " does not fit into 64 bits");
    axes.push_back(value);
  };
  // Copy to a tuple first: an item's __index__ may change a list, and a sequence may create its
  // items on access.
  const auto add_all = [&](PyObject* sequence) {
    const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(sequence));
    if (!items) throw py::error_already_set();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i)
      add(PyTuple_GET_ITEM(items.ptr(), i));
    return axes;
  };
  PyObject* const source = object.ptr();
  if (PyTuple_Check(source) || PyList_Check(source)) return add_all(source);
  const bool is_vector =
      py::isinstance<np::array>(object) && py::reinterpret_borrow<np::array>(object).ndim() == 1;
  if (PyIndex_Check(source) && !is_vector) {
    add(source);
    return axes;
  }
  if (PySequence_Check(source) && !PyUnicode_Check(source) && !PyBytes_Check(source))
    return add_all(source);
  wrong_type(argument, "an int or a sequence of ints", object);
}

int axis_index(py::handle axis, int ndim) {
  if (!PyIndex_Check(axis.ptr())) wrong_type("axis", "an int", axis);
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(axis.ptr()));
  if (!number) throw py::error_already_set();
  const Py_ssize_t at = PyNumber_AsSsize_t(number.ptr(), nullptr);
  if (at < -ndim || at >= ndim) {
    const module_ numpy = module_::import("numpy");
    const py::object found = attribute_or_null(numpy, "exceptions");  // since NumPy 1.25
    const py::object error = (found ? found : numpy).attr("AxisError");
    PyErr_SetObject(error.ptr(), py::object(error(number, ndim, "axis")).ptr());
    throw py::error_already_set();
  }
  return int(at < 0 ? at + ndim : at);
}

Order order_of(py::handle order) {
  if (PyUnicode_Check(order.ptr())) {
    if (PyUnicode_CompareWithASCIIString(order.ptr(), "C") == 0) return Order::c;
    if (PyUnicode_CompareWithASCIIString(order.ptr(), "F") == 0) return Order::f;
    throw py::value_error("order: expected 'C' or 'F', got " + repr_of(order));
  }
  throw py::type_error("order: expected 'C' or 'F', got " + repr_of(order));
}

py::tuple tuple_of(const Axes& axes) {
  py::tuple tuple(axes.size());
  for (int i = 0; i < axes.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(axes[i]));
  return tuple;
}

}  // namespace PyGPU::python
