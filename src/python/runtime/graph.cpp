// Graphs as objects, and what goes by itself. See PyGPU/_driver/graph.py.
#include "PyGPU/graph.h"

#include "python/array/gpuarray.h"
#include "python/bindings.h"

namespace PyGPU::python {
namespace {

// Calls a function when it goes itself. The garbage collector knows nothing of it: unlike a __del__
// the call never comes while others still have, or get back, the object that holds this one.
struct EndTraits {
  using Handle = PyObject*;
  static constexpr const char* name = "a call at the end";
  static cudaError_t release(PyObject* function) {
    if (!Py_IsInitialized() || is_finalizing()) return cudaSuccess;
    PyObject* const result = PyObject_CallNoArgs(function);
    if (!result) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
    Py_DECREF(function);
    return cudaSuccess;
  }
};
using AtEnd = UniqueHandle<EndTraits>;

// take_back(active, number, memory, held, holds): a block of a pool is given back, and its memory
// waits for reuse while the list `holds` is not empty. No line of Python runs in it.
py::object take_back(py::dict active, const py::object& number, const py::object& memory,
                     py::list held, const py::list& holds) {
  if (PyDict_DelItem(active.ptr(), number.ptr())) throw py::error_already_set();
  if (!holds.empty()) held.append(memory);
  return py::none();
}

void bind_ends(py::module_& m) {
  const py::object e = new_class<AtEnd>(m, "_AtEnd", "Calls a function when it goes itself.");
  constructor(e,
              [](py::handle, const py::object& function) {
                return AtEnd(py::object(function).release().ptr());
              },
              {{"function"}});
  method(
      e, "take",
      [](AtEnd& self) {
        return self ? py::reinterpret_steal<py::object>(self.give_up()) : py::object(py::none());
      },
      "The function, which is not called then. None where it was taken before.");
  def(m, "_take_back", &take_back, "", {{"active"}, {"number"}, {"memory"}, {"held"}, {"holds"}});
  def(m, "_postpone",
      [](const py::object& thing) {
        postpone({py::object(thing).release().ptr(), [](PyObject* kept) { drop(kept); }});
      },
      "Keep a thing until memory is next taken, or a capture of ours has ended.", {{"thing"}});
  def(m, "_wait_meets_capture", &wait_meets_capture,
      "Would waiting for all of the device invalidate a capture that is known?", {{"device"}});
  def(m, "_is_captured",
      [](const StreamRef& stream) { return Capture::current() || is_captured(stream.handle); },
      "Is work on the stream recorded?", {{"stream"}});
  def(m, "_wait_for_work",
      [](int device) {
        return call([&] {
          return on_device(device, [&] {
            order_after_all({}, device);
            const BesideCaptures beside = beside_captures();
            return cudaStreamSynchronize(cudaStream_t());
          });
        });
      },
      "Wait for all work on the device's null stream, and on streams of ours.", {{"device"}});
}

}  // namespace

void bind_graph(py::module_& m) {
  const py::object g = new_class<Graph>(m, "_Graph", "Work that is launched as one.");
  constructor(g, [](py::handle) { return Graph(); });
  method(g, "_begin",
         [](Graph& self, const StreamRef& stream) {
           if (!enter_runtime()) throw DeviceError("capture", forked_status());
           self.begin(stream);
         },
         "Capture a stream in this thread.", {{"stream"}});
  method(
      g, "_end", [](Graph& self) { self.end(); }, "What was captured becomes the graph.");
  method(
      g, "_abandon", [](Graph& self) { self.abandon(); }, "What was captured is dropped.");
  method(g, "_launch",
         [](const Graph& self, const StreamRef& stream) {
           if (!enter_runtime()) throw DeviceError("Graph.launch", forked_status());
           report_left_error();
           self.launch(stream);
         },
         "Enqueue the graph's work.", {{"stream"}});
  bind_ends(m);
  def(m, "_keep_for_graph", [](const py::object& object) { keep_for_graph(object); },
      "While this thread captures: what the graph needs.", {{"object"}});
  def(
      m, "_is_capturing", [] { return Capture::current() != nullptr; },
      "Does this thread capture a stream?");
}

}  // namespace PyGPU::python
