// Graphs: work that is recorded once, by capturing a stream, and launched many times.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel.h"
#include "memory.h"

namespace PyGPU {

// Capture of a stream by this thread. During the capture, the captured stream replaces this
// thread's null stream. Arrays that are allocated belong to the graph: their memory stays
// allocated, so that the graph can be launched again.
class Capture {
 public:
  // Return the capture of this thread, or null.
  static Capture* current() { return active_count_ == 0 ? nullptr : in_this_thread(); }

  // Return whether any thread captures a stream.
  static bool is_any_active() { return active_count_ != 0 && has_active(); }

  explicit Capture(const StreamRef& stream);

  const StreamRef& stream() const { return stream_; }
  // Return whether work on this stream is recorded.
  bool records(const StreamRef& stream) const;
  // Return memory for an array: new memory, or the memory of an unreferenced array of this capture.
  std::shared_ptr<Storage> take(std::size_t nbytes);
  void uses(const std::shared_ptr<Storage>& storage, const StreamRef& stream);
  // Keep another resource of the work alive: code, or host memory that the work accesses.
  void keep(std::shared_ptr<const void> owner) {
    if (kept_.empty() || kept_.back() != owner) kept_.push_back(std::move(owner));
  }
  // End the capture. Returns the recorded graph, which the caller destroys. Throws DeviceError.
  cudaGraph_t end();

 private:
  friend class Graph;

  // Ends an abandoned capture. In another thread that fails, and the stream stays captured.
  struct Unended {
    using Handle = Capture*;
    static constexpr const char* name = "a capture";
    static cudaError_t release(Capture* capture);
  };

  cudaError_t finish(cudaGraph_t* graph);

  static std::atomic<int> active_count_;  // number of captures in all threads
  static Capture* in_this_thread();
  static bool has_active();

  StreamRef stream_;
  int device_;
  std::uint64_t thread_;
  bool forks_ = false;  // whether other streams joined the capture, with an order of their own
  std::vector<std::shared_ptr<Storage>> taken_;  // allocated in this capture
  std::vector<std::shared_ptr<Storage>> used_;   // allocated elsewhere
  std::vector<std::shared_ptr<const void>> kept_;
  UniqueHandle<Unended> unended_;
};

// Return the stream for work that names none: the null stream, or the stream that is captured.
inline StreamRef default_stream() {
  const Capture* const capture = Capture::current();
  return capture ? capture->stream() : StreamRef();
}

// Status of calls that wait while this thread captures, which they cannot.
Status refusal_to_wait();
// Throw DeviceError with that status if this thread captures.
void throw_if_capturing(const char* call);

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

 private:
  struct Work {
    // Memory and code are declared first, so that they are released after the graph.
    std::vector<std::shared_ptr<Storage>> taken, used;
    std::vector<std::shared_ptr<const void>> kept;
    UniqueHandle<RecordedTraits> recorded;
    UniqueHandle<GraphTraits> exec;
  };

  std::unique_ptr<Capture> capture_;
  std::shared_ptr<Work> work_;  // shared with graphs that have recorded a launch of this graph
};

}  // namespace PyGPU
