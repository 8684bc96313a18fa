// Private class of graphs, and releases that are postponed during a capture.
// PyGPU/_driver/stream.py wraps them.
#include "PyGPU/runtime/graph.h"

#include "python/binders.h"
#include "python/binding/repr.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

// Calls a function when it is destroyed. It is not tracked by the garbage collector: unlike a
// __del__, the call never happens while another object can still reach, or resurrect, its holder.
struct EndTraits {
  using Handle = PyObject*;
  static constexpr const char* name = "a finalizer";
  static cudaError_t release(PyObject* function) {
    if (!Py_IsInitialized() || is_finalizing()) return cudaSuccess;
    PyObject* const result = PyObject_CallNoArgs(function);
    if (!result) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
    Py_DECREF(function);
    return cudaSuccess;
  }
};
using Finalizer = UniqueHandle<EndTraits>;

// Return a block to its pool: remove it from `active`. While the list `holds` is not empty, the
// block's memory is kept in `held` for reuse. Runs no Python code.
py::object take_back(py::dict active, const py::object& number, const py::object& memory,
                     py::list held, const py::list& holds) {
  // `number` is absent if the allocation was interrupted before it was registered.
  if (PyDict_DelItem(active.ptr(), number.ptr())) PyErr_Clear();
  if (!holds.empty()) held.append(memory);
  return py::none();
}

void bind_ends(module_& m) {
  const py::object e =
      new_class<Finalizer>(m, "_Finalizer", "Calls a function when it is destroyed.");
  constructor(e,
              [](py::handle, const py::object& function) {
                return Finalizer(py::object(function).release().ptr());
              },
              {{"function"}});
  method(
      e, "run",
      [](Finalizer& self) {
        if (!self) return false;
        py::reinterpret_steal<py::object>(self.give_up())();
        return true;
      },
      "Call the function now; return False if it was called before.");
  property(
      e, "is_over", [](const Finalizer& self) { return !self; },
      "Whether the function was called.");
  def(m, "_return_block", &take_back, "Return a block to its pool.",
      {{"active"}, {"number"}, {"memory"}, {"held"}, {"holds"}});
  def(m, "_postpone",
      [](const py::object& thing) {
        postpone({py::object(thing).release().ptr(), [](PyObject* kept) { drop(kept); }});
      },
      "Keep an object alive until the next allocation, or until a capture by PyGPU ends.",
      {{"thing"}});
  def(m, "_wait_would_invalidate_capture", &wait_would_invalidate_capture,
      "Return whether synchronizing the device would invalidate a known capture.", {{"device"}});
  def(m, "_is_captured",
      [](const StreamRef& stream) { return Capture::current() || is_captured(stream.handle); },
      "Return whether work on the stream is recorded into a graph.", {{"stream"}});
  def(m, "_wait_for_work",
      [](int device) {
        return call([&] {
          return on_device(device, [&] {
            order_after_all({}, device);
            const RelaxedCaptureMode relaxed = relax_capture_mode();
            return cudaStreamSynchronize(cudaStream_t());
          });
        });
      },
      "Wait for all work on the device's null stream and on PyGPU's streams.", {{"device"}});
}

}  // namespace

void keep_for_graph(const py::object& memory) {
  if (Capture* const capture = Capture::current())
    capture->keep({py::object(memory).release().ptr(), [](const void* owner) {
                     drop(static_cast<PyObject*>(const_cast<void*>(owner)));
                   }});
}

void bind_graph(module_& m) {
  const py::object g =
      new_class<Graph>(m, "_Graph", "Graph: recorded work that one call launches.");
  constructor(g, [](py::handle) { return Graph(); });
  method(g, "_launch",
         [](const Graph& self, const StreamRef& stream) {
           if (!enter_runtime()) throw DeviceError("Graph.launch", refused_status());
           throw_unread_error();
           self.launch(stream);
         },
         "Enqueue the graph's work.", {{"stream"}});
  method(g, "__repr__", [](const py::object& self) {
    return described<Graph>(self, [](const Graph& graph) { return graph.state_text(); });
  });
  bind_ends(m);
  def(m, "_keep_for_graph", [](const py::object& object) { keep_for_graph(object); },
      "Keep an object alive as long as the graph that this thread captures.", {{"object"}});
  def(
      m, "_is_capturing", [] { return Capture::current() != nullptr; },
      "Return whether this thread captures a stream.");
}

}  // namespace PyGPU::python
