// Python arguments as C++ values: addresses, buffers, streams, axes.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "PyGPU/runtime/axes.h"
#include "PyGPU/runtime/error.h"
#include "PyGPU/runtime/layout.h"
#include "PyGPU/runtime/stream.h"
#include "python/binding/functions.h"
#include "python/binding/shared_classes.h"

namespace PyGPU::python {

// Handle the exception of a failed conversion, which the caller replaces by one that names the
// argument. Throw it if it comes from the program, such as from its own __index__.
void throw_if_from_program(const py::error_already_set& error);
void clear_conversion_error();  // the same for the pending exception

// On the target host: throw TypeError for an array of another library in a GPU's memory.
void require_reachable(py::handle object, const char* argument);

inline std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
// Return true for an array of any library. NumPy's scalars have its methods, too.
bool is_array(py::handle object);
// Return true if the object's __index__ is its value: it is a number, neither a bool nor an array,
// whose __index__ is its only element.
bool is_integer(py::handle object);
// Return the address in a Python object: a number with __index__, a pointer_wrapper, or an object
// with __cuda_array_interface__, .ptr, .gpudata or .get_pointer(); nothing for others.
// Throws ValueError for a read-only array that must be `writable`; messages name `argument`.
std::optional<void*> find_address(py::handle object, const char* argument, bool writable = false);
// The same, also for an object with __int__ that is no array. Throws TypeError for others.
void* address_of(py::handle object, const char* argument, bool writable = false);
// Parameters of Python functions: an address, as address_of finds it; and an object with memory, an
// address or a buffer, which copy_end reads.
struct Address {
  void* value;
};
struct MemoryObject {
  py::handle object;
};
// Return the pair (address, is it read-only?) of a __cuda_array_interface__.
py::tuple interface_data(const py::object& interface);
// Return true if a __cuda_array_interface__ says that its memory must not be written.
bool is_read_only(const py::object& interface);
// Set the function that finds the address of an array, before other ways are tried. The light ring
// knows no class of arrays; their binder sets it. It returns false for other objects.
using FindAddress = bool (*)(PyObject* object, void** address);
void set_address_of_arrays(FindAddress find);

// One end of a copy: an address, or an object with a contiguous buffer, whose size is known.
struct CopyEnd {
  void* address;
  std::size_t limit;  // bytes; SIZE_MAX if only the address is known
  std::shared_ptr<const void> view;
};
CopyEnd copy_end(py::handle object, const char* argument, bool writable);
// The same for a contiguous ndarray without Python's objects, which the caller keeps alive: without
// a view. Empty for everything else.
std::optional<CopyEnd> end_in_ndarray(py::handle object, bool writable);

// Convert the bytes of another process's memory or event handle; throws ValueError for a wrong
// length.
template <class Handle>
Handle ipc_handle_of(py::handle bytes) {
  Handle handle;
  const auto given = bytes.cast<std::string>();
  if (given.size() != sizeof handle)
    throw py::value_error("handle: expected " + std::to_string(sizeof handle) + " bytes, got " +
                          std::to_string(given.size()));
  std::memcpy(&handle, given.data(), sizeof handle);
  return handle;
}

// Return whether the object should be read as a buffer. NumPy's integer scalars export a buffer
// too, but are numbers.
bool is_buffer(py::handle object);
// View of a Python buffer, writable if the buffer is. Its release needs the GIL, which is held
// wherever Python drops the object that owns the view.
std::shared_ptr<py::buffer_info> view_buffer(py::handle object);

// Return the stream in an object. None is the null stream; a cudaStream_t, an int, and an object
// with __cuda_stream__, .handle, .ptr, .cuda_stream or __int__ are streams.
StreamRef stream_of(py::handle object);

// Return the axes in an int or a sequence of ints.
Axes axes_of(py::handle object, const char* argument);
// Return the axis counted from 0; a negative number counts from the end. Throws NumPy's AxisError
// for axes that do not exist.
int axis_index(py::handle axis, int ndim);
Order order_of(py::handle order);
py::tuple tuple_of(const Axes& axes);

template <>
struct ArgumentConverter<Address> {
  static Address read(PyObject* value, const ArgumentPosition& position) {
    return {address_of(value, position.function.parameters[position.number])};
  }
};
template <>
struct ArgumentConverter<MemoryObject> {
  static MemoryObject read(PyObject* value, const ArgumentPosition&) { return {value}; }
};
template <>
struct ArgumentConverter<Order> {
  static Order read(PyObject* value, const ArgumentPosition&) { return order_of(value); }
};
// A StreamRef parameter accepts whatever stream_of accepts; a Status parameter also accepts an int.
template <>
struct ArgumentConverter<StreamRef> {
  static StreamRef read(PyObject* value, const ArgumentPosition&) { return stream_of(value); }
};
template <>
struct ArgumentConverter<Status> {
  static Status read(PyObject* value, const ArgumentPosition& position);
};

// Names of these parameters' types in annotations.
template <>
inline constexpr const char* annotation_of<Address> = "Address";
template <>
inline constexpr const char* annotation_of<MemoryObject> = "Memory";
template <>
inline constexpr const char* annotation_of<StreamRef> = "StreamLike";
template <>
inline constexpr const char* annotation_of<cudaStream_t> = "StreamLike";
template <>
inline constexpr const char* annotation_of<Stream> = "cudaStream_t";
template <>
inline constexpr const char* annotation_of<Event> = "cudaEvent_t";
template <>
inline constexpr const char* annotation_of<cudaEvent_t> = "cudaEvent_t";
template <>
inline constexpr const char* annotation_of<Status> = "cudaError_t | int";

}  // namespace PyGPU::python
