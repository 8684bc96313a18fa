// What the functions of arrays in C++ share: their tables, their checks.
#pragma once

#include "python/array/gpuarray.h"

namespace PyGPU::python {

// The docstring of a function that says no more than its signature, for inspect and for a reader.
#define PYGPU_SIGNATURE(text) text "\n--\n\n" text

// Functions of CPython's fast call, for a module. `methods` ends with a row of nulls.
inline void add_functions(py::module_& m, PyMethodDef* methods) {
  if (PyModule_AddFunctions(m.ptr(), methods)) throw py::error_already_set();
}

inline void require_count(const char* name, Py_ssize_t count, Py_ssize_t expected) {
  if (count != expected)
    throw py::type_error(std::string(name) + ": expected " + std::to_string(expected) +
                         " arguments, got " + std::to_string(count));
}

template <py::object (*function)(PyObject* const* given), Py_ssize_t expected>
PyObject* fast(const char* name, PyObject* const* given, Py_ssize_t count) {
  return guarded([&] {
    require_count(name, count, expected);
    return function(given).release().ptr();
  });
}

constexpr Py_ssize_t count_names(const char* text) {
  Py_ssize_t count = 1;
  for (; *text; ++text) count += *text == ',';
  return count;
}

template <class Method>
PyMethodDef fast_row(const char* name, Method method, const char* doc) {
  return {name, as_method(+method), METH_FASTCALL, doc};
}

// The row of a function that is given as many arguments as are named here:
// PYGPU_FAST(_take, take_items, a, indices, axis, mode, stream)
#define PYGPU_FAST(name, function, ...)                                         \
  fast_row(                                                                     \
      #name,                                                                    \
      [](PyObject*, PyObject* const* given, Py_ssize_t count) {                 \
        return fast<&function, count_names(#__VA_ARGS__)>(#name, given, count); \
      },                                                                        \
      PYGPU_SIGNATURE(#name "(" #__VA_ARGS__ ")"))

// The array in an argument. TypeError for anything else.
inline const GPUArray& require_array(const char* name, PyObject* object) {
  if (const GPUArray* const array = gpuarray_in(object)) return *array;
  throw py::type_error(std::string(name) + ": expected a GPUArray, got " +
                       name_of_class(Py_TYPE(object)) +
                       "; to_gpu() sends data of the host to the device, .get() fetches arrays");
}

// a[key] and a[key] = value for one mask or index array on the device. False: a case for Python.
bool select_by_array(const GPUArray& array, PyObject* key, GPUArray& out);
bool assign_by_array(const GPUArray& array, PyObject* key, const py::object& value);
// Masks of so many elements are gone through by one block.
constexpr Index max_items_for_one_block = launch_runs_kernel ? 1 << 14 : 1 << 12;
// The same for masks: the items where one is true; as many values of a's dtype as there are such
// items; one element for all of them, where the mask may be of a's leading axes.
bool select_by_mask(const GPUArray& a, const GPUArray& mask, GPUArray& out);
bool assign_by_mask(const GPUArray& a, const GPUArray& mask, const GPUArray& values);
bool fill_by_mask(const GPUArray& a, const GPUArray& mask, const py::object& value);

void bind_reductions(py::module_& m);
void bind_gather(py::module_& m);
void bind_joining(py::module_& m);

}  // namespace PyGPU::python
