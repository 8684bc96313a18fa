// Kernel arguments packed. See packing.h. This is the hot path of a launch: no pybind11 casts
// for what programs pass most, which is arrays, allocations and NumPy's scalars.
#include "python/launch/packing.h"

#include <cstring>

#include "python/array/gpuarray.h"
#include "python/hooks.h"
#include "python/launch/checks.h"
#include "python/launch/numbers.h"

namespace PyGPU::python {
namespace {

// NumPy's scalars keep their value behind the object's head (PyArrayScalar in numpy's headers).
struct Scalar {
  PyTypeObject* type;
  Kind kind;
  std::size_t nbytes;
};
std::vector<Scalar> scalars;

const Scalar* scalar_of(PyObject* argument) {
  for (const Scalar& scalar : scalars)
    if (Py_TYPE(argument) == scalar.type) return &scalar;
  return nullptr;
}

const char* scalar_value(PyObject* argument) {
  return reinterpret_cast<const char*>(argument) + sizeof(PyObject);
}

void put_address(const void* address, PyObject* argument, const Slot& slot, std::size_t index,
                 char* to) {
  const bool number = is_integral(slot.kind) && slot.nbytes == sizeof address;  // ints as pointers
  if (!(may_be(slot.kind, Kind::pointer) || number) ||
      (slot.nbytes && slot.nbytes != sizeof address))
    refuse(argument, slot, index,
           is<GPUArray>(argument)
               ? "an address does not go there; int() and float() fetch an array's only element"
               : "an address does not go there");
  std::memcpy(to, &address, sizeof address);
}

void put_scalar(const Scalar& scalar, PyObject* argument, const Slot& slot, std::size_t index,
                char* to) {
  const char* value = scalar_value(argument);
  if (is_integral(scalar.kind) || scalar.kind == Kind::boolean) {
    const bool address = slot.kind == Kind::pointer && scalar.nbytes == 8;
    if (slot.kind == Kind::bfloat && scalar.kind == Kind::natural && scalar.nbytes == 2) {
      std::memcpy(to, value, 2);  // its bits, as programs without ml_dtypes have them
      return;
    }
    if (is_real(slot.kind)) {
      check_integer(argument, slot, index);
      const auto number = py::reinterpret_steal<py::object>(PyNumber_Float(argument));
      if (!number) throw py::error_already_set();
      return put_real(PyFloat_AS_DOUBLE(number.ptr()), slot, to);
    }
    if (!address && !may_be_integral(slot))
      refuse(argument, slot, index, "an integer does not go there");
    if (slot.nbytes && scalar.nbytes > slot.nbytes)
      refuse(argument, slot, index, "it is wider than the parameter");
    const std::uint64_t bits = extended(value, scalar.nbytes, scalar.kind == Kind::integer);
    if (slot.kind == Kind::boolean) {
      *to = bits != 0;
      return;
    }
    return put_integer(bits, slot.nbytes ? slot.nbytes : scalar.nbytes, to);
  }
  if (!may_be(slot.kind, scalar.kind)) refuse(argument, slot, index, "it is of another kind");
  if (slot.nbytes && scalar.nbytes != slot.nbytes)
    refuse(argument, slot, index, "it has another width");
  std::memcpy(to, value, scalar.nbytes);
}

// Memory that host and device share: an ndarray whose owner says so. Throws where it was freed.
bool is_managed(py::handle array) {
  for (py::object owner = py::getattr(array, "base", py::none()); !owner.is_none();
       owner = py::getattr(owner, "base", py::none())) {
    if (!py::hasattr(owner, "_is_managed_memory")) continue;
    if (is<DeviceAllocation>(owner)) (void)address_of(owner, "argument");
    return true;
  }
  return false;
}

// A scalar of a dtype that another package has registered with NumPy, such as ml_dtypes' bfloat16.
bool is_of_registered_dtype(PyObject* argument) {
  const py::handle object(argument);
  return py::isinstance(object, py::module_::import("numpy").attr("generic")) &&
         object.attr("dtype").attr("isbuiltin").cast<int>() == 2;
}

// What gives the bytes of the argument; NumPy exports no buffer for all its dtypes.
py::object exporter_of(PyObject* argument, const Slot& slot, std::size_t index) {
  const auto object = py::reinterpret_borrow<py::object>(argument);
  if (is_of_registered_dtype(argument)) return object.attr("tobytes")();
  if (!py::isinstance<py::array>(object)) return object;
  const py::dtype dtype = py::reinterpret_borrow<py::array>(object).dtype();
  const bool is_date_or_text = std::strchr("mMSU", dtype.kind());
  if (dtype.kind() == 'O' || (is_date_or_text && !may_be(slot.kind, Kind::bytes)))
    refuse(argument, slot, index, "its dtype is " + text_of(dtype));
  return object.attr("view")("V" + std::to_string(dtype.itemsize()));
}

// By value: structures and other bytes.
void put_bytes(PyObject* argument, const Slot& slot, std::size_t index, char* to) {
  if (py::isinstance<py::array>(argument) && is_managed(argument))
    return put_address(py::reinterpret_borrow<py::array>(argument).data(), argument, slot, index,
                       to);
  if (slot.kind == Kind::pointer)
    refuse(argument, slot, index,
           "host memory does not go there: pass In(), Out() or InOut() of it, or a GPUArray");
  const py::object exporter = exporter_of(argument, slot, index);
  const auto view = view_buffer(exporter.ptr());
  const Py_buffer* raw = view->view();
  if (slot.nbytes && std::size_t(raw->len) != slot.nbytes)
    refuse(argument, slot, index, "it has " + std::to_string(raw->len) + " bytes");
  if (slot.nbytes == 0)
    refuse(argument, slot, index, "the size of the parameter is not known here");
  if (!PyBuffer_IsContiguous(raw, 'A')) refuse(argument, slot, index, "it is not contiguous");
  std::memcpy(to, raw->buf, std::size_t(raw->len));
}

void put_object(PyObject* argument, const Slot& slot, std::size_t index, char* to) {
  const py::handle object(argument);
  if (PyList_Check(argument) || PyTuple_Check(argument))
    refuse(argument, slot, index,
           may_be(slot.kind, Kind::pointer)
               ? "a kernel takes arrays: gpuarray.to_gpu(numpy.array(...)), or In(numpy.array(...))"
               : "");
  if (argument == Py_None)
    refuse(argument, slot, index, slot.kind == Kind::pointer ? "0 is the null pointer" : "");
  if (PyUnicode_Check(argument)) refuse(argument, slot, index, "");
  if (!py::getattr(object, "__cuda_array_interface__", py::none()).is_none())
    return put_address(address_of(object, "argument"), argument, slot, index, to);
  if (py::isinstance<py::array>(object)) {
    const auto array = py::reinterpret_borrow<py::array>(object);
    if (array.ndim() || slot.kind == Kind::pointer) return put_bytes(argument, slot, index, to);
    const py::object element = array.attr("__getitem__")(py::tuple());  // as NumPy's scalar
    if (scalar_of(element.ptr()) || is_of_registered_dtype(element.ptr()))
      return (void)pack(element.ptr(), slot, index, to);
    return put_bytes(argument, slot, index, to);
  }
  if (PyBytes_Check(argument) || PyByteArray_Check(argument))
    return put_bytes(argument, slot, index, to);
  const py::module_ numpy = py::module_::import("numpy");
  if (py::isinstance(object, numpy.attr("void"))) return put_bytes(argument, slot, index, to);
  if (is_of_registered_dtype(argument)) {
    if (is_real(slot.kind)) return put_real(object.cast<double>(), slot, to);
    if (may_be(slot.kind, Kind::bytes)) return put_bytes(argument, slot, index, to);
  }
  if (py::isinstance(object, numpy.attr("generic")) || PyMemoryView_Check(argument))
    refuse(argument, slot, index, "");
  if (py::hasattr(object, "gpudata")) {
    const py::object memory = object.attr("gpudata");
    const void* address = memory.is_none() ? nullptr : address_of(memory, "gpudata");
    return put_address(address, argument, slot, index, to);
  }
  if (py::hasattr(object, "get_pointer"))
    return put_address(address_of(object.attr("get_pointer")(), "get_pointer()"), argument, slot,
                       index, to);
  if (PyIndex_Check(argument) || py::hasattr(object, "ptr"))
    return put_address(address_of(object, "argument"), argument, slot, index, to);
  refuse(argument, slot, index,
         py::hasattr(object, "device_data") ? "pass its .device_data()" : "");
}

// The address in what programs pass most, of elements that go with what the parameter points to;
// false if it is something else.
bool quick_address(PyObject* argument, const Slot& slot, std::size_t index, const void** address) {
  if (const GPUArray* const array = gpuarray_in(argument)) {
    array->core.require_alive();
    compare_elements(array->dtype.ptr(), slot, index);
    *address = array->core.address();
    return true;
  }
  if (Py_TYPE(argument) != type_of<DeviceAllocation>) return false;
  *address = address_in(held<DeviceAllocation>(argument), "argument");
  return true;
}

// An array of one element is a number where a program says so, by int() or float(): a launch does
// not fetch it unasked.
void refuse_array(PyObject* argument, const Slot& slot, std::size_t index, const char* why) {
  if (!PyFloat_CheckExact(argument) && is<GPUArray>(argument)) refuse(argument, slot, index, why);
}

PyTypeObject* type_object(const py::handle& type) {
  return reinterpret_cast<PyTypeObject*>(type.ptr());
}

bool is_handler(PyObject* argument) {
  PyObject* const type = hook_or_null(Hook::argument_handler).ptr();
  return type && PyObject_TypeCheck(argument, reinterpret_cast<PyTypeObject*>(type));
}

}  // namespace

void raise_argument_error(const std::string& text) {
  PyErr_SetString(hook(Hook::argument_error).ptr(), text.c_str());
  throw py::error_already_set();
}

void raise_shape_error(const std::string& text) {
  PyErr_SetString(hook(Hook::shape_error).ptr(), text.c_str());
  throw py::error_already_set();
}

Packed::Packed(const std::vector<Slot>& slots) {
  const std::size_t total =
      slots.empty() ? 0 : slots.back().storage + std::max<std::size_t>(slots.back().nbytes, 16);
  char* bytes = own_bytes_;
  if (slots.size() > few) {
    more_pointers_.resize(slots.size());
    pointers_ = more_pointers_.data();
  }
  if (total > small) {
    more_bytes_ = std::make_unique<char[]>(total);
    bytes = more_bytes_.get();
  }
  for (std::size_t i = 0; i < slots.size(); ++i) pointers_[i] = bytes + slots[i].storage;
}

void place(std::vector<Slot>& slots) {
  std::size_t end = 0;
  for (Slot& slot : slots) {
    slot.storage = end;
    end += (std::max<std::size_t>(slot.nbytes, 16) + 15) / 16 * 16;
  }
}

bool pack(PyObject* argument, const Slot& slot, std::size_t index, char* to) {
  const void* address = nullptr;
  if (quick_address(argument, slot, index, &address)) {
    put_address(address, argument, slot, index, to);
  } else if (const Scalar* scalar = scalar_of(argument)) {
    put_scalar(*scalar, argument, slot, index, to);
  } else if (PyLong_Check(argument) || PyFloat_Check(argument) || PyComplex_Check(argument)) {
    put_number(argument, slot, index, to);
  } else if (is_handler(argument)) {
    return false;
  } else {
    put_object(argument, slot, index, to);
  }
  return true;
}

void pack_promised(PyObject* argument, const Promise& promise, const Slot& slot, std::size_t index,
                   char* to) {
  switch (promise.kind) {
    case Kind::pointer: {
      const void* address = nullptr;
      if (quick_address(argument, slot, index, &address)) {
        std::memcpy(to, &address, sizeof address);
      } else if (PyLong_Check(argument)) {
        put_integer(integer_bits(argument, false, 8, slot, index), 8, to);
      } else {
        Slot pointer = slot;
        pointer.kind = Kind::pointer;
        if (!pack(argument, pointer, index, to))
          refuse(argument, slot, index, "a prepared call takes no In, Out or InOut");
      }
      return;
    }
    case Kind::integer:
    case Kind::natural: {
      if (PyLong_CheckExact(argument))
        return put_integer(
            integer_bits(argument, promise.kind == Kind::integer, promise.nbytes, slot, index),
            slot.nbytes ? slot.nbytes : promise.nbytes, to);
      refuse_array(argument, slot, index, "an integer was promised by prepare()");
      const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(argument));
      if (!number) {
        PyErr_Clear();
        refuse(argument, slot, index, "an integer was promised by prepare()");
      }
      return put_integer(
          integer_bits(number.ptr(), promise.kind == Kind::integer, promise.nbytes, slot, index),
          slot.nbytes ? slot.nbytes : promise.nbytes, to);
    }
    case Kind::real: {
      refuse_array(argument, slot, index, "a number was promised by prepare()");
      const double value = PyFloat_AsDouble(argument);
      if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        refuse(argument, slot, index, "a number was promised by prepare()");
      }
      return put_real(value, promise.nbytes, to);
    }
    case Kind::complex: {
      refuse_array(argument, slot, index, "a complex number was promised by prepare()");
      const Py_complex value = PyComplex_AsCComplex(argument);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        refuse(argument, slot, index, "a complex number was promised by prepare()");
      }
      return put_complex(value, promise.nbytes, to);
    }
    case Kind::boolean: {
      const int truth = PyObject_IsTrue(argument);
      if (truth < 0) throw py::error_already_set();
      *to = char(truth);
      return;
    }
    default: {
      if (!PyObject_CheckBuffer(argument))
        refuse(argument, slot, index, "bytes were promised by prepare()");
      Slot bytes = slot;
      bytes.kind = Kind::bytes;
      bytes.nbytes = promise.nbytes;
      return put_bytes(argument, bytes, index, to);
    }
  }
}

void check_promise(const Promise& promise, const Slot& slot, std::size_t index) {
  const bool widened =
      is_integral(promise.kind) && may_be_integral(slot) && promise.nbytes < slot.nbytes;
  const bool address = (promise.kind == Kind::pointer && is_integral(slot.kind)) ||
                       (is_integral(promise.kind) && slot.kind == Kind::pointer);
  const bool bits = slot.kind == Kind::bfloat && promise.kind == Kind::natural;
  const bool same_kind = may_be(slot.kind, promise.kind) || address || bits ||
                         (is_integral(promise.kind) && may_be_integral(slot)) ||
                         promise.kind == Kind::bytes || slot.kind == Kind::bytes;
  const bool same_size = !slot.nbytes || promise.nbytes == slot.nbytes;
  if (same_kind && (same_size || widened)) return;
  std::string text = "prepare: parameter #" + std::to_string(index) + " (0-based)";
  if (!slot.name.empty()) text += " '" + slot.name + "'";
  text += " is " + std::to_string(slot.nbytes) + " bytes, " + kind_text(slot.kind) +
          ", but the arguments promise " + std::to_string(promise.nbytes) + " bytes, " +
          kind_text(promise.kind);
  raise_argument_error(text);
}

void pack_handler(PyObject* handler, const Slot& slot, std::size_t index, char* to) {
  const py::object array = py::getattr(handler, "array", py::none());
  if (py::isinstance<py::array>(array))
    compare_elements(py::reinterpret_borrow<py::array>(array).dtype().ptr(), slot, index);
  const py::object memory = py::handle(handler).attr("get_device_alloc")();
  put_address(address_of(memory, "get_device_alloc()"), handler, slot, index, to);
}

int numpy_scalar_dtype(PyObject* object) {
  const Scalar* const scalar = scalar_of(object);
  if (!scalar) return -1;
  for (int code = 0; code < dtype_count; ++code)
    if (dtypes[code].kind == char(scalar->kind) && dtypes[code].itemsize == scalar->nbytes)
      return code;
  return -1;
}

void bind_packing() {
  const py::module_ numpy = py::module_::import("numpy");
  const auto add = [&](const char* name, Kind kind, std::size_t nbytes) {
    scalars.push_back({type_object(py::object(numpy.attr(name)).release()), kind, nbytes});
  };
  // In the order of how often programs pass them.
  add("int32", Kind::integer, 4);
  add("float32", Kind::real, 4);
  add("float64", Kind::real, 8);
  add("int64", Kind::integer, 8);
  add("uint32", Kind::natural, 4);
  add("uint64", Kind::natural, 8);
  add("complex64", Kind::complex, 8);
  add("complex128", Kind::complex, 16);
  add("int8", Kind::integer, 1);
  add("int16", Kind::integer, 2);
  add("uint8", Kind::natural, 1);
  add("uint16", Kind::natural, 2);
  add("float16", Kind::real, 2);
  add("bool_", Kind::boolean, 1);
  add("longlong", Kind::integer, sizeof(long long));
  add("ulonglong", Kind::natural, sizeof(long long));
}

}  // namespace PyGPU::python
