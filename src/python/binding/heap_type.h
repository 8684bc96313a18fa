// Classes of PyGPU in one style: heap types whose instances store their C++ value in place. The
// value is created by __init__ or by C++; using an instance without a value raises TypeError.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "PyGPU/runtime/capture.h"
#include "python/binding/gil.h"
#include "python/binding/objects.h"

namespace PyGPU::python {

// Stored type of an instance of the class for T: T itself, or a shared pointer where C++ keeps the
// value as well.
template <class T>
struct HeldAs {
  using Type = T;
};
template <class T>
struct HeldAs<std::shared_ptr<T>> : HeldAs<T> {};
template <class T>
using Held = typename HeldAs<T>::Type;

template <class Value>
struct Instance {
  PyObject_HEAD PyObject* weakrefs;
  vectorcallfunc call;  // used by classes with Py_tp_call
  bool made;
  alignas(Value) unsigned char room[sizeof(Value)];
  Value* value() { return std::launder(reinterpret_cast<Value*>(room)); }
};

template <class T>
Instance<Held<T>>* instance_at(PyObject* object) {
  return reinterpret_cast<Instance<Held<T>>*>(object);
}

// Python class for T; null until it was created.
template <class T>
inline PyTypeObject* type_of = nullptr;

template <class T>
bool is(py::handle object) {
  return PyObject_TypeCheck(object.ptr(), type_of<T>);
}

[[noreturn]] void throw_no_value();
[[noreturn]] void throw_second_init(PyObject* object);
[[noreturn]] void throw_wrong_class(PyTypeObject* expected, PyObject* got);
std::string name_of_class(PyTypeObject* type);

// Hook that runs before each use of a value; overloaded for types that need one.
template <class Value>
void before_use(Value&) {}

// Return the stored value, or null if the object is of another class. Throws TypeError if the
// instance has no value.
template <class T>
Held<T>* find_without_refresh(PyObject* object) {
  if (!is<T>(object)) return nullptr;
  if (!instance_at<T>(object)->made) throw_no_value();
  return instance_at<T>(object)->value();
}
template <class T>
Held<T>* find(PyObject* object) {
  Held<T>* const value = find_without_refresh<T>(object);
  if (value) before_use(*value);
  return value;
}

// Like find, but throws TypeError for objects of another class.
template <class T>
Held<T>& held(py::handle object) {
  if (auto* const found = find<T>(object.ptr())) return *found;
  throw_wrong_class(type_of<T>, object.ptr());
}

// Store the value that __init__ created. A second __init__ is refused, because another thread may
// be using the first value.
template <class Value>
void hold(PyObject* object, Value&& value) {
  using T = std::decay_t<Value>;
  static_assert(std::is_same_v<T, Held<T>>);
  auto* const instance = instance_at<T>(object);
  if (instance->made) throw_second_init(object);
  new (instance->room) T(std::forward<Value>(value));
  instance->made = true;
}

PyObject* no_arguments();
// New object by the class's own __new__, which a Python subclass may have replaced.
py::object new_object(PyTypeObject* type, PyTypeObject* expected);

// New object around a value, of the class for T or of a Python subclass of it.
template <class Value, class T = std::decay_t<Value>>
py::object instance_of(PyTypeObject* type, Value&& value) {
  if (type != type_of<T> || !PyType_IS_GC(type)) {
    py::object made = new_object(type, type_of<T>);
    hold(made.ptr(), std::forward<Value>(value));
    return made;
  }
  auto* const made = PyObject_GC_New(Instance<T>, type);  // avoids zeroing the memory of the value
  if (!made) throw py::error_already_set();
  made->weakrefs = nullptr;
  made->call = nullptr;
  new (made->room) T(std::forward<Value>(value));
  made->made = true;
  PyObject_GC_Track(made);
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(made));
}
template <class Value>
py::object instance(Value&& value) {
  return instance_of(type_of<std::decay_t<Value>>, std::forward<Value>(value));
}

// Destroy a value later, in another call: the runtime is calling a function in this thread, and
// allows no call there that would release the value.
template <class Value>
void destroy_later(Value& value) {
  const std::shared_ptr<Value> later(new Value(std::move(value)), [](Value* moved) {
    if (!may_take_gil()) return;
    const Gil held = take_gil();
    delete moved;
  });
  postpone(later);
}

template <class T>
void delete_instance(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(self);
  auto* const instance = instance_at<T>(self);
  if (instance->weakrefs) PyObject_ClearWeakRefs(self);
  if (instance->made) {
    const py::error_scope kept;
    if constexpr (!std::is_trivially_destructible_v<Held<T>>)
      if (in_host_function) destroy_later(*instance->value());
    std::destroy_at(instance->value());
  }
  type->tp_free(self);
  Py_DECREF(type);
}

using Slots = std::vector<PyType_Slot>;

template <class Slot>
void* as_slot(Slot* function) {
  return reinterpret_cast<void*>(function);
}

py::object make_type(module_& m, const char* name, const char* doc, std::size_t size, Slots slots,
                     unsigned flags, PyTypeObject* base);

// Create a class and add it to the module. Python code may subclass it and add attributes.
template <class T>
py::object new_class(module_& m, const char* name, const char* doc, Slots slots = {},
                     unsigned flags = 0) {
  slots.push_back({Py_tp_dealloc, as_slot(&delete_instance<T>)});
  py::object made =
      make_type(m, name, doc, sizeof(Instance<Held<T>>), std::move(slots), flags, nullptr);
  auto* const type = reinterpret_cast<PyTypeObject*>(py::object(made).release().ptr());
  type_of<T> = type;
  type_of<Held<T>> = type;
  return made;
}
// Create a subclass that stores the same C++ type as its base.
template <class T>
py::object new_subclass(module_& m, const char* name, const char* doc, Slots slots = {}) {
  slots.push_back({Py_tp_dealloc, as_slot(&delete_instance<T>)});
  return make_type(m, name, doc, sizeof(Instance<Held<T>>), std::move(slots), 0, type_of<T>);
}

}  // namespace PyGPU::python
