// Packing of kernel arguments. See packing.h. This is the hot path of a launch: there are no
// pybind11 casts for the most frequent arguments, which are arrays, allocations and NumPy's
// scalars.
#include "python/launch/packing.h"

#include <cstring>

#include "PyGPU/runtime/dtypes.h"
#include "python/binders.h"
#include "python/binding/errors.h"
#include "python/binding/hooks.h"
#include "python/launch/checks.h"
#include "python/value/gpuarray.h"

namespace PyGPU::python {
namespace {

// NumPy's scalars store their value after the object header (PyArrayScalar in NumPy's headers).
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

void put_address(const void* address, PyObject* argument, const KernelParameter& parameter,
                 std::size_t index, char* to) {
  const bool number = is_integral(parameter.kind) &&
                      parameter.nbytes == sizeof address;  // addresses passed as integers
  if (!(accepts_kind(parameter.kind, Kind::pointer) || number) ||
      (parameter.nbytes && parameter.nbytes != sizeof address))
    refuse(argument, parameter, index,
           is<GPUArray>(argument)
               ? "an address does not fit; int(a) and float(a) return an array's only element"
               : "an address does not fit");
  std::memcpy(to, &address, sizeof address);
}

void put_scalar(const Scalar& scalar, PyObject* argument, const KernelParameter& parameter,
                std::size_t index, char* to) {
  const char* value = scalar_value(argument);
  if (is_integral(scalar.kind) || scalar.kind == Kind::boolean) {
    const bool address = parameter.kind == Kind::pointer && scalar.nbytes == 8;
    if (parameter.kind == Kind::bfloat && scalar.kind == Kind::unsigned_integer &&
        scalar.nbytes == 2) {
      std::memcpy(to, value, 2);  // the bits of a bfloat16, from programs without ml_dtypes
      return;
    }
    if (is_floating_point(parameter.kind)) {
      check_integer(argument, parameter, index);
      const auto number = py::reinterpret_steal<py::object>(PyNumber_Float(argument));
      if (!number) throw py::error_already_set();
      return put_floating_point(PyFloat_AS_DOUBLE(number.ptr()), parameter, to);
    }
    if (!address && !accepts_integers(parameter))
      refuse(argument, parameter, index, "an integer does not fit");
    if (parameter.nbytes && scalar.nbytes > parameter.nbytes)
      refuse(argument, parameter, index, "it is wider than the parameter");
    const std::uint64_t bits = read_integer(value, scalar.nbytes, scalar.kind == Kind::integer);
    if (parameter.kind == Kind::boolean) {
      *to = bits != 0;
      return;
    }
    return put_integer(bits, parameter.nbytes ? parameter.nbytes : scalar.nbytes, to);
  }
  if (!accepts_kind(parameter.kind, scalar.kind))
    refuse(argument, parameter, index, "it is of another kind");
  if (parameter.nbytes && scalar.nbytes != parameter.nbytes)
    refuse(argument, parameter, index, "it has another width");
  std::memcpy(to, value, scalar.nbytes);
}

// Return true for an ndarray in managed memory, which host and device share. Throws if the memory
// was freed.
bool is_managed(py::handle array) {
  for (py::object owner = attribute_or_null(array, "base"); owner && !owner.is_none();
       owner = attribute_or_null(owner, "base")) {
    if (!attribute_or_null(owner, "_is_managed_memory")) continue;
    if (is<DeviceAllocation>(owner)) (void)address_of(owner, "argument");
    return true;
  }
  return false;
}

// Return true for a scalar of a dtype that another package registered with NumPy, such as
// ml_dtypes' bfloat16.
bool is_of_registered_dtype(PyObject* argument) {
  const py::handle object(argument);
  return py::isinstance(object, module_::import("numpy").attr("generic")) &&
         object.attr("dtype").attr("isbuiltin").cast<int>() == 2;
}

// Return an object that exports the bytes of the argument. NumPy exports no buffer for some dtypes.
py::object exporter_of(PyObject* argument, const KernelParameter& parameter, std::size_t index) {
  const auto object = py::reinterpret_borrow<py::object>(argument);
  if (is_of_registered_dtype(argument)) return object.attr("tobytes")();
  if (!py::isinstance<np::array>(object)) return object;
  const np::dtype dtype = py::reinterpret_borrow<np::array>(object).dtype();
  const bool is_date_or_text = std::strchr("mMSU", dtype.kind());
  if (dtype.kind() == 'O' || (is_date_or_text && !accepts_kind(parameter.kind, Kind::bytes)))
    refuse(argument, parameter, index, "its dtype is " + text_of(dtype));
  return object.attr("view")("V" + std::to_string(dtype.itemsize()));
}

// Pack structures and other bytes by value.
void put_bytes(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to) {
  if (py::isinstance<np::array>(argument) && is_managed(argument)) {
    const auto array = py::reinterpret_borrow<np::array>(argument);
    if (parameter.is_writable && !array.writeable())
      refuse(argument, parameter, index,
             "the array is read-only: pass a copy, or declare the elements const");
    return put_address(array.data(), argument, parameter, index, to);
  }
  if (parameter.kind == Kind::pointer)
    refuse(argument, parameter, index,
           "host memory does not fit: pass In(), Out() or InOut() of it, or a GPUArray");
  const py::object exporter = exporter_of(argument, parameter, index);
  const auto view = view_buffer(exporter.ptr());
  const Py_buffer* raw = view->view();
  if (parameter.nbytes && std::size_t(raw->len) != parameter.nbytes)
    refuse(argument, parameter, index, "it has " + std::to_string(raw->len) + " bytes");
  if (parameter.nbytes == 0)
    refuse(argument, parameter, index, "the size of the parameter is unknown");
  if (!PyBuffer_IsContiguous(raw, 'A')) refuse(argument, parameter, index, "it is not contiguous");
  std::memcpy(to, raw->buf, std::size_t(raw->len));
}

void put_object(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to) {
  const py::handle object(argument);
  if (PyList_Check(argument) || PyTuple_Check(argument))
    refuse(argument, parameter, index,
           accepts_kind(parameter.kind, Kind::pointer)
               ? "pass an array: gpuarray.to_gpu(numpy.array(...)) or In(numpy.array(...))"
               : "");
  if (argument == Py_None)
    refuse(argument, parameter, index,
           parameter.kind == Kind::pointer ? "pass 0 for a null pointer" : "");
  if (PyUnicode_Check(argument)) refuse(argument, parameter, index, "");
  const py::object interface = attribute_or_null(object, "__cuda_array_interface__");
  if (interface && !interface.is_none()) {
    if (parameter.is_writable && is_read_only(interface))
      refuse(
          argument, parameter, index,
          "its __cuda_array_interface__ is read-only: pass a copy, or declare the elements const");
    return put_address(address_of(object, "argument"), argument, parameter, index, to);
  }
  if (py::isinstance<np::array>(object)) {
    const auto array = py::reinterpret_borrow<np::array>(object);
    if (array.ndim() || parameter.kind == Kind::pointer)
      return put_bytes(argument, parameter, index, to);
    const py::object element = array.attr("__getitem__")(py::tuple());  // a NumPy scalar
    if (scalar_of(element.ptr()) || is_of_registered_dtype(element.ptr()))
      return (void)pack(element.ptr(), parameter, index, to);
    return put_bytes(argument, parameter, index, to);
  }
  if (PyBytes_Check(argument) || PyByteArray_Check(argument))
    return put_bytes(argument, parameter, index, to);
  const module_ numpy = module_::import("numpy");
  if (py::isinstance(object, numpy.attr("void"))) return put_bytes(argument, parameter, index, to);
  if (is_of_registered_dtype(argument)) {
    if (is_floating_point(parameter.kind))
      return put_floating_point(object.cast<double>(), parameter, to);
    if (accepts_kind(parameter.kind, Kind::bytes)) return put_bytes(argument, parameter, index, to);
  }
  if (py::isinstance(object, numpy.attr("generic")) || PyMemoryView_Check(argument))
    refuse(argument, parameter, index, "");
  if (const auto address = find_address(object, position_text(parameter, index).c_str()))
    return put_address(*address, argument, parameter, index, to);
  refuse(argument, parameter, index,
         is_array(object) ? "pass gpuarray.to_gpu(numpy.asarray(x)), or as a number x.item()"
         : attribute_or_null(object, "device_data") ? "pass its .device_data()"
                                                    : "");
}

// Get the address in the most frequent arguments, after a check of their dtype. Return false for
// other objects.
bool quick_address(PyObject* argument, const KernelParameter& parameter, std::size_t index,
                   const void** address) {
  if (const GPUArray* const array = gpuarray_in(argument)) {
    if (array->core.address()) array->core.require_alive();
    compare_elements(array->dtype.ptr(), parameter, index);
    *address = array->core.address();
    return true;
  }
  if (Py_TYPE(argument) != type_of<DeviceAllocation>) return false;
  *address = address_in(held<DeviceAllocation>(argument), "argument");
  return true;
}

constexpr const char* no_c_type =
    "a plain Python number has no C type, and the kernel's signature is unknown: pass "
    "numpy.int32(x), numpy.float32(x) ...";

// Store a plain Python number, converted to the type in the signature. Only ints are bools.
void put_plain_number(PyObject* argument, const KernelParameter& parameter, std::size_t index,
                      char* to) {
  if (parameter.kind == Kind::unknown) refuse(argument, parameter, index, no_c_type);
  const bool may_fit = parameter.kind != Kind::boolean || PyLong_Check(argument);
  switch (may_fit ? put_number(argument, parameter, to) : Misfit::another_kind) {
    case Misfit::none: return;
    case Misfit::out_of_range: refuse_out_of_range(argument, parameter, parameter, index);
    case Misfit::another_kind: refuse(argument, parameter, index, "");
  }
}

// Return what was packed after conversion of a number: objects that are neither Python's nor
// NumPy's own numbers may have run Python code.
Packing packing_of_number(PyObject* argument) {
  const bool is_python = PyFloat_CheckExact(argument) || PyLong_CheckExact(argument) ||
                         PyComplex_CheckExact(argument) || PyBool_Check(argument);
  return is_python || scalar_of(argument) ? Packing::done : Packing::done_after_python;
}

PyTypeObject* type_object(const py::handle& type) {
  return reinterpret_cast<PyTypeObject*>(type.ptr());
}

bool is_handler(PyObject* argument) {
  PyObject* const type = hook_or_null(Hook::argument_handler).ptr();
  return type && PyObject_TypeCheck(argument, reinterpret_cast<PyTypeObject*>(type));
}

}  // namespace

Packing pack(PyObject* argument, const KernelParameter& parameter, std::size_t index, char* to) {
  const void* address = nullptr;
  if (quick_address(argument, parameter, index, &address)) {
    put_address(address, argument, parameter, index, to);
    return Packing::done;
  }
  if (const Scalar* scalar = scalar_of(argument)) {
    put_scalar(*scalar, argument, parameter, index, to);
    return Packing::done;
  }
  if (PyLong_Check(argument) || PyFloat_Check(argument) || PyComplex_Check(argument)) {
    put_plain_number(argument, parameter, index, to);
    return packing_of_number(argument);
  }
  if (is_handler(argument)) return Packing::needs_handler;
  put_object(argument, parameter, index, to);
  return Packing::done_after_python;
}

namespace {

// Pack an int, or an argument that is not a frequent one, for a pointer.
Packing pack_declared_pointer(PyObject* argument, const KernelParameter& parameter,
                              std::size_t index, char* to) {
  if (PyLong_Check(argument) && !PyBool_Check(argument)) {
    constexpr ValueType type{Kind::pointer, sizeof(void*)};
    if (put_number(argument, type, to) != Misfit::none)
      refuse_out_of_range(argument, type, parameter, index);
    return Packing::done;
  }
  KernelParameter pointer = parameter;
  pointer.kind = Kind::pointer;
  const Packing packing = pack(argument, pointer, index, to);
  if (packing == Packing::needs_handler)
    refuse(argument, parameter, index, "prepared calls do not accept In, Out or InOut");
  return packing;
}

Packing pack_declared_bytes(PyObject* argument, ValueType declared,
                            const KernelParameter& parameter, std::size_t index, char* to) {
  if (!PyObject_CheckBuffer(argument))
    refuse(argument, parameter, index, "prepare() declared a structure");
  KernelParameter bytes = parameter;
  bytes.kind = Kind::bytes;
  bytes.nbytes = declared.nbytes;
  put_bytes(argument, bytes, index, to);
  return Packing::done_after_python;
}

// Throw the error for a number that does not fit into a declared type.
[[noreturn]] void refuse_declared(Misfit misfit, PyObject* argument, ValueType declared,
                                  const KernelParameter& parameter, std::size_t index) {
  if (misfit == Misfit::out_of_range) refuse_out_of_range(argument, declared, parameter, index);
  refuse(argument, parameter, index,
         std::string("prepare() declared ") +
             (is_integral(declared.kind) ? "an integer" : kind_text(declared.kind)));
}

// Extend a stored integer to the size of the parameter.
void widen(ValueType declared, const KernelParameter& parameter, char* to) {
  if (is_integral(declared.kind) && parameter.nbytes > declared.nbytes)
    put_integer(read_integer(to, declared.nbytes, declared.kind == Kind::integer), parameter.nbytes,
                to);
}

}  // namespace

Packing pack_declared(PyObject* argument, ValueType declared, const KernelParameter& parameter,
                      std::size_t index, char* to) {
  if (declared.kind == Kind::pointer) {
    const void* address = nullptr;
    if (!quick_address(argument, parameter, index, &address))
      return pack_declared_pointer(argument, parameter, index, to);
    std::memcpy(to, &address, sizeof address);
    return Packing::done;
  }
  if (declared.kind == Kind::bytes || declared.kind == Kind::unknown)
    return pack_declared_bytes(argument, declared, parameter, index, to);
  PyObject* number = argument;
  bool may_fit = true;
  if (!PyLong_CheckExact(argument) && !PyFloat_CheckExact(argument)) {
    // A launch neither copies an array to the host nor drops an imaginary part: programs do so by
    // int(), float() or .real. NumPy's bools have no __index__.
    const Scalar* const scalar = scalar_of(argument);
    const Kind kind = scalar ? scalar->kind : Kind::unknown;
    if (kind == Kind::boolean) number = is_true(argument) ? Py_True : Py_False;
    may_fit =
        declared.kind == Kind::boolean ||
        !(is<GPUArray>(argument) || (parameter.kind == Kind::pointer && !is_integer(argument)) ||
          (kind == Kind::complex && declared.kind != Kind::complex));
  }
  const Misfit misfit = may_fit ? put_number(number, declared, to) : Misfit::another_kind;
  if (misfit != Misfit::none) refuse_declared(misfit, argument, declared, parameter, index);
  widen(declared, parameter, to);
  return packing_of_number(argument);
}

void pack_declared(Index number, ValueType declared, const KernelParameter& parameter,
                   std::size_t index, char* to) {
  const Misfit misfit = put_number(number, declared, to);
  if (misfit != Misfit::none)
    refuse_declared(misfit, py::int_(number).ptr(), declared, parameter, index);
  widen(declared, parameter, to);
}

void check_declaration(ValueType declared, const KernelParameter& parameter, std::size_t index) {
  const bool widened = is_integral(declared.kind) && accepts_integers(parameter) &&
                       declared.nbytes < parameter.nbytes;
  const bool address = (declared.kind == Kind::pointer && is_integral(parameter.kind)) ||
                       (is_integral(declared.kind) && parameter.kind == Kind::pointer);
  const bool bits = parameter.kind == Kind::bfloat && declared.kind == Kind::unsigned_integer;
  const bool same_kind = accepts_kind(parameter.kind, declared.kind) || address || bits ||
                         (is_integral(declared.kind) && accepts_integers(parameter)) ||
                         declared.kind == Kind::bytes || parameter.kind == Kind::bytes;
  const bool same_size = !parameter.nbytes || declared.nbytes == parameter.nbytes;
  if (same_kind && (same_size || widened)) return;
  std::string text = "prepare: " + position_text(parameter, index) + ": the kernel expects " +
                     std::string(kind_text(parameter.kind)) + " of " +
                     std::to_string(parameter.nbytes) + " bytes, but prepare() declares " +
                     kind_text(declared.kind) + " of " + std::to_string(declared.nbytes) + " bytes";
  raise_argument_error(text);
}

Arguments::Arguments(const std::string& function, const std::vector<KernelParameter>& parameters,
                     std::shared_ptr<const Prepared> prepared)
    : function_(function), parameters_(parameters), prepared_(std::move(prepared)) {
  const std::size_t count = parameters.size();
  const std::size_t total =
      count ? parameters.back().offset + std::max<std::size_t>(parameters.back().nbytes, 16) : 0;
  char* bytes = own_bytes_;
  if (count > inline_count) {
    more_pointers_.resize(count);
    more_objects_.resize(count);
    pointers_ = more_pointers_.data();
    objects_ = more_objects_.data();
  }
  if (total > inline_bytes) {
    more_bytes_ = std::make_unique<char[]>(total);
    bytes = more_bytes_.get();
  }
  for (std::size_t i = 0; i < count; ++i) pointers_[i] = bytes + parameters[i].offset;
}

void Arguments::require_count(std::size_t count) const {
  if (count != parameters_.size())
    raise_argument_error(function_ + (prepared_ ? "() was prepared for " : "() takes ") +
                         counted_arguments(parameters_.size()) + ", not " + std::to_string(count));
}

Packing Arguments::add(PyObject* argument) {
  const std::size_t i = next();
  objects_[i] = argument;
  const Packing packing =
      prepared_ ? pack_declared(argument, prepared_->declared[i], parameters_[i], i, value(i))
                : pack(argument, parameters_[i], i, value(i));
  has_run_python_ |= packing != Packing::done;
  return packing;
}

void Arguments::add(Index number) {
  const std::size_t i = next();
  objects_[i] = nullptr;
  pack_declared(number, prepared_->declared[i], parameters_[i], i, value(i));
}

void Arguments::pack_handler() {
  const std::size_t i = count_ - 1;
  const py::handle handler = objects_[i];
  const py::object array = attribute_or_null(handler, "array");
  if (array && py::isinstance<np::array>(array))
    compare_elements(py::reinterpret_borrow<np::array>(array).dtype().ptr(), parameters_[i], i);
  const py::object memory = handler.attr("get_device_alloc")();
  put_address(address_of(memory, "get_device_alloc()"), objects_[i], parameters_[i], i, value(i));
}

void Arguments::pack_addresses_again() {
  for (std::size_t i = 0; has_run_python_ && i < count_; ++i) {
    const void* address = nullptr;
    if (objects_[i] && quick_address(objects_[i], parameters_[i], i, &address))
      std::memcpy(value(i), &address, sizeof address);
  }
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
  const module_ numpy = module_::import("numpy");
  const auto add = [&](const char* name, Kind kind, std::size_t nbytes) {
    scalars.push_back({type_object(py::object(numpy.attr(name)).release()), kind, nbytes});
  };
  // Most frequent types first, because the search is linear.
  add("int32", Kind::integer, 4);
  add("float32", Kind::floating_point, 4);
  add("float64", Kind::floating_point, 8);
  add("int64", Kind::integer, 8);
  add("uint32", Kind::unsigned_integer, 4);
  add("uint64", Kind::unsigned_integer, 8);
  add("complex64", Kind::complex, 8);
  add("complex128", Kind::complex, 16);
  add("int8", Kind::integer, 1);
  add("int16", Kind::integer, 2);
  add("uint8", Kind::unsigned_integer, 1);
  add("uint16", Kind::unsigned_integer, 2);
  add("float16", Kind::floating_point, 2);
  add("bool_", Kind::boolean, 1);
  add("longlong", Kind::integer, sizeof(long long));
  add("ulonglong", Kind::unsigned_integer, sizeof(long long));
}

}  // namespace PyGPU::python
