// Context manager of a capture, which a destructor ends. An exception such as KeyboardInterrupt can
// come between the end of a ``with`` block and the call of __exit__; then the manager is dropped.
// Also the mode in which memory is released beside captures of others.
#include "PyGPU/runtime/graph.h"
#include "python/binders.h"
#include "python/runtime/call.h"

namespace PyGPU::python {
namespace {

struct OpenCaptureTraits {
  using Handle = Graph*;
  static constexpr const char* name = "a capture";
  static cudaError_t release(Graph* graph) {
    try {
      graph->abandon();
    } catch (const DeviceError&) {  // the exception that ended the block is being raised
      (void)cudaGetLastError();
    }
    return cudaSuccess;
  }
};

struct CaptureScope {
  StreamRef stream;
  py::object graph;
  UniqueHandle<OpenCaptureTraits> open;
};

py::object begin_capture(CaptureScope& self) {
  if (!enter_runtime()) throw DeviceError("capture", refused_status());
  Graph& graph = held<Graph>(self.graph);
  graph.begin(self.stream);
  self.open = UniqueHandle<OpenCaptureTraits>(&graph);
  return self.graph;
}

void end_capture(CaptureScope& self, const py::object& type, const py::object&, const py::object&) {
  if (!self.open) return;
  Graph* const graph = self.open.give_up();
  return type.is_none() ? graph->end() : graph->abandon();
}

}  // namespace

void bind_capture_scope(module_& m) {
  const py::object c = new_class<CaptureScope>(m, "_CaptureScope", "Captures a ``with`` block.");
  constructor(c,
              [](py::handle, const StreamRef& stream, const py::object& graph) {
                return CaptureScope{stream, graph, {}};
              },
              {{"stream"}, {"graph"}});
  method(c, "__enter__", &begin_capture);
  method(c, "__exit__", &end_capture, "", {{"type"}, {"value"}, {"traceback"}});
  def(m, "_in_relaxed_capture_mode",
      [](const py::function& release, const py::object& memory) {
        const RelaxedCaptureMode relaxed = relax_capture_mode();
        return py::object(release(memory));
      },
      "Call release(memory) without invalidating a graph that any library captures.",
      {{"release"}, {"memory"}});
}

}  // namespace PyGPU::python
