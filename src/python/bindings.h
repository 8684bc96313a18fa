// What the bindings share: arguments as C++ values, calls without the GIL, the list of concepts.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>

#include "PyGPU/array.h"
#include "PyGPU/device_array.h"
#include "PyGPU/error.h"
#include "PyGPU/graph.h"
#include "PyGPU/kernel.h"
#include "PyGPU/pointer.h"
#include "PyGPU/stream.h"
#include "PyGPU/texture.h"
#include "python/functions.h"
#include "python/gil.h"

namespace PyGPU::python {

// pybind11 makes classes of its own at the end of the first exception, which may be one of too deep
// a recursion, or of too little memory: this makes them.
void make_pybind11_ready();

// One function a concept; module.cpp is the list.
void bind_status(py::module_& m);
void bind_constants(py::module_& m);
void bind_device(py::module_& m);
void bind_stream(py::module_& m);
void bind_graph(py::module_& m);
void bind_memory(py::module_& m);
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

// Queue a launch. Releasing the GIL costs a sixteenth of one, so it is done where the launch may
// have to wait: for room in the queue, or for the host machine, which runs the kernel at once.
// `launch` must not throw. Throws what report_left_error throws.
template <class Launch>
auto without_gil_if_waiting(int device, bool on_null_stream, Launch launch) {
  constexpr unsigned surely_queued = 512;  // fit into any queue, with room to spare
  report_left_error();
  const bool may_wait = launch_runs_kernel || count_launch(device, on_null_stream) > surely_queued;
  const NoGil without = may_wait ? release_gil() : NoGil();
  return launch();
}

const DType& dtype_named(const std::string& name);

// A PyMethodDef's function, of any of CPython's calling conventions.
template <class Method>
PyCFunction as_method(Method method) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
}

// The dtype that a Python subclass of a typed class says in its attribute `dtype`.
const DType& dtype_of_class(py::handle self);

// Make a low-level call without the GIL and wrap its outcome. What all calls have in common is
// compiled once.
Status call_by(Status (*make)(const void*), const void* what);
template <class Call>
Status call(const Call& make) {
  return call_by([](const void* what) -> Status { return (*static_cast<const Call*>(what))(); },
                 &make);
}

// Wait for what was put on a stream. Throws where this thread captures.
void wait_for(const StreamRef& stream);

// One that concerns nothing of a graph's that this thread captures, but could invalidate it.
// Captures of others are let be by _beside_captures alone, for what frees by itself: before HIP 7
// the last error is that of the last call, which for a program is this one.
template <class Call>
Status call_beside(Call make) {
  if (!Capture::current()) return call(make);
  return call([&] {
    const BesideCaptures beside = beside_captures();
    return make();
  });
}

// Make a low-level call that enqueues on a stream, in order among the uses of memory of ours that
// `places` lie in.
template <class Call>
Status call_on(const StreamRef& stream, std::initializer_list<const void*> places, Call make) {
  return call([&]() -> Status {
    StreamOrder order(stream);
    Status outcome;
    try {
      for (const void* place : places) order.uses_at(place);
      order.run([&] { outcome = make(); });
    } catch (const DeviceError& error) {
      return error.status;
    }
    return outcome;
  });
}

// The low level's answer where a call yields something: (value, ..., status).
template <class... Values>
py::tuple with_status(const Status& status, const Values&... values) {
  return py::make_tuple(to_python(values)..., to_python(status));
}

inline std::uintptr_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
// The address in a Python object: an int, anything with __index__ or __int__ (pointer_wrapper),
// with __cuda_array_interface__, or with .ptr. TypeError names `argument` otherwise.
void* address_of(py::handle object, const char* argument);

// One end of a copy: an address, or an object with a contiguous buffer, whose size is then known.
struct CopyEnd {
  void* address;
  std::size_t limit;  // bytes; SIZE_MAX where only an address is known
  std::shared_ptr<const void> view;
};
CopyEnd copy_end(py::handle object, const char* argument, bool writable);

// What another process's handle of memory or of an event is made of; ValueError for other lengths.
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
// The axis that a number means, counted from 0. NumPy's AxisError where there is none.
int axis_index(py::handle axis, int ndim);
Order order_of(py::handle order);
py::tuple tuple_of(const Axes& axes);

py::object wrap_pointer(const Pointer& pointer);  // as pointer_wrapper_<dtype>
std::string hex(const void* address);

// Export the NumPy array that `array_of` makes of the object as its buffer.
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
struct ArgumentOf<Order> {
  static Order read(PyObject* value, const Place&) { return order_of(value); }
};
// A StreamRef parameter takes whatever stream_of takes; a Status, an int as well.
template <>
struct ArgumentOf<StreamRef> {
  static StreamRef read(PyObject* value, const Place&) { return stream_of(value); }
};
template <>
struct ArgumentOf<Status> {
  static Status read(PyObject* value, const Place& place);
};

// These are shared with C++, which may keep them longer than Python does.
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

// Calls of the runtime as Python's functions, by their pointers: def(m, "cudaSetDevice",
// calling(&cudaSetDevice), ...). Compiled once for calls of one type. Not for those that a vendor's
// headers overload.

// What is kept of an argument for the call, and what of it the call is given.
template <class T>
decltype(auto) read_for_call(PyObject* value, const Place& place) {
  if constexpr (std::is_same_v<T, cudaStream_t>)
    return stream_of(value);
  else if constexpr (std::is_same_v<T, cudaEvent_t>)
    return (ArgumentOf<Event>::read(value, place));  // a reference
  else if constexpr (std::is_same_v<T, const char*>)
    return read_text(value, place);
  else if constexpr (std::is_pointer_v<T>)
    return address_of(value, place.function.parameters[place.number]);
  else if constexpr (std::is_enum_v<T>)
    return T(ArgumentOf<int>::read(value, place));
  else
    return ArgumentOf<T>::read(value, place);
}
inline cudaStream_t as_given(const StreamRef& stream) { return stream.handle; }
inline cudaEvent_t as_given(const Event& event) { return event.get(); }
inline const char* as_given(const std::string& text) { return text.c_str(); }
template <class T>
T as_given(T value) {
  return value;
}

template <class Function, class... A>
struct RuntimeCall {
  template <std::size_t... i, class... Out>
  static Status make(std::index_sequence<i...>, const Callable& c, PyObject* const* values,
                     Out*... out) {
    const auto with = [&](const auto&... kept) {
      return call(
          [&] { return reinterpret_cast<Function>(c.function)(out..., as_given(kept)...); });
    };
    return with(read_for_call<A>(values[i], {c, i})...);
  }
  static py::object plain(const Callable& c, PyObject* const* values) {
    return to_python(make(std::index_sequence_for<A...>(), c, values));
  }
  template <class Out>
  static py::object asking(const Callable& c, PyObject* const* values) {
    Out out{};
    const Status status = make(std::index_sequence_for<A...>(), c, values, &out);
    using Number = std::conditional_t<std::is_enum_v<Out>, int, Out>;
    return with_status(status, Number(out));
  }
};

// The status of a call.
template <class R, class... A>
Signature calling(R (*function)(A...)) {
  return {reinterpret_cast<Callable::Plain>(function),
          &RuntimeCall<decltype(function), A...>::plain, sizeof...(A), &result_name<Status>};
}
// (value, status) of a call that writes the value to where its first parameter points.
template <class Out, class... A>
Signature asking(cudaError_t (*function)(Out*, A...)) {
  return {reinterpret_cast<Callable::Plain>(function),
          &RuntimeCall<decltype(function), A...>::template asking<Out>, sizeof...(A),
          &result_name<py::tuple>};
}

}  // namespace PyGPU::python
