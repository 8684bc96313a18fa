// Attributes of GPUArray.
//
// Plain attributes of PyCUDA's class can be set. Setting shape, strides, dtype, gpudata or
// allocator changes the array. Any other attribute can be set on objects of a subclass only:
// reading it returns the value that was set, but PyGPU itself uses the true one.
#include <chrono>

#include "PyGPU/runtime/settings.h"
#include "python/binders.h"
#include "python/operations/copies.h"

namespace PyGPU::python {
namespace {

struct Flags {
  bool c_contiguous, f_contiguous;
};

py::object gpudata_of(GPUArray& array) {
  if (array.layout().nbytes() == 0) return py::none();
  if (!array.gpudata && array.covers_base) {
    GPUArray* const base = find_without_refresh<GPUArray>(array.base.ptr());
    if (base && base->core.storage() == array.core.storage()) array.gpudata = gpudata_of(*base);
  }
  if (!array.gpudata) {
    const std::uintptr_t address = number_of(array.core.exposed_address());
    const bool is_view = !array.base.is_none() && !array.covers_base;
    array.gpudata = is_view ? py::object(py::int_(address))
                            : instance(DeviceAllocation{array.core.storage(), address});
  }
  return array.gpudata;
}

std::uintptr_t address(const GPUArray& array) { return number_of(array.core.exposed_address()); }

// Return true if the null stream is known to be idle. While a stream that it waits for is captured,
// no wait is allowed and the stream counts as idle. A small copy from the host returns some
// microseconds before the data arrive: waiting for it here costs less than a consumer's wait.
bool is_idle(int device) {
  using Clock = std::chrono::steady_clock;
  const cudaError_t pending = on_device(device, [] {
    if (is_captured(nullptr)) return cudaSuccess;
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    const Clock::time_point end = Clock::now() + std::chrono::microseconds(10);
    cudaError_t found;
    do found = cudaStreamQuery(nullptr);
    while (found == cudaErrorNotReady && Clock::now() < end);
    return found;
  });
  if (pending) (void)cudaGetLastError();
  return !pending;
}

// Return the number of the stream that a consumer must wait for: the null stream, ordered after all
// work. None if nothing is pending. On targets where the null stream has no number, wait for the
// work here.
py::object pending_stream(const GPUArray& array) {
  if (!array.layout().size()) return py::none();
  order_after_all({}, array.core.device());
  if (is_idle(array.core.device())) return py::none();
  if (null_stream_has_number()) return py::int_(1);
  check("cudaStreamSynchronize", call_that_waits([&] {
          return on_device(array.core.device(), [] { return cudaStreamSynchronize(nullptr); });
        }));
  return py::none();
}

py::dict array_interface(const GPUArray& array) {
  array.core.require_alive();
  py::dict interface;
  interface["shape"] = tuple_of(array.layout().shape());
  interface["strides"] = tuple_of(array.layout().strides());
  interface["typestr"] = array.dtype.attr("str");
  if (!array.dtype.attr("fields").is_none()) {
    try {
      interface["descr"] = array.dtype.attr("descr");
    } catch (const py::error_already_set& error) {  // overlapping fields: no list describes them
      if (!error.matches(PyExc_ValueError)) throw;
    }
  }
  interface["data"] = py::make_tuple(address(array), false);
  interface["stream"] = pending_stream(array);
  interface["version"] = 3;
  return interface;
}

// Libraries that find this attribute look for a GPU at once, before they try DLPack.
py::dict cuda_array_interface(const GPUArray& array) {
  if (!PYGPU_HAVE_GPU && !switch_setting("PYGPU_HOST_INTERFACE", false))
    throw py::attribute_error(
        "__cuda_array_interface__: arrays of the target host are in the CPU's memory; import them "
        "by DLPack, or set PYGPU_HOST_INTERFACE=1");
  return array_interface(array);
}

void set_shape(GPUArray& array, const py::object& value) {
  const Axes shape = axes_of(value, "shape");
  const std::optional<Layout> view = array.layout().reshape_view(shape, Order::c);
  if (!view) {
    PyErr_SetString(PyExc_AttributeError,
                    ("shape=" + shape.text() +
                     ": the elements would have to be copied; use reshape(), which does so")
                        .c_str());
    throw py::error_already_set();
  }
  array.core = array.core.view(*view);
}

void set_strides(GPUArray& array, const py::object& value) {
  const Layout& layout = array.layout();
  const Layout other(layout.shape(), axes_of(value, "strides"), layout.itemsize());
  other.extent();  // raises if the strides exceed the address space
  array.core =
      Array::borrow(other, array.core.exposed_address());  // finds our memory by its address
}

void set_dtype(GPUArray& array, const py::object& value) {
  const py::object dtype = dtype_of(value);
  if (!dtype.attr("subdtype").is_none())
    throw py::type_error("dtype=" + text_of(dtype) +
                         ": a subarray dtype; expected a dtype without a shape of its own");
  array.core = array.core.view(array.layout().view(itemsize_of(dtype)));
  array.dtype = dtype;
}

void set_gpudata(GPUArray& array, const py::object& value) {
  if (value.is_none())
    throw py::type_error(
        "gpudata: expected memory, got None; to free the memory early, call gpudata.free()");
  array.core = Array::borrow(array.layout(), address_of(value, "gpudata"));
  array.gpudata = value;
  array.rereads_address = may_change_address(value);
}

void set_allocator(GPUArray& array, const py::object& value) {
  if (!value.is_none() && !PyCallable_Check(value.ptr()))
    throw py::type_error("allocator: expected a callable(nbytes) or None, got " + repr_of(value));
  array.allocator = value;
}

using Apply = void (*)(GPUArray& array, const py::object& value);
constexpr std::pair<const char*, Apply> changes[] = {{"shape", &set_shape},
                                                     {"strides", &set_strides},
                                                     {"dtype", &set_dtype},
                                                     {"gpudata", &set_gpudata},
                                                     {"allocator", &set_allocator}};

// Return the value in the object's __dict__, or null. Only objects of subclasses have one.
py::object own_value(PyObject* self, const std::string& name) {
  const auto own = py::reinterpret_steal<py::object>(PyObject_GenericGetDict(self, nullptr));
  if (!own) throw py::error_already_set();
  return py::reinterpret_borrow<py::object>(PyDict_GetItemString(own.ptr(), name.c_str()));
}

bool has_own_values(PyObject* self) {
  return Py_TYPE(self) != type_of<GPUArray> && Py_TYPE(self)->tp_dictoffset != 0;
}

PyObject* get_attribute(PyObject* self, void* closure) {
  const std::string& name = static_cast<const Callable*>(closure)->name;
  if (has_own_values(self)) {
    PyObject* const own = guarded([&] { return own_value(self, name).release().ptr(); },
                                  static_cast<PyObject*>(nullptr));
    if (own || PyErr_Occurred()) return own;
  }
  return get_property(self, closure);
}

// Set the attribute of the array itself. Raises an exception that says why it cannot be set.
void change(PyObject* self, const std::string& name, const py::object& value) {
  for (const auto& [known, apply] : changes)
    if (known == name) return apply(*find_without_refresh<GPUArray>(self), value);
  PyErr_Format(PyExc_AttributeError,
               "%s of a GPUArray cannot be set: it follows from shape, strides, dtype and gpudata; "
               "only an object of a subclass may set it",
               name.c_str());
  throw py::error_already_set();
}

void set_own(PyObject* self, void* closure, const py::object& value) {
  const std::string& name = static_cast<const Callable*>(closure)->name;
  const auto own = py::reinterpret_steal<py::dict>(PyObject_GenericGetDict(self, nullptr));
  if (!own) throw py::error_already_set();
  if (!value) {
    if (PyDict_DelItemString(own.ptr(), name.c_str()) < 0) throw py::error_already_set();
    return;
  }
  try {
    change(self, name, value);
    const auto now = py::reinterpret_steal<py::object>(get_property(self, closure));
    if (now && py::type::of(now).is(py::type::of(value)) && now.equal(value)) {
      if (own.contains(name.c_str())) PyDict_DelItemString(own.ptr(), name.c_str());
      return;
    }
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;  // an interrupt
  } catch (const std::exception&) {              // store the value in the object alone
  }
  PyErr_Clear();
  own[name.c_str()] = value;
}

int set_attribute(PyObject* self, PyObject* value, void* closure) {
  return guarded(
      [&] {
        const auto given = py::reinterpret_borrow<py::object>(value);
        if (has_own_values(self)) {
          set_own(self, closure, given);
        } else if (!given) {
          throw py::type_error("an attribute of a GPUArray cannot be deleted");
        } else {
          change(self, static_cast<const Callable*>(closure)->name, given);
        }
        return 0;
      },
      -1);
}

template <class Function>
void attribute(const py::object& c, const char* name, Function function, const char* doc = "") {
  add_property(c, name, signature(+function), doc, &get_attribute, &set_attribute);
}

}  // namespace

void bind_attributes(module_& m, const py::object& c) {
  const py::object flags = new_class<Flags>(m, "ArrayFlags", R"doc(Contiguity of an array in memory.

Examples
--------
>>> import PyGPU.gpuarray as gpuarray
>>> a = gpuarray.empty((2, 3), "float32")
>>> a.flags, a.T.flags.c_contiguous, a.T.flags.forc
(<c_contiguous=True f_contiguous=False>, False, True)
)doc");
  property(
      flags, "c_contiguous", [](const Flags& f) { return f.c_contiguous; },
      "True for elements contiguous in row-major order.");
  property(
      flags, "f_contiguous", [](const Flags& f) { return f.f_contiguous; },
      "True for elements contiguous in column-major order.");
  property(
      flags, "forc", [](const Flags& f) { return f.c_contiguous || f.f_contiguous; },
      "True for elements contiguous in either order.");
  method(
      flags, "__getitem__",
      [](const Flags& f, const std::string& name) {
        if (name == "C_CONTIGUOUS" || name == "C" || name == "CONTIGUOUS") return f.c_contiguous;
        if (name == "F_CONTIGUOUS" || name == "F" || name == "FORTRAN") return f.f_contiguous;
        if (name == "FORC") return f.c_contiguous || f.f_contiguous;
        throw py::key_error("flags: '" + name + "': expected C_CONTIGUOUS, F_CONTIGUOUS or FORC");
      },
      "", {{"name"}});
  method(flags, "__repr__", [](const Flags& f) {
    const auto text = [](bool value) { return value ? "True" : "False"; };
    return std::string("<c_contiguous=") + text(f.c_contiguous) +
           " f_contiguous=" + text(f.f_contiguous) + ">";
  });

  attribute(
      c, "shape", [](NotRefreshed a) { return tuple_of(a.layout().shape()); },
      "Length of each axis. Setting it reshapes the array in place.");
  attribute(
      c, "strides", [](NotRefreshed a) { return tuple_of(a.layout().strides()); },
      "Bytes from one element to the next along each axis.");
  attribute(
      c, "dtype", [](NotRefreshed a) { return a.array.dtype; },
      "Data type of the elements. Setting it reinterprets the memory.");
  attribute(
      c, "size", [](NotRefreshed a) { return a.layout().size(); }, "Number of elements.");
  attribute(
      c, "mem_size", [](NotRefreshed a) { return a.layout().size(); },
      "Number of elements, as ``size``; PyCUDA's name.");
  attribute(
      c, "nbytes", [](NotRefreshed a) { return a.layout().nbytes(); },
      "Size of all elements in bytes.");
  property(
      c, "_size", [](NotRefreshed a) { return a.layout().size(); },
      "Number of elements, even if an object of a subclass sets ``size``.");
  property(
      c, "itemsize", [](NotRefreshed a) { return a.layout().itemsize(); },
      "Size of an element in bytes.");
  property(
      c, "ndim", [](NotRefreshed a) { return a.layout().ndim(); }, "Number of axes.");
  property(
      c, "flags",
      [](NotRefreshed a) {
        return Flags{a.layout().c_contiguous(), a.layout().f_contiguous()};
      },
      "Contiguity of the array: ``c_contiguous``, ``f_contiguous``, ``forc`` (either).");
  property(
      c, "_address", [](const GPUArray& a) { return number_of(a.core.address()); },
      "Address like ``ptr``, for PyGPU's own work: reading it does not expose the memory.");
  property(
      c, "_has_hidden_fields", [](NotRefreshed a) { return a.array.has_hidden_fields; },
      "True for a view of several fields: writing leaves the bytes between the fields alone.");
  property(
      c, "device",
      [](const GPUArray& a) {
        return a.core.address() ? py::object(py::int_(a.core.device())) : py::none();
      },
      R"(Device of the array's memory.

Returns
-------
int or None
    Ordinal of the device; None without elements, as the array then has no memory.

Examples
--------
>>> import numpy as np
>>> from PyGPU import gpuarray
>>> gpuarray.to_gpu(np.arange(3)).device
0
)");
  property(c, "ptr", &address, "Device address of the first element; 0 without elements.");
  ctypes_parameter(c);
  attribute(
      c, "gpudata", [](NotRefreshed a) { return gpudata_of(a.array); },
      "Memory of the array, as given or allocated; an int for views, None without elements.");
  attribute(
      c, "base", [](NotRefreshed a) { return a.array.base; },
      "Object that owns the memory of a view or of borrowed memory, or None.");
  attribute(
      c, "allocator", [](NotRefreshed a) { return a.array.allocator; },
      "Allocator of the array and of results; None is the memory pool.");
  property(c, "__cuda_array_interface__", &cuda_array_interface,
           "CUDA array interface, version 3, for other libraries.");
  property(c, "_array_interface", &array_interface,
           "CUDA array interface on every target, for <PyGPU/view.h>.");
  c.attr("__array_priority__") = 100;
}

}  // namespace PyGPU::python
