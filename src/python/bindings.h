// Shared parts of the bindings: arguments as C++ values, calls without the GIL, the binders.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>

#include "PyGPU/runtime/device_array.h"
#include "PyGPU/runtime/error.h"
#include "PyGPU/runtime/graph.h"
#include "PyGPU/runtime/kernel.h"
#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/pointer.h"
#include "PyGPU/runtime/stream.h"
#include "PyGPU/runtime/texture.h"
#include "python/functions.h"
#include "python/gil.h"

namespace PyGPU::python {

// Create the classes that pybind11 makes when it handles its first exception. Creating them only
// then could fail: the exception may report too deep a recursion or too little memory.
void make_pybind11_ready();

// Binders, one for each subject; module.cpp calls them.
void bind_status(py::module_& m);
void bind_constants(py::module_& m);
void bind_device(py::module_& m);
void bind_device_scope(py::module_& m);
void bind_stream(py::module_& m);
void bind_calls(py::module_& m);
void bind_graph(py::module_& m);
void bind_host_functions(py::module_& m);
void bind_owners(py::module_& m);
void bind_capture_scope(py::module_& m);
void bind_copies(py::module_& m);
void bind_transfer_settings(py::module_& m);
void bind_pointers(py::module_& m);
void bind_device_arrays(py::module_& m);
void bind_gpuarray(py::module_& m);
void bind_module(py::module_& m);
void bind_function(py::module_& m);
void bind_elementwise(py::module_& m);
void bind_reduction_launcher(py::module_& m);
void bind_scan(py::module_& m);
void bind_arrays(py::module_& m);

// Enqueue a launch. Releasing the GIL costs a sixteenth of a launch, so the GIL is released only
// where the launch may wait: for space in the queue, for a Python function in the queue, or for the
// host machine, which runs the kernel at once. `launch` must not throw. Throws what
// throw_unread_error throws.
template <class Launch>
auto without_gil_if_waiting(int device, bool on_null_stream, Launch launch) {
  constexpr unsigned surely_queued = 512;  // launches that fit into any queue, with a margin
  throw_unread_error();
  const bool may_wait = launch_runs_kernel ||
                        count_launch(device, on_null_stream) > surely_queued || uses_host_functions;
  const NoGil without = may_wait ? release_gil() : NoGil();
  return launch();
}

const DType& dtype_named(const std::string& name);

// PyMethodDef entry from a function of any of CPython's calling conventions.
template <class Method>
PyCFunction as_method(Method method) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
}

// Return the dtype that a typed class, a Python subclass, names in its attribute `dtype`.
const DType& dtype_of_class(py::handle self);

// Make a low-level call without the GIL and convert its outcome. The common part is compiled once.
Status call_by(Status (*make)(const void*), const void* what);
template <class Call>
Status call(const Call& make) {
  return call_by([](const void* what) -> Status { return (*static_cast<const Call*>(what))(); },
                 &make);
}

// Wait for the work on a stream. Throws if this thread captures a stream.
void wait_for(const StreamRef& stream);

// Make a call that is unrelated to a capture of this thread, but could invalidate it. Captures by
// other threads or libraries are protected in _in_relaxed_capture_mode alone, for releases that
// happen by themselves: before HIP 7 the protecting calls replace the last error, which a program
// expects from this call.
template <class Call>
Status call_in_relaxed_mode(Call make) {
  if (!Capture::current()) return call(make);
  return call([&] {
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    return make();
  });
}

// Make a low-level call that enqueues on a stream. It is ordered among the uses of PyGPU's memory
// at the given `addresses`.
template <class Call>
Status call_on(const StreamRef& stream, std::initializer_list<const void*> addresses, Call make) {
  return call([&]() -> Status {
    StreamOrder order(stream);
    Status outcome;
    try {
      for (const void* address : addresses) order.uses_at(address);
      order.run([&] { outcome = make(); });
    } catch (const DeviceError& error) {
      return error.status;
    }
    return outcome;
  });
}

// Result of a low-level call that yields values: (value, ..., status).
template <class... Values>
auto with_status(const Status& status, const Values&... values) {
  return std::make_tuple(values..., status);
}

// Return the attribute, or null if the object has none. Exceptions other than AttributeError
// propagate; py::getattr with a default and py::hasattr swallow them.
py::object attribute_or_null(py::handle object, const char* name);
// Handle the exception of a failed conversion, which the caller replaces by one that names the
// argument. Throw it if it comes from the program, such as from its own __index__.
void throw_if_from_program(const py::error_already_set& error);
void clear_conversion_error();  // the same for the pending exception

inline std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
// Return the address in a Python object: an int, anything with __index__ or __int__
// (pointer_wrapper), with __cuda_array_interface__, or with .ptr. Otherwise throws a TypeError that
// names `argument`.
void* address_of(py::handle object, const char* argument);
// Parameters of Python functions: an address, as address_of finds it; and an object with memory, an
// address or a buffer, which copy_end reads.
struct Address {
  void* value;
};
struct MemoryObject {
  py::handle object;
};
// Return true if a __cuda_array_interface__ says that its memory must not be written.
bool is_read_only(const py::object& interface);
// Set the function that finds the address of an array, before other ways are tried. The light ring
// knows no class of arrays; their binder sets it. It returns false for other objects.
using FindAddress = bool (*)(PyObject* object, void** address);
void set_address_of_arrays(FindAddress find);

// Keep an object alive as long as the graph that this thread captures, if it captures a stream.
void keep_for_graph(const py::object& memory);

// One end of a copy: an address, or an object with a contiguous buffer, whose size is known.
struct CopyEnd {
  void* address;
  std::size_t limit;  // bytes; SIZE_MAX if only the address is known
  std::shared_ptr<const void> view;
};
CopyEnd copy_end(py::handle object, const char* argument, bool writable);

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

py::object wrap_pointer(const Pointer& pointer);  // as pointer_wrapper_<dtype>
std::string hex(const void* address);

// Export the buffer of the NumPy array that `array_of` makes from the object.
template <py::array (*array_of)(py::object)>
int export_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(
      [&] {
        const py::array array = array_of(py::reinterpret_borrow<py::object>(self));
        return PyObject_GetBuffer(array.ptr(), view, flags);
      },
      -1);
}

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

// Classes whose values C++ shares, and may keep longer than Python does.
#define PYGPU_SHARED(T)              \
  template <>                        \
  struct HeldAs<T> {                 \
    using Type = std::shared_ptr<T>; \
  };
PYGPU_SHARED(Stream)
PYGPU_SHARED(Event)
PYGPU_SHARED(Module)
PYGPU_SHARED(TextureArray)
PYGPU_SHARED(TextureObject)
PYGPU_SHARED(SurfaceObject)

}  // namespace PyGPU::python
