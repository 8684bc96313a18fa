// Functions of CPython's fast call with a fixed number of arguments, as rows of method tables.
#pragma once

#include "python/binding/functions.h"

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

}  // namespace PyGPU::python
