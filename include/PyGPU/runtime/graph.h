// Graphs: work that is recorded once, by capturing a stream, and launched many times.
#pragma once

#include <memory>
#include <mutex>

#include "capture.h"
#include "memory.h"

namespace PyGPU {

struct RecordedTraits {
  using Handle = cudaGraph_t;
  static constexpr const char* name = "a recorded graph";
  static cudaError_t release(cudaGraph_t graph) { return cudaGraphDestroy(graph); }
};

struct GraphTraits : DeviceOwned<cudaGraphExec_t, GraphTraits> {
  static constexpr const char* name = "a graph";
  static cudaError_t destroy(const Handle& graph);
};

// Graph of recorded work. Member functions throw DeviceError.
class Graph {
 public:
  // Begin to capture a stream in this thread, which must also call end() or abandon().
  void begin(const StreamRef& stream);
  // End the capture; the graph becomes the recorded work. If only parameters differ from the
  // earlier work, they are replaced in place where the runtime can do so.
  void end();
  void abandon();
  // Enqueue the work; on a stream that is captured, record the work.
  void launch(const StreamRef& stream) const;
  // Return whether the graph has work, and its device.
  std::string state_text() const;

 private:
  struct Work {
    // Memory and code are declared first, so that they are released after the graph.
    CapturedOwners owners;
    UniqueHandle<RecordedTraits> recorded;
    UniqueHandle<GraphTraits> exec;
    std::mutex launches;  // the runtime allows one thread at a time to launch a graph
  };

  std::unique_ptr<Capture> capture_;
  std::shared_ptr<Work> work_;  // shared with graphs that have recorded a launch of this graph
};

}  // namespace PyGPU
