// Helpers of the array functions in C++: method tables and argument checks.
#pragma once

#include "python/array/gpuarray.h"

namespace PyGPU::python {

// A docstring that consists of the signature, for inspect and for readers.
#define PYGPU_SIGNATURE(text) text "\n--\n\n" text

// Add functions of CPython's fast call to a module. `methods` ends with a row of nulls.
inline void add_functions(module_& m, PyMethodDef* methods) {
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

// Table row of a function with a fixed number of arguments, named here:
// PYGPU_FAST(_take, take_items, a, indices, axis, mode, stream)
#define PYGPU_FAST(name, function, ...)                                         \
  fast_row(                                                                     \
      #name,                                                                    \
      [](PyObject*, PyObject* const* given, Py_ssize_t count) {                 \
        return fast<&function, count_names(#__VA_ARGS__)>(#name, given, count); \
      },                                                                        \
      PYGPU_SIGNATURE(#name "(" #__VA_ARGS__ ")"))

// Return the array in an argument. TypeError for other objects.
inline const GPUArray& require_array(const char* name, PyObject* object) {
  if (const GPUArray* const array = gpuarray_in(object)) return *array;
  throw py::type_error(std::string(name) + ": expected a GPUArray, got " +
                       name_of_class(Py_TYPE(object)) +
                       "; call to_gpu() to copy an ndarray to the device");
}

// Index with one mask or index array on the device: a[key] and a[key] = value. Return false for a
// case that Python handles.
bool select_by_array(const GPUArray& array, PyObject* key, GPUArray& out);
bool assign_by_array(const GPUArray& array, PyObject* key, const py::object& value);
// Largest mask that one block processes.
constexpr Index max_items_for_one_block = launch_runs_kernel ? 1 << 14 : 1 << 12;
// Index with a mask. select_by_mask returns the items where the mask is true. assign_by_mask
// assigns as many values as there are such items, of the dtype of `a`. fill_by_mask assigns one
// value to all of them; its mask may be of the leading axes of `a`. Return false for a case that
// Python handles.
bool select_by_mask(const GPUArray& a, const GPUArray& mask, GPUArray& out);
bool assign_by_mask(const GPUArray& a, const GPUArray& mask, const GPUArray& values);
bool fill_by_mask(const GPUArray& a, const GPUArray& mask, const py::object& value);

void bind_reductions(module_& m);
void bind_gather(module_& m);
void bind_joining(module_& m);
void bind_pickling(module_& m);

}  // namespace PyGPU::python
