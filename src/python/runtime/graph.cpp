// Graphs as objects. See PyGPU/_driver/graph.py.
#include "PyGPU/graph.h"

#include "python/bindings.h"

namespace PyGPU::python {

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
  def(
      m, "_is_capturing", [] { return Capture::current() != nullptr; },
      "Does this thread capture a stream?");
}

}  // namespace PyGPU::python
