// How <PyGPU/view.h> reads an array: the CUDA array interface, DLPack, and what does not match.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dlpack.h"
#include "type_kinds.h"
#include "vendor/memory_kinds.h"

namespace PyGPU {

enum class Order { any, c, f };

namespace views {

namespace py = pybind11;

struct Expectation {
  char kind;  // of type_kinds.h
  std::size_t itemsize;
  int rank;  // negative: any
  Order order;
  bool is_writable;
};

struct Found {
  char kind = '?';
  std::size_t itemsize = 0;
  void* pointer = nullptr;
  std::vector<std::int64_t> shape, strides;  // strides in bytes, then in elements
  bool has_strides = false;
  bool is_read_only = false;
  int memory = -1, device = -1;  // DLPack's pair
  void* stream = nullptr;
  std::shared_ptr<const void> owner;
};

inline std::string dtype_name(char kind, std::size_t itemsize) {
  const std::string bits = std::to_string(8 * itemsize);
  switch (kind) {
    case 'b': return "bool";
    case 'i': return "int" + bits;
    case 'u': return "uint" + bits;
    case 'f': return "float" + bits;
    case 'c': return "complex" + bits;
    case 'B': return "bfloat16";
    case 's': return "structures of " + std::to_string(itemsize) + " bytes";
    default: return "of another kind, with " + std::to_string(itemsize) + " bytes";
  }
}

inline std::string text_of(const Expectation& expected) {
  std::string text = expected.is_writable ? "a writable device array of " : "a device array of ";
  text += dtype_name(expected.kind, expected.itemsize);
  if (expected.rank >= 0) text += " with " + std::to_string(expected.rank) + " axes";
  if (expected.order != Order::any)
    text +=
        expected.order == Order::c ? ", contiguous in C order" : ", contiguous in Fortran order";
  return text;
}

inline std::string type_name(py::handle object) {
  const py::object type = py::type::handle_of(object).attr("__module__");
  const std::string module = py::isinstance<py::str>(type) ? py::cast<std::string>(type) : "";
  const std::string name = py::cast<std::string>(py::type::handle_of(object).attr("__qualname__"));
  return module.empty() || module == "builtins" ? name : module + "." + name;
}

// Return whether elements with strides in elements are in an order without gaps.
inline bool is_ordered(const std::vector<std::int64_t>& shape,
                       const std::vector<std::int64_t>& strides, Order order) {
  std::int64_t expected = 1;
  for (const std::int64_t length : shape)
    if (length == 0) return true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = order == Order::c ? shape.size() - 1 - i : i;
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

// Objects that keep memory alive: the array, and its DLPack export if there is one.
struct Owner {
  PyObject* array;
  std::function<void()> end_export;
};

inline std::shared_ptr<const void> owner_of(py::handle array, std::function<void()> end_export) {
  auto* const owner = new Owner{array.inc_ref().ptr(), std::move(end_export)};
  return {owner, [](const Owner* ended) {
            if (Py_IsInitialized()) {
              const PyGILState_STATE state = PyGILState_Ensure();  // the last copy may be anywhere
              if (ended->end_export) ended->end_export();
              Py_DECREF(ended->array);
              PyGILState_Release(state);
            }
            delete ended;
          }};
}

inline py::handle array_of(const void* owner) {
  return owner ? static_cast<const Owner*>(owner)->array : Py_None;
}

// Return an attribute; null, without an exception, if the object has none of this name.
inline py::object attribute(py::handle object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object.ptr(), name);
  if (!found) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
    PyErr_Clear();
  }
  return py::reinterpret_steal<py::object>(found);
}

// Return an item of a dict; None if there is no such key.
inline py::handle item(const py::dict& dict, const char* key) {
  PyObject* const found = PyDict_GetItemString(dict.ptr(), key);
  return found ? found : Py_None;
}

inline void* address_of(py::handle number) {
  void* const address = PyLong_AsVoidPtr(number.ptr());
  if (PyErr_Occurred()) throw py::error_already_set();
  return address;
}

// Read a type such as "<f8". NumPy's dtype V is that of structures.
inline std::string read_type(const std::string& text, const Expectation& expected, Found& found) {
  const std::size_t digits = text.find_first_not_of("0123456789", 2);
  if (text.size() < 3 || digits != std::string::npos)
    return "its typestr is '" + text + "', which is no type";
  found.kind = text[1];
  found.itemsize = std::size_t(std::stoul(text.substr(2)));
  const std::uint16_t one = 1;
  const bool is_little = *reinterpret_cast<const unsigned char*>(&one) == 1;
  if (found.itemsize > 1 && text[0] == (is_little ? '>' : '<'))
    return "its dtype '" + text + "' is not in the machine's byte order";
  if (found.kind == 'V') found.kind = expected.kind == 'B' ? 'B' : 's';
  return "";
}

inline std::string read_interface(py::handle object, const py::object& interface,
                                  const Expectation& expected, Found& found) {
  if (!py::isinstance<py::dict>(interface)) return "its __cuda_array_interface__ is no dict";
  const auto dict = py::reinterpret_borrow<py::dict>(interface);
  if (!item(dict, "mask").is_none()) return "it has a mask";
  const std::string reason =
      read_type(py::cast<std::string>(item(dict, "typestr")), expected, found);
  if (!reason.empty()) return reason;
  const auto data = py::cast<py::tuple>(item(dict, "data"));
  found.pointer = address_of(data[0]);
  found.is_read_only = py::cast<bool>(data[1]);
  for (const py::handle length : py::cast<py::tuple>(item(dict, "shape")))
    found.shape.push_back(py::cast<std::int64_t>(length));
  const py::handle strides = item(dict, "strides");
  found.has_strides = !strides.is_none();
  if (found.has_strides)
    for (const py::handle stride : py::cast<py::tuple>(strides))
      found.strides.push_back(py::cast<std::int64_t>(stride));
  const py::handle stream = item(dict, "stream");
  if (!stream.is_none()) found.stream = address_of(stream);
  found.owner = owner_of(object, {});
  return "";
}

inline char kind_of(dlpack::TypeCode code) {
  switch (code) {
    case dlpack::TypeCode::integer: return 'i';
    case dlpack::TypeCode::unsigned_integer: return 'u';
    case dlpack::TypeCode::floating_point: return 'f';
    case dlpack::TypeCode::complex: return 'c';
    case dlpack::TypeCode::boolean: return 'b';
    default: return int(code) == 4 ? 'B' : '?';
  }
}

inline void read_tensor(const dlpack::Tensor& tensor, Found& found) {
  found.kind = tensor.type.lanes == 1 ? kind_of(tensor.type.code) : '?';
  found.itemsize = tensor.type.bits / 8u * tensor.type.lanes;
  if (tensor.data) found.pointer = static_cast<char*>(tensor.data) + tensor.byte_offset;
  found.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  found.has_strides = tensor.strides != nullptr;
  if (found.has_strides)
    for (int axis = 0; axis < tensor.ndim; ++axis)
      found.strides.push_back(tensor.strides[axis] * std::int64_t(found.itemsize));
}

// Call __dlpack__ for the null stream. Libraries of before DLPack 1.0 have no max_version.
inline py::object capsule_of(const py::object& export_, int memory) {
  const bool is_rocm = memory == int(dlpack::DeviceType::rocm);
  const py::int_ stream(is_rocm ? 0 : 1);
  try {
    return export_(py::arg("stream") = stream, py::arg("max_version") = py::make_tuple(1, 1));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return export_(py::arg("stream") = stream);
}

// Take the tensor out of a capsule.
template <class Managed>
void take_tensor(py::handle object, const py::object& capsule, Found& found) {
  auto* const managed =
      static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::Names<Managed>::fresh));
  if (PyCapsule_SetName(capsule.ptr(), dlpack::Names<Managed>::used)) throw py::error_already_set();
  found.owner = owner_of(object, [managed] {
    if (managed->deleter) managed->deleter(managed);
  });
  if constexpr (std::is_same<Managed, dlpack::ManagedVersioned>::value)
    found.is_read_only = managed->flags & dlpack::read_only;
  read_tensor(managed->tensor, found);
}

inline std::string read_dlpack(py::handle object, const py::object& export_, Found& found) {
  using dlpack::DeviceType;
  const auto memory = DeviceType(found.memory);
  if (memory == DeviceType::cpu) return "it is in the memory of the CPU";
  if (memory != DeviceType::cuda && memory != DeviceType::cuda_host &&
      memory != DeviceType::cuda_managed && memory != DeviceType::rocm &&
      memory != DeviceType::rocm_host)
    return "its memory is of DLPack's kind " + std::to_string(found.memory);
  const py::object capsule = capsule_of(export_, found.memory);
  const char* const versioned = dlpack::Names<dlpack::ManagedVersioned>::fresh;
  if (PyCapsule_IsValid(capsule.ptr(), versioned)) {
    const auto* const version =
        static_cast<const dlpack::Version*>(PyCapsule_GetPointer(capsule.ptr(), versioned));
    if (version->major != 1)
      return "it exports DLPack " + std::to_string(version->major) + ", expected 1";
    take_tensor<dlpack::ManagedVersioned>(object, capsule, found);
  } else if (PyCapsule_IsValid(capsule.ptr(), dlpack::Names<dlpack::Managed>::fresh)) {
    take_tensor<dlpack::Managed>(object, capsule, found);
  } else {
    return "its __dlpack__() returned no DLPack capsule";
  }
  return "";
}

// Return the reason for which a found array is not the expected one, and convert its strides.
inline std::string mismatch(const Expectation& expected, Found& found) {
  if (found.memory >= 0 && !library::is_target_memory(found.memory))
    return std::string("it is not in the memory of ") + library::target_memory +
           ", for which the module is compiled";
  if (found.kind != expected.kind || found.itemsize != expected.itemsize)
    return "its dtype is " + dtype_name(found.kind, found.itemsize);
  const std::size_t ndim = found.shape.size();
  if (expected.rank >= 0 && ndim != std::size_t(expected.rank))
    return "it has " + std::to_string(ndim) + " axes";
  if (expected.is_writable && found.is_read_only) return "it is read-only";
  const auto itemsize = std::int64_t(found.itemsize);
  if (!found.has_strides) {
    found.strides.assign(ndim, 1);
    for (std::size_t axis = ndim; axis-- > 1;)
      found.strides[axis - 1] = found.strides[axis] * found.shape[axis];
  } else {
    if (found.strides.size() != ndim) return "its shape and strides differ in length";
    for (std::int64_t& stride : found.strides) {
      if (stride % itemsize != 0)
        return "its stride of " + std::to_string(stride) + " bytes is no multiple of its item size";
      stride /= itemsize;
    }
  }
  if (expected.order != Order::any && !is_ordered(found.shape, found.strides, expected.order))
    return "its elements are in another order, or have gaps";
  return "";
}

// Read an array; return the reason if it is not the expected one, otherwise "".
inline std::string read(py::handle object, const Expectation& expected, Found& found) {
  if (!object || object.is_none() || py::isinstance<py::type>(object)) return "it is no array";
  if (const py::object device = attribute(object, "__dlpack_device__")) {
    const auto pair = py::cast<py::tuple>(device());
    found.memory = py::cast<int>(pair[0]);
    found.device = py::cast<int>(pair[1]);
  }
  py::object interface, export_;
  try {
    interface = attribute(object, "__cuda_array_interface__");
    if (!interface) interface = attribute(object, "_array_interface");  // a GPUArray on host
  } catch (py::error_already_set& error) {  // a dtype without a typestr: there may be DLPack
    if (!error.matches(PyExc_Exception)) throw;
    export_ = attribute(object, "__dlpack__");
    if (!export_) throw;
  }
  if (!interface && !export_ && found.memory >= 0) export_ = attribute(object, "__dlpack__");
  if (!interface && !export_) return "it has neither __cuda_array_interface__ nor __dlpack__";
  const std::string reason = interface ? read_interface(object, interface, expected, found)
                                       : read_dlpack(object, export_, found);
  return reason.empty() ? mismatch(expected, found) : reason;
}

// Read PyGPU's pointer_wrapper_<dtype>, whose class has its dtype's name. Return whether it is one.
inline bool read_pointer(py::handle object, const Expectation& expected, void*& address) {
  if (!object || object.is_none()) return false;
  const py::object name = attribute(py::type::handle_of(object), "dtype");
  if (!name || !py::isinstance<py::str>(name) ||
      py::cast<std::string>(name) != dtype_name(expected.kind, expected.itemsize))
    return false;
  const py::object number = attribute(object, "ptr");
  if (!number || !py::isinstance<py::int_>(number)) return false;
  address = address_of(number);
  return true;
}

}  // namespace views
}  // namespace PyGPU
