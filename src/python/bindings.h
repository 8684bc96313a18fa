// The only door to pybind11 and Python: what every bind_*.cpp shares.
#pragma once

#include <cxxabi.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <structmember.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "PyGPU/array.h"
#include "PyGPU/device_array.h"
#include "PyGPU/error.h"
#include "PyGPU/kernel.h"
#include "PyGPU/pointer.h"
#include "PyGPU/stream.h"

namespace PyGPU::python {

namespace py = pybind11;

// One function a concept; module.cpp is the list.
void bind_status(py::module_& m);
void bind_constants(py::module_& m);
void bind_device(py::module_& m);
void bind_stream(py::module_& m);
void bind_memory(py::module_& m);
void bind_copies(py::module_& m);
void bind_pointers(py::module_& m);
void bind_device_arrays(py::module_& m);
void bind_gpuarray(py::module_& m);
void bind_module(py::module_& m);
void bind_function(py::module_& m);
void bind_arrays(py::module_& m);

// Set Python's exception for a C++ one, where pybind11 does not do it.
void translate_exception(std::exception_ptr failure) noexcept;

// Python's exception for whatever leaves `body`, and an answer that says so.
template <class Body, class Answer = decltype(std::declval<Body>()())>
Answer guarded(Body body, Answer on_error = {}) {
  try {
    return body();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    translate_exception(std::current_exception());
  }
  return on_error;
}

// Take the GIL again. A thread that comes when the interpreter is on its way out is ended there by
// older Pythons, in the midst of our frames: it sleeps until the process is gone, as with newer
// ones.
inline void regain_gil(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

struct NoGilTraits {
  struct Handle {
    PyThreadState* state = nullptr;
    bool operator==(const Handle& other) const { return state == other.state; }
  };
  static constexpr const char* name = "the GIL";
  static cudaError_t release(Handle handle) {
    regain_gil(handle.state);
    return cudaSuccess;
  }
};
// While it lives, other Python threads run.
using NoGil = UniqueHandle<NoGilTraits>;
inline NoGil let_gil_go() { return NoGil({PyEval_SaveThread()}); }

// Queue a launch. Letting the GIL go costs a sixteenth of one, so it is done where the launch may
// have to wait: for room in the queue, or for the host machine, which runs the kernel at once.
// `launch` must not throw.
template <class Launch>
auto without_gil_if_waiting(int device, bool on_null_stream, Launch launch) {
  constexpr unsigned surely_queued = 512;  // fit into any queue, with room to spare
  const bool may_wait = launch_runs_kernel || count_launch(device, on_null_stream) > surely_queued;
  const NoGil without = may_wait ? let_gil_go() : NoGil();
  return launch();
}

const DType& dtype_named(const std::string& name);

// Was the C++ value of a bound object constructed? (Not yet, if __init__ failed or was not called.)
inline bool is_made(py::handle object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object.ptr());
  // The garbage collector may come while pybind11 makes room for what an instance holds.
  if (!instance->simple_layout && !instance->nonsimple.status) return false;
  return instance->get_value_and_holder().holder_constructed();
}

// pybind11 hands out uninitialised memory for an object that was never made; this refuses it.
template <class T>
struct made_caster : py::detail::type_caster_base<T> {
  bool load(py::handle source, bool convert) {
    if (source && py::isinstance<T>(source) && !is_made(source))
      throw py::type_error("this object was not made: its __init__ failed or was not called");
    return py::detail::type_caster_base<T>::load(source, convert);
  }
};

inline PyObject* no_arguments() {
  static PyObject* const none = PyTuple_New(0);
  return none;
}

// Put the C++ value into an object of T's class or of a Python subclass of it, which has none yet
// or is initialised once more. Unlike pybind11's own way (init_instance) it keeps no record by
// which the object could be found from its value's address: nobody asks, and it costs a hash table.
template <class T>
void hold(PyObject* object, T&& value) {
  using Value = std::decay_t<T>;
  static const auto* const bound = py::detail::get_type_info(typeid(Value));
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  auto held = instance->get_value_and_holder(bound);
  if (held.holder_constructed()) {
    *static_cast<Value*>(held.value_ptr()) = std::forward<T>(value);
    return;
  }
  auto* const value_held = new Value(std::forward<T>(value));
  held.value_ptr() = value_held;
  using Holder = std::unique_ptr<Value>;  // py::class_'s, where none is named
  new (std::addressof(held.template holder<Holder>())) Holder(value_held);
  held.set_holder_constructed();
}

// A new object of T's class, or of a Python subclass of it, around a value.
template <class T>
py::object instance_of(PyTypeObject* type, T&& value) {
  auto made = py::reinterpret_steal<py::object>(type->tp_new(type, no_arguments(), nullptr));
  if (!made) throw py::error_already_set();
  if (!PyObject_TypeCheck(made.ptr(), type))
    throw py::type_error(std::string(type->tp_name) + ".__new__ gave an object of another class");
  hold(made.ptr(), std::forward<T>(value));
  return made;
}

// A function of any of CPython's calling conventions, for a PyMethodDef.
template <class Method>
PyCFunction as_method(Method method) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
}

// Function tables. pybind11 compiles its glue anew for each lambda and each text that it is given
// as such; from plain function pointers, and parameters told at run time, it compiles one for each
// signature. That halves the build.
struct Parameter {
  Parameter(const char* name_) : name(name_) {}
  template <class Value>
  Parameter(const char* name_, const Value& value_)
      : name(name_), value(py::detail::object_or_cast(value_)) {}

  const char* name;
  py::object value;  // the default; null where there is none
};
using Parameters = std::vector<Parameter>;

template <class Function>
void def(py::module_& m, const char* name, Function function, const char* doc,
         const Parameters& parameters = {}) {
  m.def(name, +function, doc, parameters);
}

template <class Class, class Function>
void method(Class& c, const char* name, Function function, const char* doc = "",
            const Parameters& parameters = {}) {
  c.def(name, +function, doc, parameters);
}

template <class Class, class Function>
void property(Class& c, const char* name, Function function, const char* doc = "") {
  c.def_property_readonly(name, +function, doc);
}

// An __init__ for base classes whose Python subclasses say their dtype in the attribute `dtype`.
// pybind11's own factories do not see the object; a Python __init__ would, but it would show a
// half-made object to whoever prints a traceback's variables.
template <class PyClass, class Class, class... Arguments>
void typed_init(PyClass& c, Class (*make)(const DType& dtype, Arguments...),
                const Parameters& parameters = {}) {
  c.def(
      "__init__",
      [make](py::detail::value_and_holder& self, Arguments... arguments) {
        const auto* object = reinterpret_cast<PyObject*>(self.inst);
        const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object)));
        const py::object name = py::getattr(type, "dtype", py::none());
        if (name.is_none())
          throw py::type_error("a base class: use one with a dtype in its name, such as " +
                               type.attr("__name__").cast<std::string>() + "_float64");
        self.value_ptr() = new Class(make(dtype_named(name.cast<std::string>()), arguments...));
      },
      py::detail::is_new_style_constructor(), parameters);
}

// Make a low-level call without the GIL and wrap its outcome.
template <class Call>
Status call(Call make) {
  if (!enter_runtime()) return forked_status();
  const NoGil without = let_gil_go();
  return make();
}

// The low level's answer where a call yields something: (value, ..., status).
template <class... Values>
py::tuple with_status(const Status& status, const Values&... values) {
  return py::make_tuple(values..., status);
}

// The address in a Python object: an int, anything with __index__ or __int__ (pointer_wrapper),
// with
// __cuda_array_interface__, or with .ptr. TypeError names `argument` otherwise.
void* address_of(py::handle object, const char* argument);

// One end of a copy: an address, or an object with a contiguous buffer, whose size is then known.
struct CopyEnd {
  void* address;
  std::size_t limit;  // bytes; SIZE_MAX where only an address is known
  std::shared_ptr<const void> view;
};
CopyEnd copy_end(py::handle object, const char* argument, bool writable);

// Is it to be read as a buffer? NumPy's integer scalars have one too, but stand for a number.
bool is_buffer(py::handle object);
// A view of a Python buffer, writable if the buffer is. It must be released with the GIL, which is
// held wherever Python drops the object that owns it.
std::shared_ptr<py::buffer_info> view_buffer(py::handle object);

// None is the null stream; a cudaStream_t, an int, or an object with __cuda_stream__, .handle,
// .ptr, .cuda_stream or __int__ are streams.
StreamRef stream_of(py::handle object);

// An int, or a sequence of ints.
Axes axes_of(py::handle object, const char* argument);
Order order_of(const std::string& order);
py::tuple tuple_of(const Axes& axes);

py::object wrap_pointer(const Pointer& pointer);  // as pointer_wrapper_<dtype>
std::string hex(const void* address);

// Export the NumPy array that `array_of` makes of the object as its buffer. (pybind11's own hook
// cannot refuse with an exception before 2.13.)
template <class T, py::array (*array_of)(py::object)>
void export_buffer(PyHeapTypeObject* type) {
  type->ht_type.tp_as_buffer = &type->as_buffer;
  type->as_buffer.bf_getbuffer = [](PyObject* self, Py_buffer* view, int flags) -> int {
    view->obj = nullptr;
    try {
      return PyObject_GetBuffer(array_of(py::reinterpret_borrow<py::object>(self)).ptr(), view,
                                flags);
    } catch (py::error_already_set& error) {
      error.restore();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_BufferError, error.what());
    }
    return -1;
  };
}

}  // namespace PyGPU::python

template <>
struct pybind11::detail::process_attribute<PyGPU::python::Parameters>
    : process_attribute_default<PyGPU::python::Parameters> {
  static void init(const PyGPU::python::Parameters& parameters, function_record* record) {
    for (const PyGPU::python::Parameter& parameter : parameters) {
      const arg named(parameter.name);
      if (parameter.value) {
        process_attribute<arg_v>::init(arg_v(named, parameter.value), record);
      } else {
        process_attribute<arg>::init(named, record);
      }
    }
  }
};

template <>
struct pybind11::detail::type_caster<PyGPU::Pointer> : PyGPU::python::made_caster<PyGPU::Pointer> {
};
template <>
struct pybind11::detail::type_caster<PyGPU::DeviceArray>
    : PyGPU::python::made_caster<PyGPU::DeviceArray> {};

// A StreamRef parameter takes whatever stream_of takes.
template <>
struct pybind11::detail::type_caster<PyGPU::StreamRef> {
  PYBIND11_TYPE_CASTER(PyGPU::StreamRef, const_name("stream"));
  bool load(handle source, bool) {
    value = PyGPU::python::stream_of(source);
    return true;
  }
};
