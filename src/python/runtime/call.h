// A low-level call without the GIL: its order among captures and uses of memory, its outcome.
#pragma once

#include <initializer_list>
#include <tuple>

#include "PyGPU/runtime/graph.h"
#include "PyGPU/runtime/memory.h"
#include "python/arguments.h"
#include "python/binding/gil.h"

namespace PyGPU::python {

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

// Keep an object alive as long as the graph that this thread captures, if it captures a stream.
void keep_for_graph(const py::object& memory);

}  // namespace PyGPU::python
