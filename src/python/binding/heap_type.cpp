// Creation of heap types. See heap_type.h.
#include "python/binding/heap_type.h"

#include <cstring>

namespace PyGPU::python {
namespace {

int refuse_init(PyObject* self, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s: objects of this class cannot be made by calling it",
               Py_TYPE(self)->tp_name);
  return -1;
}

bool has(const Slots& slots, int number) {
  for (const PyType_Slot& slot : slots)
    if (slot.slot == number) return true;
  return false;
}

}  // namespace

std::string text_of(py::handle object) { return py::str(object).cast<std::string>(); }
std::string repr_of(py::handle object) { return py::repr(object).cast<std::string>(); }

py::object attribute_or_null(py::handle object, const char* name) {
  auto found = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object.ptr(), name));
  if (!found) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
    PyErr_Clear();
  }
  return found;
}

bool is_true(py::handle object) {
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth == 1;
}

void throw_no_value() {
  throw py::type_error("this object was not made: its __init__ failed or was not called");
}

void throw_second_init(PyObject* object) {
  throw py::type_error(name_of_class(Py_TYPE(object)) +
                       ": this object has a value already; __init__ can be called only once");
}

void throw_wrong_class(PyTypeObject* expected, PyObject* got) {
  throw py::type_error("expected a " + name_of_class(expected) + ", got " + repr_of(got));
}

std::string name_of_class(PyTypeObject* type) {
  const char* const dot = std::strrchr(type->tp_name, '.');
  return dot ? dot + 1 : type->tp_name;
}

PyObject* no_arguments() {
  static PyObject* const none = PyTuple_New(0);
  return none;
}

py::object new_object(PyTypeObject* type, PyTypeObject* expected) {
  auto made = py::reinterpret_steal<py::object>(type->tp_new(type, no_arguments(), nullptr));
  if (!made) throw py::error_already_set();
  if (!PyObject_TypeCheck(made.ptr(), expected))
    throw py::type_error(std::string(type->tp_name) +
                         ".__new__ returned an object of another class");
  return made;
}

py::object make_type(module_& m, const char* name, const char* doc, std::size_t size, Slots slots,
                     unsigned flags, PyTypeObject* base) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Instance<char>, call), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(Instance<char>, weakrefs), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  const bool is_called = has(slots, Py_tp_call);
  if (is_called) flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  // Instances are pickled and shown by the public name, whichever target's module holds the class.
  // Older Pythons keep this string as the name, so it must not be freed.
  auto& whole = *new std::string(std::string("PyGPU.") + name);
  if (!base) slots.push_back({Py_tp_members, is_called ? members : members + 1});
  if (!base && !has(slots, Py_tp_init)) slots.push_back({Py_tp_init, as_slot(&refuse_init)});
  if (!base && !has(slots, Py_tp_new)) slots.push_back({Py_tp_new, as_slot(&PyType_GenericNew)});
  if (*doc) slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {whole.c_str(), int(size), 0,
                      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE) | flags, slots.data()};
  const auto bases = py::reinterpret_steal<py::object>(
      base ? PyTuple_Pack(1, reinterpret_cast<PyObject*>(base)) : nullptr);
  auto made = py::reinterpret_steal<py::object>(PyType_FromSpecWithBases(&spec, bases.ptr()));
  if (!made) throw py::error_already_set();
  m.attr(name) = made;
  return made;
}

}  // namespace PyGPU::python
