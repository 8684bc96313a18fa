// A function of a user's compiled library as a Python callable: f(*args, stream=None). Its
// arguments are checked against the C++ types, and it runs without the GIL.
#include <cstring>
#include <optional>

#include "PyGPU/runtime/device_array.h"
#include "PyGPU/runtime/graph.h"
#include "PyGPU/runtime/peers.h"
#include "PyGPU/runtime/settings.h"
#include "python/binders.h"
#include "python/binding/errors.h"
#include "python/launch/c_call.h"
#include "python/launch/packing.h"
#include "python/runtime/memory_device.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {

namespace {

enum class Role { value, pointer, stream };

struct Component {
  Kind kind = Kind::unknown;
  std::size_t nbytes = 0;
};

struct LibraryParameter {
  Role role = Role::value;
  bool is_const = false;  // the function only reads the elements
  Component component;    // of a pointer to vectors such as float3: their numbers
  std::size_t index = 0;  // of its argument, among those that Python's caller gives
};

struct LibraryFunction {
  std::string name, signature;
  std::uintptr_t address;      // of the function; 0 if only its trampoline is known
  Trampoline trampoline;       // null: called by `plain`
  std::optional<CCall> plain;  // call by the C calling convention
  char result;                 // kind, as in <PyGPU/export.h>
  std::size_t result_nbytes;
  bool returns_status;  // an integer result is an error of the runtime
  std::vector<KernelParameter> parameters;
  std::vector<LibraryParameter> more;  // for each parameter
  std::size_t count = 0;               // parameters that Python's caller gives
  bool has_stream = false;
};

PyObject* stream_name = nullptr;  // interned

// Return NumPy's name of a number's type: "float64".
std::string number_text(Kind kind, std::size_t nbytes) {
  const std::string bits = std::to_string(8 * nbytes);
  switch (kind) {
    case Kind::integer: return "int" + bits;
    case Kind::unsigned_integer: return "uint" + bits;
    case Kind::floating_point: return "float" + bits;
    case Kind::complex: return "complex" + bits;
    case Kind::boolean: return "bool";
    case Kind::bfloat: return "bfloat16";
    case Kind::pointer: return "addresses (uint64)";
    default: return "structures of " + std::to_string(nbytes) + " bytes";
  }
}

// Return whether a function may read elements of `dtype` as the parameter's. Elements of one byte
// are bytes, whatever their kind. Vectors such as float3 may be an array's last axis.
bool has_elements(const np::dtype& dtype, const KernelParameter& parameter,
                  const LibraryParameter& more, std::size_t nbytes) {
  if (parameter.pointee == Kind::unknown) return true;
  const auto itemsize = std::size_t(dtype.itemsize());
  const char kind = dtype.kind(), pointee = char(parameter.pointee);
  if (dtype.byteorder() == '>') return false;
  const auto is_number = [&](Kind expected, std::size_t size) {
    return itemsize == size && kind == char(expected);
  };
  if (more.component.kind != Kind::unknown && is_number(more.component.kind, more.component.nbytes))
    return nbytes % parameter.pointee_nbytes == 0;
  if (itemsize != parameter.pointee_nbytes) return false;
  switch (parameter.pointee) {
    case Kind::integer:
    case Kind::unsigned_integer: return kind == pointee || (itemsize == 1 && kind != 'b');
    case Kind::pointer: return kind == 'u' || kind == 'i';
    case Kind::bfloat: return kind == 'u' || kind == 'V';
    case Kind::bytes: return kind == 'V' || kind == 'c';
    default: return kind == pointee;
  }
}

void require_elements(PyObject* argument, PyObject* dtype, const KernelParameter& parameter,
                      const LibraryParameter& more, std::size_t index, std::size_t nbytes) {
  const auto given = py::reinterpret_borrow<np::dtype>(dtype);
  if (!has_elements(given, parameter, more, nbytes))
    refuse(argument, parameter, index,
           "its dtype is " + text_of(given) + ", and the function expects " +
               number_text(parameter.pointee, parameter.pointee_nbytes) +
               "; convert it with .astype()");
  // A vector's elements depend on the array's size as well, so each call compares them.
  if (more.component.kind == Kind::unknown) parameter.last_accepted_dtype = given;
}

constexpr const char* not_contiguous =
    "it is not contiguous, and the function would read other elements: pass a.copy()";

// Return the address of an array of another library, by its __cuda_array_interface__.
const void* foreign_address(PyObject* argument, const py::dict& interface,
                            const KernelParameter& parameter, const LibraryParameter& more,
                            std::size_t index) {
  require_reachable(argument, "argument");
  const py::tuple data = interface_data(interface);
  const py::object dtype = dtype_of(interface["typestr"]);
  const Axes shape = axes_of(interface["shape"], "shape");
  const py::object strides =
      interface.contains("strides") ? py::object(interface["strides"]) : py::object(py::none());
  const Layout layout = strides.is_none()
                            ? Layout(shape, itemsize_of(dtype))
                            : Layout(shape, axes_of(strides, "strides"), itemsize_of(dtype));
  if (!more.is_const && is_read_only(interface))
    refuse(argument, parameter, index,
           "it is read-only, and the function may write it (its parameter is not const): pass a "
           "copy");
  require_elements(argument, dtype.ptr(), parameter, more, index, layout.nbytes());
  if (!layout.contiguous()) refuse(argument, parameter, index, not_contiguous);
  return address_of(data[0], "data");
}

void require_type(PyObject* argument, const DType& dtype, const KernelParameter& parameter,
                  const LibraryParameter& more, std::size_t index) {
  const np::dtype given(dtype.name);
  require_elements(argument, given.ptr(), parameter, more, index, parameter.pointee_nbytes);
  parameter.last_accepted_dtype = py::object();  // no array's own dtype
}

// Return the address in an argument of a pointer parameter that runs no Python code: our own
// memory, None or an int; nothing for other objects.
std::optional<const void*> own_address(PyObject* argument, const KernelParameter& parameter,
                                       const LibraryParameter& more, std::size_t index) {
  if (const GPUArray* const array = gpuarray_in(argument)) {
    if (array->core.address()) array->core.require_alive();
    if (parameter.last_accepted_dtype.ptr() != array->dtype.ptr())
      require_elements(argument, array->dtype.ptr(), parameter, more, index,
                       array->layout().nbytes());
    if (!array->layout().contiguous()) refuse(argument, parameter, index, not_contiguous);
    return array->core.address();
  }
  if (argument == Py_None) return nullptr;
  if (const DeviceAllocation* const allocation = find<DeviceAllocation>(argument))
    return python::address_in(*allocation, "argument");
  if (PyLong_Check(argument) && !PyBool_Check(argument)) return address_of(argument, "argument");
  if (const Pointer* const pointer = find<Pointer>(argument)) {
    if (pointer->on_host)
      refuse(argument, parameter, index, "it points to host memory: pass .device_data()");
    if (pointer->dtype) require_type(argument, *pointer->dtype, parameter, more, index);
    return pointer->address;
  }
  if (const auto* const array = find<DeviceArray>(argument)) {
    const Pointer device = (*array)->device_data();
    if (!device.address && (*array)->layout().size() > 0)
      refuse(argument, parameter, index, "it has no device memory yet: call allocate()");
    require_type(argument, (*array)->dtype(), parameter, more, index);
    return device.address;
  }
  return {};
}

// Return the address in any other object, which may run Python code.
const void* address_of_object(PyObject* argument, const KernelParameter& parameter,
                              const LibraryParameter& more, std::size_t index) {
  const py::handle object(argument);
  const py::object interface = attribute_or_null(object, "__cuda_array_interface__");
  if (interface && !interface.is_none())
    return foreign_address(argument, py::dict(interface), parameter, more, index);
  if (PyUnicode_Check(argument) || PyBytes_Check(argument)) {
    const bool is_text =
        more.is_const && parameter.pointee == Kind::integer && parameter.pointee_nbytes == 1;
    if (!is_text) refuse(argument, parameter, index, "");
    // Both objects keep a copy that ends with a null character.
    if (PyBytes_Check(argument)) return PyBytes_AS_STRING(argument);
    const char* const text = PyUnicode_AsUTF8(argument);
    if (!text) throw py::error_already_set();
    return text;
  }
  if (PyList_Check(argument) || PyTuple_Check(argument) || PyFloat_Check(argument))
    refuse(argument, parameter, index, "pass gpuarray.to_gpu(numpy.array(...))");
  const void* address = nullptr;
  char* const to = reinterpret_cast<char*>(&address);
  if (pack(argument, parameter, index, to) == Packing::needs_handler)
    refuse(argument, parameter, index, "In(), Out() and InOut() are for kernels: pass a GPUArray");
  return address;
}

// Raise for memory on another device than the current one.
void require_current_device(PyObject* argument, const KernelParameter& parameter, std::size_t index,
                            int current) {
  const GPUArray* const array = gpuarray_in(argument);
  const std::shared_ptr<Storage> storage = storage_in(argument);
  if (!storage && !(array && array->core.address())) return;
  const int device = storage ? storage->device() : array->core.device();
  const void* const address = storage ? storage->address() : array->core.address();
  if (device == current || is_shared_memory(address) || reaches_peer(current, device)) return;
  refuse(argument, parameter, index,
         "it is on device " + std::to_string(device) + ", and device " + std::to_string(current) +
             " is current, where the function works");
}

bool waits_after_calls() {
  static const bool found = setting_text("PYGPU_CHECK_CALLS") == "sync";
  return found;
}

// Pack the argument of a pointer parameter if it runs no Python code.
bool pack_own_address(const LibraryFunction& f, std::size_t i, PyObject* const* given, char* to) {
  const LibraryParameter& more = f.more[i];
  const auto own = own_address(given[more.index], f.parameters[i], more, more.index);
  if (own) std::memcpy(to, &*own, sizeof *own);
  return own.has_value();
}

Packing pack_argument(const LibraryFunction& f, std::size_t i, PyObject* const* given, char* to) {
  const KernelParameter& parameter = f.parameters[i];
  const LibraryParameter& more = f.more[i];
  if (more.role == Role::pointer) {
    if (pack_own_address(f, i, given, to)) return Packing::done;
    const void* const address = address_of_object(given[more.index], parameter, more, more.index);
    std::memcpy(to, &address, sizeof address);
    return Packing::done_after_python;
  }
  const Packing packing = pack(given[more.index], parameter, more.index, to);
  if (packing == Packing::needs_handler) refuse(given[more.index], parameter, more.index, "");
  return packing;
}

struct Result {
  alignas(16) char bytes[16] = {};

  template <class T>
  T as() const {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
};

PyObject* converted(const LibraryFunction& f, const Result& result) {
  const std::size_t nbytes = f.result_nbytes;
  switch (f.result) {
    case 'i': return PyLong_FromLongLong((long long)read_integer(result.bytes, nbytes, true));
    case 'u': return PyLong_FromUnsignedLongLong(read_integer(result.bytes, nbytes, false));
    case 'P': return PyLong_FromUnsignedLongLong(read_integer(result.bytes, 8, false));
    case 'b': return PyBool_FromLong(result.bytes[0] != 0);
    case 'f': return PyFloat_FromDouble(nbytes == 4 ? result.as<float>() : result.as<double>());
    default: Py_RETURN_NONE;
  }
}

struct Outcome {
  cudaError_t left = cudaSuccess;  // error that the function left in the runtime
  bool has_thrown = false;
  char text[512];  // of the C++ exception
};

void call_function(const LibraryFunction& f, void* const* arguments, Result& result,
                   Outcome& outcome) noexcept {
  const int code = call_guarded(f.trampoline, f.plain ? &*f.plain : nullptr, arguments,
                                result.bytes, outcome.text, sizeof outcome.text);
  outcome.has_thrown = code < 0;
  if (waits_after_calls()) (void)cudaDeviceSynchronize();
  outcome.left = code > 0 ? cudaError_t(code) : cudaPeekAtLastError();
}

PyObject* call_checked(const LibraryFunction& f, PyObject* const* given, std::size_t count,
                       PyObject* keywords) {
  PyObject* stream_object = Py_None;
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GET_ITEM(keywords, i);
    if (!f.has_stream || (name != stream_name && PyUnicode_Compare(name, stream_name) != 0))
      throw py::type_error(f.name + "() got an unexpected keyword argument '" + text_of(name) +
                           "'" + (f.has_stream ? ": expected stream" : ""));
    stream_object = given[count + std::size_t(i)];
  }
  if (count != f.count)
    raise_argument_error(f.name + "() takes " + counted_arguments(f.count) + ", not " +
                         std::to_string(count) + ": " + f.signature);
  const StreamRef stream = stream_of(stream_object);

  Arguments packed(f.name, f.parameters);
  if (!enter_runtime()) throw DeviceError(f.name, refused_status());
  StreamOrder order(stream);
  const bool is_only = is_only_device();
  const int current = is_only ? 0 : current_device();
  bool has_run_python = false;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    if (f.more[i].role == Role::stream)
      std::memcpy(packed.value(i), &stream.handle, sizeof stream.handle);
    else
      has_run_python |= pack_argument(f, i, given, packed.value(i)) == Packing::done_after_python;
  }
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    if (f.more[i].role != Role::pointer) continue;
    PyObject* const argument = given[f.more[i].index];
    if (has_run_python) (void)pack_own_address(f, i, given, packed.value(i));
    if (!is_only) require_current_device(argument, f.parameters[i], f.more[i].index, current);
    if (stream.handle) order.uses(storage_in(argument));
  }

  throw_unread_error();
  Result result;
  Outcome outcome;
  order.run([&] {
    const NoGil without = release_gil();
    call_function(f, packed.pointers(), result, outcome);
  });
  if (outcome.has_thrown) {
    (void)cudaGetLastError();
    throw std::runtime_error(f.name + "(): " + outcome.text);
  }
  if (f.returns_status)
    check(f.name.c_str(), reported(cudaError_t(read_integer(result.bytes, f.result_nbytes, true))));
  check(f.name.c_str(), reported(outcome.left));
  if (f.returns_status) Py_RETURN_NONE;
  return converted(f, result);
}

PyObject* call_slot(PyObject* self, PyObject* const* arguments, std::size_t flagged,
                    PyObject* keywords) {
  return guarded([&] {
    return call_checked(held<LibraryFunction>(self), arguments,
                        std::size_t(PyVectorcall_NARGS(flagged)), keywords);
  });
}

Component component_of(const py::handle& pair) {
  const auto values = pair.cast<std::pair<std::string, std::size_t>>();
  return {Kind(values.first.at(0)), values.second};
}

// Read (name, kind, bytes, is const?, element, component).
void add_parameter(LibraryFunction& f, const py::tuple& row) {
  KernelParameter& parameter = f.parameters.emplace_back();
  LibraryParameter& more = f.more.emplace_back();
  parameter.name = row[0].cast<std::string>();
  const char kind = row[1].cast<std::string>().at(0);
  parameter.nbytes = row[2].cast<std::size_t>();
  more.is_const = row[3].cast<bool>();
  const Component element = component_of(py::object(row[4]));
  more.component = component_of(py::object(row[5]));
  if (kind == 'S') {
    more.role = Role::stream;
    f.has_stream = true;
  } else {
    parameter.kind = kind == 'E' ? Kind::integer : Kind(kind);
    if (parameter.kind == Kind::pointer) more.role = Role::pointer;
    more.index = f.count++;
  }
  parameter.pointee = element.nbytes ? element.kind : Kind::unknown;
  parameter.pointee_nbytes = element.nbytes;
}

// `result` is (kind, bytes); `trampoline` is 0 for a function that is called by its C types.
py::object make_library_function(const std::string& name, const std::string& signature,
                                 std::uintptr_t address, std::uintptr_t trampoline,
                                 const py::list& parameters, const py::tuple& result, bool errors) {
  LibraryFunction f{name,  signature, address, reinterpret_cast<Trampoline>(trampoline), {}, 'v', 0,
                    false, {},        {}};
  for (const py::handle row : parameters) add_parameter(f, row.cast<py::tuple>());
  f.result = result[0].cast<std::string>().at(0);
  f.result_nbytes = result[1].cast<std::size_t>();
  f.returns_status = f.result == 'E' || (errors && f.result == 'i' && f.result_nbytes == 4);
  assign_offsets(f.parameters);
  if (!trampoline)
    f.plain.emplace(reinterpret_cast<void*>(address), f.parameters, f.result, f.result_nbytes);
  py::object made = instance(std::move(f));
  instance_at<LibraryFunction>(made.ptr())->call = &call_slot;
  return made;
}

template <std::string LibraryFunction::*text>
PyObject* get_text(PyObject* self, void*) {
  return guarded(
      [&] { return to_python(std::string(held<LibraryFunction>(self).*text)).release().ptr(); });
}

}  // namespace

void bind_library_function(module_& m) {
  stream_name = PyUnicode_InternFromString("stream");
  // The class has an attribute of this name too, which a property would replace.
  static PyGetSetDef texts[] = {
      {"__name__", &get_text<&LibraryFunction::name>, nullptr, "str", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  const py::object c = new_class<LibraryFunction>(
      m, "LibraryFunction",
      R"doc(LibraryFunction()
--

A function of a compiled library, made by :func:`PyGPU.load`: a callable.

Called as ``f(*args, stream=None)``. Each argument is checked against the parameter's C++ type:

* pointers take arrays of that dtype, contiguous in C or Fortran order, on the current device;
  memory (``mem_alloc``); None as a null pointer; and plain ints as unchecked addresses
* numbers take Python's and NumPy's numbers in the range of the type
* structures by value take NumPy records of that size
* a stream parameter takes no argument: it is ``stream=``, by default the null stream

The function runs without Python's global lock.

Raises
------
PyGPU.errors.ArgumentError
    An argument does not fit its parameter. Nothing was called.
PyGPU.errors.Error
    The function returned an error of the runtime, or left one behind.
RuntimeError
    The function threw a C++ exception.

Examples
--------
>>> import PyGPU
>>> cosine = PyGPU.load("libm.so.6", "double cos(double x);").cos
>>> cosine.signature
'double cos(double x)'
>>> cosine(0)
1.0
)doc",
      {{Py_tp_call, as_slot(&PyVectorcall_Call)}, {Py_tp_getset, texts}});
  method(c, "__repr__",
         [](const LibraryFunction& f) { return "<PyGPU.LibraryFunction " + f.signature + ">"; });
  property(
      c, "signature", [](const LibraryFunction& f) { return f.signature; }, "Declaration in C++.");
  property(
      c, "address", [](const LibraryFunction& f) { return f.address; },
      "Address of the function; 0 if the library exports only its name and types.");
  def(m, "_library_function", &make_library_function, "Return a function of a library.",
      {{"name"},
       {"signature"},
       {"address"},
       {"trampoline"},
       {"parameters"},
       {"result"},
       {"errors"}});
}

}  // namespace PyGPU::python
