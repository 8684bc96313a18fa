// Python functions, methods and properties that wrap C++ functions. See functions.h.
#include "python/binding/functions.h"

#include <algorithm>

namespace PyGPU::python {
namespace {

constexpr std::size_t most_parameters = 16;

[[noreturn]] void wrong_call(const Callable& c, const std::string& text) {
  throw py::type_error(c.name + "() " + text);
}

std::size_t parameter_index(const Callable& c, PyObject* name) {
  // Callers mostly pass the interned string itself, so compare pointers first.
  for (std::size_t i = 0; i < c.names.size(); ++i)
    if (c.names[i] == name) return i;
  for (std::size_t i = 0; i < c.names.size(); ++i)
    if (PyUnicode_Compare(c.names[i], name) == 0) return i;
  wrong_call(c, "got an unexpected keyword argument '" + text_of(name) + "'");
}

// Bind the arguments of a call to parameters: fill `values`, which is null before. `rest` owns the
// tuple of extra positional arguments.
void bind_arguments(const Callable& c, PyObject* const* given, std::size_t count,
                    PyObject* keywords, PyObject** values, py::object& rest) {
  const std::size_t all = c.names.size();
  if (count > c.positional && c.rest < 0)
    wrong_call(c, "takes " + std::to_string(c.positional) + " positional arguments but " +
                      std::to_string(count) + " were given");
  const std::size_t placed = std::min(count, c.positional);
  for (std::size_t i = 0; i < placed; ++i) values[i] = given[i];
  if (c.rest >= 0) {
    py::tuple tuple(count - placed);
    for (std::size_t i = placed; i < count; ++i) {
      Py_INCREF(given[i]);
      PyTuple_SET_ITEM(tuple.ptr(), Py_ssize_t(i - placed), given[i]);
    }
    rest = std::move(tuple);
    values[c.rest] = rest.ptr();
  }
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject*& value = values[parameter_index(c, PyTuple_GET_ITEM(keywords, i))];
    if (value)
      wrong_call(
          c, "got multiple values for argument '" + text_of(PyTuple_GET_ITEM(keywords, i)) + "'");
    value = given[count + std::size_t(i)];
  }
  for (std::size_t i = placed; i < all; ++i) {
    if (!values[i]) values[i] = c.defaults[i];
    if (!values[i]) wrong_call(c, std::string("is missing the argument '") + c.parameters[i] + "'");
  }
}

Callable& at(PyObject* self) { return *instance_at<Callable>(self)->value(); }

PyObject* call_function(PyObject* self, PyObject* const* given, std::size_t flagged,
                        PyObject* keywords) {
  return guarded([&] {
    const Callable& c = at(self);
    PyObject* values[most_parameters] = {};
    py::object rest;
    bind_arguments(c, given, std::size_t(PyVectorcall_NARGS(flagged)), keywords, values, rest);
    return c.thunk(c, values).release().ptr();
  });
}

PyObject* text(const std::string& found) { return PyUnicode_FromString(found.c_str()); }

PyObject* annotations(const Callable& c) {
  py::dict types;
  for (std::size_t i = c.is_method; i < c.parameters.size(); ++i)
    types[c.parameters[i]] = c.annotations[i];
  types["return"] = c.result;
  return types.release().ptr();
}

// Types of functions and of methods; methods bind the object that they are looked up on. Both have
// __get__, by which the module `inspect` recognizes them.
PyTypeObject *function_type = nullptr, *method_type = nullptr;

PyTypeObject* new_type(module_& m, const char* name, descrgetfunc get, unsigned flags) {
  static PyGetSetDef texts[] = {
      {"__name__", [](PyObject* self, void*) { return text(at(self).name); }, {}, {}, {}},
      {"__qualname__", [](PyObject* self, void*) { return text(at(self).name); }, {}, {}, {}},
      {"__doc__", [](PyObject* self, void*) { return text(docstring(at(self))); }, {}, {}, {}},
      {"__text_signature__", [](PyObject* self, void*) { return text(at(self).text); }, {}, {}, {}},
      {"__annotations__",
       [](PyObject* self, void*) { return guarded([&] { return annotations(at(self)); }); },
       {},
       {},
       {}},
      {}};
  static PyMethodDef methods[] = {
      {"__reduce__", [](PyObject* self, PyObject*) { return text(at(self).name); }, METH_NOARGS,
       "Return the name, by which functions are pickled."},
      {}};
  const reprfunc repr = [](PyObject* self) {
    return PyUnicode_FromFormat("<built-in function %s>", at(self).name.c_str());
  };
  const newfunc refuse_new = [](PyTypeObject* type, PyObject*, PyObject*) -> PyObject* {
    return PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
  };
  const Slots slots{{Py_tp_new, as_slot(refuse_new)},
                    {Py_tp_dealloc, as_slot(&delete_instance<Callable>)},
                    {Py_tp_call, as_slot(&PyVectorcall_Call)},
                    {Py_tp_descr_get, as_slot(get)},
                    {Py_tp_repr, as_slot(repr)},
                    {Py_tp_getset, texts},
                    {Py_tp_methods, methods}};
  static PyGetSetDef module = {
      "__module__",
      [](PyObject* self, void*) { return py::object(at(self).module).release().ptr(); },
      [](PyObject* self, PyObject* value, void*) {
        at(self).module = py::reinterpret_borrow<py::object>(value ? value : Py_None);
        return 0;
      },
      {},
      {}};
  py::object made = make_type(m, name, "", sizeof(Instance<Callable>), slots, flags, nullptr);
  auto* const type = reinterpret_cast<PyTypeObject*>(made.ptr());
  made.attr("__module__") = py::reinterpret_steal<py::object>(PyDescr_NewGetSet(type, &module));
  made.release();
  return type;
}

void add(const py::object& owner, const char* attribute, const char* module, PyTypeObject* type,
         Callable&& made) {
  made.module = owner.attr(module);
  const auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!object) throw py::error_already_set();
  instance_at<Callable>(object.ptr())->call = &call_function;
  hold(object.ptr(), std::move(made));
  owner.attr(attribute) = object;
}

}  // namespace

int initialise(const Callable& c, PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded(
      [&] {
        const std::size_t count = 1 + std::size_t(PyTuple_GET_SIZE(args));
        const std::size_t named = kwargs ? std::size_t(PyDict_GET_SIZE(kwargs)) : 0;
        PyObject* given[most_parameters] = {self};
        if (count + named > most_parameters) wrong_call(c, "got too many arguments");
        for (std::size_t i = 1; i < count; ++i) given[i] = PyTuple_GET_ITEM(args, i - 1);
        py::object keywords;
        if (named) keywords = py::tuple(named);
        PyObject *name = nullptr, *value = nullptr;
        for (Py_ssize_t i = 0, at = 0; named && PyDict_Next(kwargs, &at, &name, &value); ++i) {
          Py_INCREF(name);
          PyTuple_SET_ITEM(keywords.ptr(), i, name);
          given[count + std::size_t(i)] = value;
        }
        PyObject* values[most_parameters] = {};
        py::object rest;
        bind_arguments(c, given, count, keywords.ptr(), values, rest);
        c.thunk(c, values);
        return 0;
      },
      -1);
}

void wrong_argument(const ArgumentPosition& position, const std::string& expected, PyObject* got) {
  const Callable& c = position.function;
  throw py::type_error(c.name + c.text + ": " + c.parameters[position.number] + ": expected " +
                       expected + ", got " + repr_of(got));
}

long long read_signed(PyObject* value, const ArgumentPosition& position, long long low,
                      long long high) {
  if (!PyIndex_Check(value)) wrong_argument(position, "an int", value);
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long found = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow || found < low || found > high)
    wrong_argument(position, high > 0x7fffffff ? "an int of 64 bits" : "an int of 32 bits", value);
  return found;
}

unsigned long long read_unsigned(PyObject* value, const ArgumentPosition& position,
                                 unsigned long long high) {
  if (!PyIndex_Check(value)) wrong_argument(position, "an int", value);
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value));
  if (!number) throw py::error_already_set();
  const unsigned long long found = PyLong_AsUnsignedLongLong(number.ptr());
  const bool failed = PyErr_Occurred();
  PyErr_Clear();
  if (failed || found > high)
    wrong_argument(position,
                   high > 0xffffffff ? "an unsigned int of 64 bits" : "an unsigned int of 32 bits",
                   value);
  return found;
}

bool read_bool(PyObject* value, const ArgumentPosition& position) {
  const PyNumberMethods* const numbers = Py_TYPE(value)->tp_as_number;
  if (value != Py_None && (!numbers || !numbers->nb_bool))
    wrong_argument(position, "a bool", value);
  return is_true(value);
}

std::string read_text(PyObject* value, const ArgumentPosition& position) {
  if (!PyUnicode_Check(value)) wrong_argument(position, "a str", value);
  return py::handle(value).cast<std::string>();
}

namespace {

Callable make_callable(const char* name, const Signature& signature, const char* doc,
                       Parameters parameters, bool is_method) {
  Callable made{signature.function,
                signature.thunk,
                name,
                doc,
                "",
                signature.result(),
                signature.annotations,
                is_method,
                {},
                {},
                {},
                0,
                -1};
  const std::size_t count = signature.count;
  std::string shown;
  bool by_place = true;
  const auto add = [&](const char* parameter, const std::string& text, PyObject* value) {
    made.parameters.push_back(parameter);
    made.names.push_back(PyUnicode_InternFromString(parameter));
    made.defaults.push_back(value);
    if (by_place) ++made.positional;
    shown += (shown.empty() ? "" : ", ") + text;
    if (value) shown += "=" + repr_of(value);
  };
  const bool unnamed = parameters.size() == 0 && count > std::size_t(is_method);
  if (is_method) add("self", "self", nullptr);
  static constexpr const char* unnamed_names[] = {"arg0", "arg1", "arg2"};
  if (unnamed) {
    for (std::size_t i = is_method; i < count; ++i)
      add(unnamed_names[i - is_method], unnamed_names[i - is_method], nullptr);
    shown += ", /";
  }
  for (const Parameter& parameter : parameters) {
    if (*parameter.name != '*') {
      add(parameter.name, parameter.name, parameter.value);
      continue;
    }
    by_place = false;
    if (parameter.name[1]) {
      made.rest = int(made.names.size());
      add(parameter.name + 1, parameter.name, nullptr);
    } else {
      shown += shown.empty() ? "*" : ", *";
    }
  }
  if (made.names.size() != count || count > most_parameters)
    throw std::logic_error(made.name + ": the list of parameters does not match the C++ function");
  made.text = "(" + std::string(is_method ? "$" : "") + shown + ")";
  return made;
}

}  // namespace

void add_function(module_& m, const char* name, const Signature& signature, const char* doc,
                  Parameters parameters) {
  add(m, name, "__name__", function_type, make_callable(name, signature, doc, parameters, false));
}

void add_method(const py::object& c, const char* name, const Signature& signature, const char* doc,
                Parameters parameters) {
  add(c, name, "__module__", method_type, make_callable(name, signature, doc, parameters, true));
}

Callable constructor_by(const py::object& c, const Signature& signature, Parameters parameters) {
  const std::string name = name_of_class(reinterpret_cast<PyTypeObject*>(c.ptr()));
  return make_callable(name.c_str(), signature, "", parameters, true);
}

void add_constructor(const py::object& c, const Signature& signature, Parameters parameters) {
  add(c, "__init__", "__module__", method_type, constructor_by(c, signature, parameters));
}

PyObject* get_property(PyObject* self, void* callable) {
  return guarded([&] {
    const auto& c = *static_cast<const Callable*>(callable);
    return c.thunk(c, &self).release().ptr();
  });
}

void add_property(const py::object& c, const char* name, const Signature& signature,
                  const char* doc, getter get, setter set) {
  // Never freed: it must live as long as the class, which lives until the process ends.
  auto* const kept = new Callable(make_callable(name, signature, doc, {}, true));
  kept->doc = kept->result + ": " + doc;
  auto* const row = new PyGetSetDef{kept->name.c_str(), get, set, kept->doc.c_str(), kept};
  c.attr(kept->name.c_str()) = py::reinterpret_steal<py::object>(
      PyDescr_NewGetSet(reinterpret_cast<PyTypeObject*>(c.ptr()), row));
}

void ctypes_parameter(const py::object& c) {
  property(
      c, "_as_parameter_",
      [](const py::object& self) {
        // __index__ refuses freed memory; an array has ptr, since its __index__ is an element's.
        py::object number = attribute_or_null(self, "ptr");
        if (!number) number = py::reinterpret_steal<py::object>(PyNumber_Index(self.ptr()));
        if (!number) throw py::error_already_set();
        return module_::import("ctypes").attr("c_void_p")(number);
      },
      "Value that ctypes passes for the object: its address or handle as a void pointer.");
}

void bind_functions(module_& m) {
  const descrgetfunc get_function = [](PyObject* self, PyObject*, PyObject*) {
    Py_INCREF(self);
    return self;
  };
  const descrgetfunc get_method = [](PyObject* self, PyObject* object, PyObject*) {
    if (object) return PyMethod_New(self, object);
    Py_INCREF(self);
    return self;
  };
  function_type = new_type(m, "_Builtin", get_function, 0);
  method_type = new_type(m, "_Method", get_method, Py_TPFLAGS_METHOD_DESCRIPTOR);
}

}  // namespace PyGPU::python
