// Functions of a user's library for PyGPU.load(): their names, types, and calls.
//
//     #include <PyGPU/export.h>
//
//     int scale(double* values, long count, double factor, cudaStream_t stream);
//     PYGPU_EXPORT(scale);                                       // Library.scale
//     PYGPU_EXPORT_AS(axpy_f64, axpy<double>);                   // an instance of a template
//     PYGPU_EXPORT_AS(fill_int, static_cast<void (*)(int)>(fill));  // one of several overloads
//
// The macros stand at namespace scope, after the function's declaration. The compiler writes the
// types of the parameters and of the result into the library, so they cannot differ from the
// function's. A C++ exception that leaves the function becomes Python's RuntimeError.
//
// Parameters may be numbers, enumerations, pointers, streams, and trivially copyable classes by
// value. Results may be numbers, enumerations, pointers, errors of the runtime, and void.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "type_kinds.h"
#include "vendor/last_error.h"

// The tables as PyGPU reads them. A change of their layout renames PyGPU_exports_1.
extern "C" {

// Their kinds are those of type_kinds.h.
struct PyGPUExportedElement {
  char kind;
  unsigned nbytes;  // 0: unknown
};
struct PyGPUExportedType {
  char kind;
  unsigned nbytes;
  bool is_const;                   // for a pointer: its elements are constant
  PyGPUExportedElement element;    // for a pointer: its elements
  PyGPUExportedElement component;  // for a pointer to vectors such as float3: the vector's numbers
};
struct PyGPUExportedFunction {
  const char* name;
  const PyGPUExportedType* parameters;
  unsigned count;
  PyGPUExportedType result;
  // Call the function with the values at `arguments`, and store its result. Return the error that
  // it left in its copy of the runtime. Return -1 after a C++ exception, and store its text.
  int (*call)(void* const* arguments, void* result, char* text, std::size_t capacity);
  const PyGPUExportedFunction* next;
};

}  // extern "C"

namespace PyGPU {
namespace library {

template <class T>
constexpr PyGPUExportedElement element_of() {
  const char kind = kind_of<T>();
  return {kind == 'v' ? '?' : kind == 'E' ? 'i' : kind == 'S' ? 'P' : kind, SizeOf<T>::value};
}

template <class T>
constexpr PyGPUExportedElement component_of() {
  if constexpr (is_cuda_vector<T>())
    return element_of<std::decay_t<decltype(std::declval<T>().x)>>();
  else
    return {'?', 0};
}

template <class T>
constexpr PyGPUExportedType type_of() {
  if constexpr (std::is_pointer<T>::value && !is_stream<T>) {
    using Pointee = std::remove_pointer_t<T>;
    using Element = std::remove_cv_t<Pointee>;
    if constexpr (std::is_function<Pointee>::value)
      return {'P', sizeof(T), true, {'?', 0}, {'?', 0}};
    else
      return {'P', sizeof(T), std::is_const<Pointee>::value, element_of<Element>(),
              component_of<Element>()};
  } else {
    return {kind_of<T>(), SizeOf<T>::value, false, {'?', 0}, {'?', 0}};
  }
}

template <class T>
constexpr bool check_parameter() {
  static_assert(!std::is_reference<T>::value,
                "PYGPU_EXPORT: a parameter is a reference; export a function with a pointer or a "
                "value instead");
  static_assert(!std::is_same<T, long double>::value,
                "PYGPU_EXPORT: a parameter is a long double, for which NumPy and GPUs have no "
                "common type");
  static_assert(std::is_trivially_copyable<T>::value,
                "PYGPU_EXPORT: a parameter is a class that is not trivially copyable, so it has no "
                "bytes that Python could pass");
  return true;
}

template <class R>
constexpr bool check_result() {
  static_assert(std::is_void<R>::value || std::is_pointer<R>::value || std::is_enum<R>::value ||
                    (std::is_arithmetic<R>::value && !std::is_same<R, long double>::value),
                "PYGPU_EXPORT: the result must be void, a number, an enumeration or a pointer");
  return true;
}

template <class T>
T value_at(const void* bytes) {
  alignas(T) char room[sizeof(T)];  // the bytes may be aligned less than a T
  std::memcpy(room, bytes, sizeof(T));
  return *std::launder(reinterpret_cast<T*>(room));
}

inline void copy_text(const char* from, char* to, std::size_t capacity) {
  std::strncpy(to, from, capacity - 1);
  to[capacity - 1] = 0;
}

template <class Function, Function function>
struct Export;

template <class R, class... P, R (*function)(P...)>
struct Export<R (*)(P...), function> {
  static_assert(check_result<R>() && (check_parameter<P>() && ...), "");
  // A last row, because C++ has no arrays of size 0.
  static constexpr PyGPUExportedType parameters[] = {type_of<std::remove_cv_t<P>>()..., {}};
  static constexpr unsigned count = sizeof...(P);
  static constexpr PyGPUExportedType result = type_of<std::remove_cv_t<R>>();

  template <std::size_t... i>
  static void run([[maybe_unused]] void* const* arguments, [[maybe_unused]] void* to,
                  std::index_sequence<i...>) {
    if constexpr (std::is_void<R>::value) {
      function(value_at<P>(arguments[i])...);
    } else {
      const R made = function(value_at<P>(arguments[i])...);
      std::memcpy(to, &made, sizeof made);
    }
  }
  static int call(void* const* arguments, void* to, char* text, std::size_t capacity) {
    try {
      run(arguments, to, std::index_sequence_for<P...>());
      return PyGPU_take_last_error();
    } catch (const std::exception& error) {  // PyGPU catches others; pthread_exit must pass
      copy_text(error.what(), text, capacity);
      return -1;
    }
  }
};
template <class R, class... P, R (*function)(P...) noexcept>
struct Export<R (*)(P...) noexcept, function> : Export<R (*)(P...), function> {};

// Each library has a list of its own: the symbol is hidden.
__attribute__((visibility("hidden"))) inline const PyGPUExportedFunction* first_export = nullptr;

struct Registration {
  PyGPUExportedFunction row;
  template <class Entry>
  Registration(const char* name, Entry)
      : row{name, Entry::parameters, Entry::count, Entry::result, &Entry::call, first_export} {
    for (const char* at = name; *at; ++at)  // the name without its namespaces
      if (*at == ':') row.name = at + 1;
    first_export = &row;
  }
};

}  // namespace library
}  // namespace PyGPU

extern "C" __attribute__((weak, used, visibility("default"))) const PyGPUExportedFunction*
PyGPU_exports_1() {
  return PyGPU::library::first_export;
}

#define PYGPU_JOINED_NAME(a, b) a##b
#define PYGPU_REGISTER(number, name, ...)                                               \
  static const ::PyGPU::library::Registration PYGPU_JOINED_NAME(PyGPU_export_, number)( \
      name, ::PyGPU::library::Export<decltype(+(__VA_ARGS__)), (__VA_ARGS__)>())
#define PYGPU_EXPORT(function) PYGPU_REGISTER(__COUNTER__, #function, function)
#define PYGPU_EXPORT_AS(name, ...) PYGPU_REGISTER(__COUNTER__, #name, __VA_ARGS__)
