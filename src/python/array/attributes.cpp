// The attributes of GPUArray.
//
// Those that are plain attributes in PyCUDA can be set. Of what decides where the elements lie
// (shape, strides, dtype, gpudata), the array then changes; the rest is for subclasses, in whose
// objects a program may write what it likes: reading gives that, and PyGPU goes by what is true.
#include <chrono>

#include "python/array/methods.h"

namespace PyGPU::python {
namespace {

struct Flags {
  bool c_contiguous, f_contiguous;
};

py::object gpudata_of(GPUArray& array) {
  if (array.layout().nbytes() == 0) return py::none();
  if (!array.gpudata && array.is_whole) {
    GPUArray* const base = find_as_it_is<GPUArray>(array.base.ptr());
    if (base && base->core.storage() == array.core.storage()) array.gpudata = gpudata_of(*base);
  }
  if (!array.gpudata) {
    const std::uintptr_t address = number_of(array.core.exposed_address());
    const bool is_view = !array.base.is_none() && !array.is_whole;
    array.gpudata = is_view ? py::object(py::int_(address))
                            : instance(DeviceAllocation{array.core.storage(), address});
  }
  return array.gpudata;
}

std::uintptr_t address(const GPUArray& array) { return number_of(array.core.exposed_address()); }

// Is the null stream known to be idle? While a stream that it waits for is captured, nobody can
// wait for it. A small copy from the host returns some microseconds before it has arrived: those
// are waited for here, which costs less than a consumer's wait.
bool is_idle(int device) {
  using Clock = std::chrono::steady_clock;
  const cudaError_t pending = on_device(device, [] {
    if (is_captured(nullptr)) return cudaSuccess;
    const BesideCaptures beside = beside_captures();
    const Clock::time_point end = Clock::now() + std::chrono::microseconds(10);
    cudaError_t found;
    do found = cudaStreamQuery(nullptr);
    while (found == cudaErrorNotReady && Clock::now() < end);
    return found;
  });
  if (pending) (void)cudaGetLastError();
  return !pending;
}

// The number of the stream that a consumer must wait for: the null stream, behind all work; None
// where nothing is pending. Where the null stream has no number, the work is waited for here.
py::object pending_stream(const GPUArray& array) {
  if (!array.layout().size()) return py::none();
  order_after_all({}, array.core.device());
  if (is_idle(array.core.device())) return py::none();
  if (null_stream_has_number()) return py::int_(1);
  check("cudaStreamSynchronize", waiting([&] {
          return on_device(array.core.device(), [] { return cudaStreamSynchronize(nullptr); });
        }));
  return py::none();
}

py::dict cuda_array_interface(const GPUArray& array) {
  array.core.require_alive();
  py::dict interface;
  interface["shape"] = tuple_of(array.layout().shape());
  interface["strides"] = tuple_of(array.layout().strides());
  interface["typestr"] = array.dtype.attr("str");
  if (!array.dtype.attr("fields").is_none()) {
    try {
      interface["descr"] = array.dtype.attr("descr");
    } catch (const py::error_already_set&) {  // overlapping fields: no list can say them
    }
  }
  interface["data"] = py::make_tuple(address(array), false);
  interface["stream"] = pending_stream(array);
  interface["version"] = 3;
  return interface;
}

void set_shape(GPUArray& array, const py::object& value) {
  array.core = array.core.view(array.layout().reshape(axes_of(value, "shape"), Order::c));
}

void set_strides(GPUArray& array, const py::object& value) {
  const Layout& layout = array.layout();
  const Layout other(layout.shape(), axes_of(value, "strides"), layout.itemsize());
  other.extent();  // refuses strides that reach beyond any memory
  array.core = Array::borrow(other, array.core.exposed_address());  // which knows our memory by it
}

void set_dtype(GPUArray& array, const py::object& value) {
  const py::object dtype = dtype_of(value);
  if (!dtype.attr("subdtype").is_none())
    throw py::type_error("dtype: a dtype with a shape of its own is not possible");
  array.core = array.core.view(array.layout().view(itemsize_of(dtype)));
  array.dtype = dtype;
}

void set_gpudata(GPUArray& array, const py::object& value) {
  if (value.is_none())
    throw py::type_error("gpudata: expected memory, got None; to free it early: gpudata.free()");
  array.core = Array::borrow(array.layout(), address_of(value, "gpudata"));
  array.gpudata = value;
  array.follows = may_move(value);
}

void set_allocator(GPUArray& array, const py::object& value) {
  if (!value.is_none() && !PyCallable_Check(value.ptr()))
    throw py::type_error("allocator: expected callable(nbytes) or None, got " + repr_of(value));
  array.allocator = value;
}

using Apply = void (*)(GPUArray& array, const py::object& value);
constexpr std::pair<const char*, Apply> changes[] = {{"shape", &set_shape},
                                                     {"strides", &set_strides},
                                                     {"dtype", &set_dtype},
                                                     {"gpudata", &set_gpudata},
                                                     {"allocator", &set_allocator}};

// What a subclass's object has under a name of its own; null if nothing.
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

// Changes the array, if that can be; an exception says why not.
void change(PyObject* self, const std::string& name, const py::object& value) {
  for (const auto& [known, apply] : changes)
    if (known == name) return apply(*find_as_it_is<GPUArray>(self), value);
  PyErr_Format(PyExc_AttributeError,
               "%s of a GPUArray cannot be set: it follows from shape, strides, dtype and gpudata; "
               "objects of a subclass may have what they like there",
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
  } catch (const std::exception&) {  // it is the object's word alone
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
          throw py::type_error("attributes of a GPUArray cannot be deleted");
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

// The whole array seen another way: it has the same memory object and the same owner. The memory
// object is not made here, which would expose the memory.
GPUArray transpose(const py::object& self, const py::object& axes) {
  auto& array = held<GPUArray>(self);
  const Layout& layout = array.layout();
  GPUArray transposed =
      view_of(self, axes.is_none() ? layout.transpose() : layout.transpose(axes_of(axes, "axes")));
  transposed.gpudata = array.gpudata;
  transposed.is_whole = array.is_whole || array.base.is_none();
  if (!array.base.is_none()) transposed.base = array.base;
  return transposed;
}

void bind_attributes(py::module_& m, const py::object& c) {
  const py::object flags = new_class<Flags>(
      m, "ArrayFlags", "c_contiguous, f_contiguous and forc (either) of an array.");
  property(flags, "c_contiguous", [](const Flags& f) { return f.c_contiguous; });
  property(flags, "f_contiguous", [](const Flags& f) { return f.f_contiguous; });
  property(flags, "forc", [](const Flags& f) { return f.c_contiguous || f.f_contiguous; });
  method(flags, "__repr__", [](const Flags& f) {
    const auto text = [](bool value) { return value ? "True" : "False"; };
    return std::string("<c_contiguous=") + text(f.c_contiguous) +
           " f_contiguous=" + text(f.f_contiguous) + ">";
  });

  attribute(c, "shape", [](AsItIs a) { return tuple_of(a.layout().shape()); });
  attribute(
      c, "strides", [](AsItIs a) { return tuple_of(a.layout().strides()); },
      "Bytes from one element to the next along each axis.");
  attribute(c, "dtype", [](AsItIs a) { return a.array.dtype; });
  attribute(
      c, "size", [](AsItIs a) { return a.layout().size(); }, "Elements.");
  attribute(c, "mem_size", [](AsItIs a) { return a.layout().size(); });
  attribute(c, "nbytes", [](AsItIs a) { return a.layout().nbytes(); });
  property(
      c, "_size", [](AsItIs a) { return a.layout().size(); },
      "Elements, whatever a subclass says.");
  property(c, "itemsize", [](AsItIs a) { return a.layout().itemsize(); });
  property(c, "ndim", [](AsItIs a) { return a.layout().ndim(); });
  property(
      c, "flags",
      [](AsItIs a) {
        return Flags{a.layout().c_contiguous(), a.layout().f_contiguous()};
      },
      "c_contiguous, f_contiguous, forc.");
  property(
      c, "_is_answer", [](const GPUArray& a) { return a.is_answer; },
      "A comparison's 0 and 1, as numbers.");
  property(
      c, "_address", [](const GPUArray& a) { return number_of(a.core.address()); },
      "As ptr, for work of PyGPU's own: the memory is not exposed by it.");
  property(
      c, "_device",
      [](const GPUArray& a) {
        return a.core.address() ? py::object(py::int_(a.core.device())) : py::none();
      },
      "The ordinal of its device; None without elements.");
  property(c, "ptr", &address, "The address of the first element (int; 0 without elements).");
  attribute(
      c, "gpudata", [](AsItIs a) { return gpudata_of(a.array); },
      "The memory as given or allocated; an int for views; None without elements.");
  attribute(c, "base", [](AsItIs a) { return a.array.base; });
  attribute(c, "allocator", [](AsItIs a) { return a.array.allocator; });
  property(c, "__cuda_array_interface__", &cuda_array_interface);
  property(
      c, "T", [](const py::object& self) { return transpose(self, py::none()); },
      "The view with all axes reversed.");
  c.attr("__array_priority__") = 100;
}

}  // namespace PyGPU::python
