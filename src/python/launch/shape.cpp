// Launch shape: conversion of grid=, block= and shared= from Python objects. See shape.h.
#include "python/launch/shape.h"

namespace PyGPU::python {
namespace {

constexpr char expected_lengths[] = "one to three integers from 1 to 4294967295";

[[noreturn]] void raise_invalid_argument(const char* name, PyObject* value, const char* expected) {
  throw DeviceError("launch", {cudaErrorInvalidValue, std::string(name) + "=" + repr_of(value) +
                                                          ": expected " + expected});
}

// Convert an item of the argument `shape`, which is called `name`.
unsigned length_of(const char* name, PyObject* shape, PyObject* item) {
  if (PyLong_CheckExact(item)) {
    const long value = PyLong_AsLong(item);
    if (value >= 1 && value <= 0xffffffffL) return unsigned(value);
    PyErr_Clear();
  }
  if (!PyIndex_Check(item)) raise_invalid_argument(name, shape, expected_lengths);
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow || value < 1 || value > 0xffffffffLL)
    raise_invalid_argument(name, shape, expected_lengths);
  return unsigned(value);
}

}  // namespace

dim3 shape_of(const char* name, PyObject* value) {
  if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) <= 3 && PyTuple_GET_SIZE(value) > 0) {
    dim3 shape(1, 1, 1);
    shape.x = length_of(name, value, PyTuple_GET_ITEM(value, 0));
    if (PyTuple_GET_SIZE(value) > 1) shape.y = length_of(name, value, PyTuple_GET_ITEM(value, 1));
    if (PyTuple_GET_SIZE(value) > 2) shape.z = length_of(name, value, PyTuple_GET_ITEM(value, 2));
    return shape;
  }
  unsigned lengths[3] = {1, 1, 1};
  if (PyIndex_Check(value) && !PySequence_Check(value)) {
    lengths[0] = length_of(name, value, value);
  } else {
    const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(value));
    if (!items) {
      clear_conversion_error();
      raise_invalid_argument(name, value, expected_lengths);
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
    if (count < 1 || count > 3) raise_invalid_argument(name, value, expected_lengths);
    for (Py_ssize_t i = 0; i < count; ++i)
      lengths[i] = length_of(name, value, PyTuple_GET_ITEM(items.ptr(), i));
  }
  return dim3(lengths[0], lengths[1], lengths[2]);
}

std::size_t shared_bytes_of(PyObject* value) {
  if (!PyIndex_Check(value))
    throw py::type_error("shared=" + repr_of(value) + ": expected an integer, got a " +
                         name_of_class(Py_TYPE(value)));
  const Py_ssize_t bytes = PyNumber_AsSsize_t(value, PyExc_OverflowError);
  if (bytes == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (bytes < 0 || bytes > 0x7fffffff)
    raise_invalid_argument("shared", value, "a number of bytes from 0 to 2147483647");
  return std::size_t(bytes);
}

}  // namespace PyGPU::python
