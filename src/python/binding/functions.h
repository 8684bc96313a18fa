// Python functions, methods and properties that wrap C++ functions. A Callable describes each of
// them. Python calls them without making a tuple of arguments. Only the conversion of arguments and
// results is compiled for each signature.
#pragma once

#include <initializer_list>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

#include "python/binding/heap_type.h"
#include "python/binding/numpy.h"

namespace PyGPU::python {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

// Convert a C++ value to Python: tuples, objects, numbers, strings, and instances of the classes
// made by heap_type.h.
template <class Value>
py::object to_python(Value&& value) {
  using T = std::decay_t<Value>;
  if constexpr (is_tuple<T>) {
    return std::apply([](const auto&... members) { return py::make_tuple(to_python(members)...); },
                      value);
  } else if constexpr (std::is_base_of_v<py::object, T>) {
    return std::forward<Value>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return py::bool_(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return py::reinterpret_steal<py::object>(PyLong_FromLongLong(value));
  } else if constexpr (std::is_integral_v<T>) {
    return py::reinterpret_steal<py::object>(PyLong_FromUnsignedLongLong(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return py::float_(value);
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    return py::str(std::string(value));
  } else {
    return instance(std::forward<Value>(value));
  }
}

// Dict with values of type int. Its name in annotations is dict[str, int].
struct IntDict : py::dict {};

// Name of a result type in annotations and docstrings.
template <class T>
std::string result_name();
template <class... T>
std::string tuple_name(const std::tuple<T...>*) {
  std::string names;
  ((names += (names.empty() ? "" : ", ") + result_name<T>()), ...);
  return "tuple[" + names + "]";
}
template <class T>
std::string result_name() {
  if constexpr (is_tuple<T>)
    return tuple_name(static_cast<const T*>(nullptr));
  else if constexpr (std::is_void_v<T>)
    return "None";
  else if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_integral_v<T>)
    return "int";
  else if constexpr (std::is_floating_point_v<T>)
    return "float";
  else if constexpr (std::is_convertible_v<T, std::string>)
    return "str";
  else if constexpr (std::is_same_v<T, py::tuple>)
    return "tuple";
  else if constexpr (std::is_same_v<T, IntDict>)
    return "dict[str, int]";
  else if constexpr (std::is_same_v<T, py::dict>)
    return "dict";
  else if constexpr (std::is_same_v<T, py::list>)
    return "list";
  else if constexpr (std::is_same_v<T, py::bytes>)
    return "bytes";
  else if constexpr (std::is_base_of_v<py::object, T>)
    return "object";
  else
    return name_of_class(type_of<T>);
}

// Name of a parameter's type in annotations, one of the aliases in PyGPU/_types.pyi. annotation_of
// is specialized for classes whose objects are parameters of runtime calls.
template <class T>
constexpr const char* default_annotation() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    return "Int";
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, const char*>)
    return "str";
  else if constexpr (std::is_same_v<T, py::bytes>)
    return "bytes";
  else if constexpr (std::is_pointer_v<T>)
    return "Address";
  else
    return "object";
}
template <class T>
inline constexpr const char* annotation_of = default_annotation<T>();

struct Callable;

// Parameter whose argument is being converted from Python to C++. A TypeError names it.
struct ArgumentPosition {
  const Callable& function;
  std::size_t number;
};
[[noreturn]] void wrong_argument(const ArgumentPosition& position, const std::string& expected,
                                 PyObject* got);
long long read_signed(PyObject* value, const ArgumentPosition& position, long long low,
                      long long high);
unsigned long long read_unsigned(PyObject* value, const ArgumentPosition& position,
                                 unsigned long long high);
bool read_bool(PyObject* value, const ArgumentPosition& position);
std::string read_text(PyObject* value, const ArgumentPosition& position);

template <class T>
struct ArgumentConverter {
  static decltype(auto) read(PyObject* value, const ArgumentPosition& position) {
    if constexpr (std::is_same_v<T, py::handle>) {
      return py::handle(value);
    } else if constexpr (std::is_base_of_v<py::object, T>) {
      if (!py::isinstance<T>(value)) wrong_argument(position, "a " + result_name<T>(), value);
      return py::reinterpret_borrow<T>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return read_bool(value, position);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      using Limits = std::numeric_limits<T>;
      return T(read_signed(value, position, Limits::min(), Limits::max()));
    } else if constexpr (std::is_integral_v<T>) {
      return T(read_unsigned(value, position, std::numeric_limits<T>::max()));
    } else if constexpr (std::is_same_v<T, std::string>) {
      return read_text(value, position);
    } else {
      Held<T>* const found = find<T>(value);
      if (!found) wrong_argument(position, "a " + name_of_class(type_of<T>), value);
      if constexpr (std::is_same_v<T, Held<T>>)
        return (*found);  // a reference
      else
        return (**found);
    }
  }
};

// Name of a Python parameter and its default, if it has one. The parameter "*name" collects the
// remaining positional arguments in a tuple. Parameters after it, or after a bare "*", are
// keyword-only. Defaults are never freed, so that lists of parameters compile to constants.
struct Parameter {
  constexpr Parameter(const char* name_) : name(name_) {}
  template <class Value>
  Parameter(const char* name_, const Value& default_)
      : name(name_), value(to_python(default_).release().ptr()) {}

  const char* name;
  PyObject* value = nullptr;  // null: no default
};
using Parameters = std::initializer_list<Parameter>;

struct Callable {
  using Plain = void (*)();  // pointer to a function of any type
  using Thunk = py::object (*)(const Callable&, PyObject* const* values);

  Plain function;
  Thunk thunk;
  std::string name, doc, text, result;  // text: the signature; result: name of the result type
  const char* const* annotations;       // annotations of the parameters
  bool is_method;                       // true if the first parameter is self
  std::vector<const char*> parameters;  // names of the parameters
  std::vector<PyObject*> names;         // the same names as interned strings
  std::vector<PyObject*> defaults;      // null for a parameter without a default
  std::size_t positional;               // number of parameters that may be passed by position
  int rest = -1;                        // index of the parameter "*name", or -1
  py::object module = py::none();       // __module__, which Python may set
};

template <class R, class... P, std::size_t... i>
R call_with(R (*function)(P...), const Callable& c, PyObject* const* values,
            std::index_sequence<i...>) {
  return function(ArgumentConverter<std::decay_t<P>>::read(values[i], {c, i})...);
}

template <class R, class... P>
struct Thunks {
  using Function = R (*)(P...);
  static R call(const Callable& c, PyObject* const* values) {
    return call_with(reinterpret_cast<Function>(c.function), c, values,
                     std::index_sequence_for<P...>());
  }
  static py::object plain(const Callable& c, PyObject* const* values) {
    if constexpr (std::is_void_v<R>) {
      call(c, values);
      return py::none();
    } else {
      return to_python(call(c, values));
    }
  }
  static py::object init(const Callable& c, PyObject* const* values) {
    hold(values[0], call(c, values));
    return py::none();
  }
};

// Type-erased description of a C++ function: the function, its caller, its number of parameters,
// and the names of the types of its parameters and its result.
struct Signature {
  Callable::Plain function;
  Callable::Thunk thunk;
  std::size_t count;
  const char* const* annotations;
  std::string (*result)();
};
template <class... P>
inline constexpr const char* annotations_of[] = {annotation_of<P>..., nullptr};
template <class R, class... P>
Signature signature(R (*function)(P...)) {
  return {reinterpret_cast<Callable::Plain>(function), &Thunks<R, P...>::plain, sizeof...(P),
          annotations_of<std::decay_t<P>...>, &result_name<std::decay_t<R>>};
}
// Signature of an __init__. The C++ function receives self and the arguments, and returns the value
// that self will hold.
template <class R, class... P>
Signature init_signature(R (*function)(P...)) {
  return {reinterpret_cast<Callable::Plain>(function), &Thunks<R, P...>::init, sizeof...(P),
          annotations_of<std::decay_t<P>...>, &result_name<void>};
}

void add_function(module_& m, const char* name, const Signature& signature, const char* doc,
                  Parameters parameters);
void add_method(const py::object& c, const char* name, const Signature& signature, const char* doc,
                Parameters parameters);
void add_constructor(const py::object& c, const Signature& signature, Parameters parameters);
// Return the docstring in numpydoc's form; docstrings.cpp describes its source, `doc`.
std::string docstring(const Callable& function);

// Getter of all properties. `callable` is the Callable that add_property stored.
PyObject* get_property(PyObject* self, void* callable);
void add_property(const py::object& c, const char* name, const Signature& signature,
                  const char* doc, getter get = &get_property, setter set = nullptr);
// Return the Callable of an __init__, for classes that fill the slot Py_tp_init by init_slot.
Callable constructor_by(const py::object& c, const Signature& signature, Parameters parameters);

template <class Function>
void def(module_& m, const char* name, Function function, const char* doc,
         Parameters parameters = {}) {
  add_function(m, name, signature(+function), doc, parameters);
}
inline void def(module_& m, const char* name, const Signature& signature, const char* doc,
                Parameters parameters = {}) {
  add_function(m, name, signature, doc, parameters);
}

template <class Function>
void method(const py::object& c, const char* name, Function function, const char* doc = "",
            Parameters parameters = {}) {
  add_method(c, name, signature(+function), doc, parameters);
}

// Define __int__ and __index__ by the same function.
template <class Function>
void int_methods(const py::object& c, Function function) {
  method(c, "__int__", function);
  method(c, "__index__", function);
}

template <class Function>
void property(const py::object& c, const char* name, Function function, const char* doc = "") {
  add_property(c, name, signature(+function), doc);
}

// Add the property _as_parameter_: the pointer that ctypes passes for an object, which is its
// address or handle.
void ctypes_parameter(const py::object& c);

template <class Function>
void constructor(const py::object& c, Function function, Parameters parameters = {}) {
  add_constructor(c, init_signature(+function), parameters);
}

// Constructor as a slot, which is faster to call. The class lists the slot
// `{Py_tp_init, as_slot(&init_slot<T>)}`.
template <class T>
inline const Callable* constructor_of = nullptr;
int initialise(const Callable& c, PyObject* self, PyObject* args, PyObject* kwargs);
template <class T>
int init_slot(PyObject* self, PyObject* args, PyObject* kwargs) {
  return initialise(*constructor_of<T>, self, args, kwargs);
}

// Convert a function with one of CPython's calling conventions to the type of PyMethodDef's member.
template <class Method>
PyCFunction as_method(Method method) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
}

void bind_functions(module_& m);

}  // namespace PyGPU::python
