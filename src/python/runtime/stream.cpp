// Python classes of streams and events, and the calls on them.
#include "PyGPU/runtime/graph.h"
#include "python/binders.h"
#include "python/binding/repr.h"
#include "python/runtime/call.h"
#include "python/runtime/stream_docs.h"

namespace PyGPU::python {
namespace {

std::string stream_text(const std::shared_ptr<Stream>& stream) {
  std::string text = handle_text(stream->get(), stream->device(), stream->epoch());
  if (!stream->alive()) return text;
  text += stream->is_non_blocking() ? ", non-blocking" : ", blocking";
  const Capture* const capture = Capture::current();
  return capture && capture->stream().handle == stream->get() ? text + ", being captured" : text;
}

std::string event_text(const std::shared_ptr<Event>& event) {
  const std::string text = handle_text(event->get(), event->device(), event->epoch());
  const bool is_alive = event->get() && !is_gone(event->device(), event->epoch());
  return is_alive ? text + ", " + event->state_text() : text;
}

cudaStream_t as_handle(py::handle number) {
  void* const handle = address_of(number, "stream");
  if (number_of(handle) == 1)
    return cudaStreamLegacy;  // the number of the legacy null stream on every target
  return reinterpret_cast<cudaStream_t>(handle);
}

}  // namespace

StreamRef stream_of(py::handle object) {
  if (object.is_none()) return default_stream();
  if (const auto* const stream = find<Stream>(object.ptr())) {
    if (!(*stream)->get())
      throw py::value_error("stream: this cudaStream_t was destroyed or never created");
    return {(*stream)->get(), *stream};
  }
  if (PyLong_Check(object.ptr())) return {as_handle(object), nullptr};
  // Protocol of NVIDIA's Python libraries: a method or an attribute yields (version, handle).
  if (const py::object stream = attribute_or_null(object, "__cuda_stream__")) {
    const py::object pair = PyCallable_Check(stream.ptr()) ? stream() : stream;
    const bool is_pair = PyTuple_Check(pair.ptr()) && PyTuple_Size(pair.ptr()) == 2;
    if (!is_pair || !py::object(pair[py::int_(0)]).equal(py::int_(0)))
      throw py::type_error("stream: __cuda_stream__ is " + repr_of(pair) +
                           "; expected a tuple (version 0, handle)");
    return {as_handle(pair[py::int_(1)]), nullptr};
  }
  // The .ptr of an array is an address, not a handle, and its __int__ is its element.
  const bool has_elements =
      is_array(object) || attribute_or_null(object, "__cuda_array_interface__");
  for (const char* name : {"handle", "ptr", "cuda_stream"}) {
    if (has_elements) break;
    py::object number = attribute_or_null(object, name);
    if (!number) continue;
    // A ctypes pointer, as in Numba; None is the null stream.
    if (const py::object value = attribute_or_null(number, "value")) {
      if (value.is_none()) return {};
      number = value;
    }
    if (PyIndex_Check(number.ptr())) return {as_handle(number), nullptr};
  }
  if (!has_elements && !PyFloat_Check(object.ptr()) &&
      attribute_or_null(object, "__int__"))  // such as CUstream of cuda.bindings
    return {as_handle(py::int_(py::reinterpret_borrow<py::object>(object))), nullptr};
  throw py::type_error(
      "stream: expected None, a cudaStream_t, an int handle or an object with __cuda_stream__, "
      "got " +
      repr_of(object));
}

void bind_stream(module_& m) {
  const py::object s = new_class<Stream>(m, "cudaStream_t", docs::cudaStream_t_text);
  constructor(s,
              [](py::handle, unsigned flags, int priority) {
                const NoGil without = release_gil();
                const auto stream = std::make_shared<Stream>(flags, priority);
                if (flags & cudaStreamNonBlocking) remember_non_blocking(stream);
                return stream;
              },
              {{"flags", 0}, {"priority", 0}});
  const auto handle = [](const Stream& self) { return number_of(self.get()); };
  method(s, "get", handle, docs::handle);
  int_methods(s, handle);
  ctypes_parameter(s);
  property(s, "handle", handle, "Handle as a number; 0 if the object is empty.");
  method(
      s, "__cuda_stream__",
      [](const Stream& self) { return py::make_tuple(0, number_of(self.get())); },
      "Return (0, handle): the stream protocol of NVIDIA's Python libraries.");
  method(
      s, "last_status", [](const Stream& self) { return self.status; },
      docs::last_status_of_handle);
  method(s, "__repr__",
         [](const py::object& self) { return described<Stream>(self, &stream_text); });

  const py::object e = new_class<Event>(m, "cudaEvent_t", docs::cudaEvent_t_text);
  constructor(e,
              [](py::handle, const py::object& flags) {
                if (py::isinstance<py::bytes>(flags)) {
                  const auto shared = ipc_handle_of<cudaIpcEventHandle_t>(flags);
                  const NoGil without = release_gil();
                  return std::make_shared<Event>(shared);
                }
                const long long number =
                    PyLong_Check(flags.ptr()) ? PyLong_AsLongLong(flags.ptr()) : -1;
                if (number < 0 || number > 0xffffffffLL) {
                  PyErr_Clear();
                  throw py::type_error("flags: expected an unsigned int or a handle's bytes, got " +
                                       repr_of(flags));
                }
                const NoGil without = release_gil();
                return std::make_shared<Event>(unsigned(number));
              },
              {{"flags", 0}});
  const auto event_handle = [](const Event& self) { return number_of(self.get()); };
  method(e, "get", event_handle, docs::handle);
  int_methods(e, event_handle);
  ctypes_parameter(e);
  method(
      e, "last_status", [](const Event& self) { return self.status; }, docs::last_status_of_handle);
  method(e, "__repr__", [](const py::object& self) { return described<Event>(self, &event_text); });
}

}  // namespace PyGPU::python
