// Python classes of streams and events, and the calls on them.
#include "PyGPU/runtime/graph.h"
#include "python/bindings.h"
#include "python/repr.h"
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
    return {as_handle(py::tuple(PyCallable_Check(stream.ptr()) ? stream() : stream)[1]), nullptr};
  }
  const bool is_array(  // its .ptr is an address, not a handle
      attribute_or_null(object, "__cuda_array_interface__"));
  for (const char* name : {"handle", "ptr", "cuda_stream"}) {
    if (is_array) break;
    py::object number = attribute_or_null(object, name);
    if (!number) continue;
    // A ctypes pointer, as in Numba; None is the null stream.
    if (const py::object value = attribute_or_null(number, "value")) {
      if (value.is_none()) return {};
      number = value;
    }
    if (PyIndex_Check(number.ptr())) return {as_handle(number), nullptr};
  }
  const bool is_number = PyFloat_Check(object.ptr()) || attribute_or_null(object, "__array__");
  if (!is_array && !is_number &&
      attribute_or_null(object, "__int__"))  // such as CUstream of cuda.bindings
    return {as_handle(py::int_(py::reinterpret_borrow<py::object>(object))), nullptr};
  throw py::type_error(
      "stream: expected None, a cudaStream_t, an int handle or an object with __cuda_stream__, "
      "got " +
      repr_of(object));
}

void bind_stream(py::module_& m) {
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

  def(m, "cudaStreamDestroy",
      [](Stream& stream) {
        if (!stream.get()) return stream.status = {cudaErrorInvalidResourceHandle, ""};
        return stream.destroy();
      },
      docs::cudaStreamDestroy_text, {{"stream"}});
  def(m, "cudaStreamSynchronize",
      [](const StreamRef& stream) {
        if (Capture::current() && is_captured(stream.handle)) return refusal_to_wait();
        return call_in_relaxed_mode([&] {
          const cudaError_t error = cudaStreamSynchronize(stream.handle);
          if (!error && !stream.handle) record_current_idle(true);
          return error;
        });
      },
      docs::cudaStreamSynchronize_text, {{"stream", py::none()}});
  def(m, "cudaStreamQuery",
      [](const StreamRef& stream) {
        if (Capture::current() && is_captured(stream.handle)) return refusal_to_wait();
        return call_in_relaxed_mode([&] { return cudaStreamQuery(stream.handle); });
      },
      docs::cudaStreamQuery_text, {{"stream", py::none()}});
  def(m, "cudaStreamWaitEvent", status_of(&cudaStreamWaitEvent), docs::cudaStreamWaitEvent_text,
      {{"stream"}, {"event"}, {"flags", 0}});
  def(m, "cudaStreamGetFlags",
      [](const StreamRef& stream) {
        unsigned flags = 0;
        const Status status = call([&] { return cudaStreamGetFlags(stream.handle, &flags); });
        return with_status(status, flags);
      },
      docs::cudaStreamGetFlags_text, {{"stream"}});
  def(m, "cudaStreamGetPriority",
      [](const StreamRef& stream) {
        int priority = 0;
        const Status status = call([&] { return cudaStreamGetPriority(stream.handle, &priority); });
        return with_status(status, priority);
      },
      docs::cudaStreamGetPriority_text, {{"stream"}});

  def(m, "cudaEventDestroy",
      [](Event& event) {
        if (!event.get()) return event.status = {cudaErrorInvalidResourceHandle, ""};
        return event.destroy();
      },
      docs::cudaEventDestroy_text, {{"event"}});
  def(m, "cudaEventRecord",
      [](Event& event, const StreamRef& stream) {
        return call([&] { return record(event, stream); });
      },
      docs::cudaEventRecord_text, {{"event"}, {"stream", py::none()}});
  def(m, "cudaEventSynchronize",
      [](const Event& event) {
        return call_in_relaxed_mode([&] { return cudaEventSynchronize(event.get()); });
      },
      docs::cudaEventSynchronize_text, {{"event"}});
  def(m, "cudaEventQuery",
      [](const Event& event) {
        return call_in_relaxed_mode([&] { return cudaEventQuery(event.get()); });
      },
      docs::cudaEventQuery_text, {{"event"}});
  def(m, "cudaEventElapsedTime",
      [](const Event& start, const Event& end) {
        float milliseconds = 0;
        const Status status = call([&]() -> Status {
          const cudaError_t error = cudaEventElapsedTime(&milliseconds, start.get(), end.get());
          const bool has_reason = error && error != cudaErrorNotReady;
          return {error, has_reason ? missing_time_text(start, end) : ""};
        });
        return with_status(status, milliseconds);
      },
      docs::cudaEventElapsedTime_text, {{"start"}, {"end"}});
}

}  // namespace PyGPU::python
