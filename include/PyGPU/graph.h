// Graphs: work that is recorded once, on a stream that is captured, and launched many times.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel.h"
#include "memory.h"

namespace PyGPU {

// While it goes on, the null stream of this thread stands for the captured one, and arrays that are
// made are the graph's: their memory stays, so that the graph can be launched again.
class Capture {
 public:
  // The one that goes on in this thread, or null.
  static Capture* current() { return under_way_ == 0 ? nullptr : of_this_thread(); }

  // Does one go on in any thread?
  static bool is_under_way() { return under_way_ != 0 && any_goes_on(); }

  explicit Capture(const StreamRef& stream);

  const StreamRef& stream() const { return stream_; }
  // Is work on this stream recorded?
  bool records(const StreamRef& stream) const;
  // Memory for an array: new, or that of an earlier one which nobody has any more.
  std::shared_ptr<Storage> take(std::size_t nbytes);
  void uses(const std::shared_ptr<Storage>& storage, const StreamRef& stream);
  // What else the work needs: code, host memory that it reads or writes.
  void keep(std::shared_ptr<const void> owner) {
    if (kept_.empty() || kept_.back() != owner) kept_.push_back(std::move(owner));
  }
  // What was recorded; the caller destroys it. Throws DeviceError.
  cudaGraph_t end();

 private:
  friend class Graph;

  // Ends a capture that is not wanted. In another thread that fails: the stream stays captured.
  struct Unended {
    using Handle = Capture*;
    static constexpr const char* name = "a capture";
    static cudaError_t release(Capture* capture);
  };

  cudaError_t finish(cudaGraph_t* graph);

  static std::atomic<int> under_way_;  // in all threads
  static Capture* of_this_thread();
  static bool any_goes_on();

  StreamRef stream_;
  int device_;
  std::uint64_t thread_;
  bool forks_ = false;                           // more streams take part, in an order of their own
  std::vector<std::shared_ptr<Storage>> taken_;  // in this capture
  std::vector<std::shared_ptr<Storage>> used_;   // of others
  std::vector<std::shared_ptr<const void>> kept_;
  UniqueHandle<Unended> unended_;
};

// The stream of work for which none is named: the null stream, or the captured one.
inline StreamRef default_stream() {
  const Capture* const capture = Capture::current();
  return capture ? capture->stream() : StreamRef();
}

// For calls that wait, where this thread captures: why they cannot.
Status refusal_to_wait();
// Throws DeviceError with that where this thread captures.
void refuse_waiting(const char* call);

struct RecordedTraits {
  using Handle = cudaGraph_t;
  static constexpr const char* name = "what was captured";
  static cudaError_t release(cudaGraph_t graph) { return cudaGraphDestroy(graph); }
};

struct GraphTraits : DeviceOwned<cudaGraphExec_t, GraphTraits> {
  static constexpr const char* name = "a graph";
  static cudaError_t destroy(const Handle& graph);
};

// All of it throws DeviceError.
class Graph {
 public:
  // Capture a stream in this thread, which must be the one to call end() or abandon().
  void begin(const StreamRef& stream);
  // From now on the graph is what was captured. Where only parameters differ from what it was, and
  // the runtime can, those are replaced in place.
  void end();
  void abandon();
  // Enqueue all of it; on a stream that is captured, record it.
  void launch(const StreamRef& stream) const;

 private:
  struct Work {
    // Memory and code come first: they go after the graph.
    std::vector<std::shared_ptr<Storage>> taken, used;
    std::vector<std::shared_ptr<const void>> kept;
    UniqueHandle<RecordedTraits> recorded;
    UniqueHandle<GraphTraits> exec;
  };

  std::unique_ptr<Capture> capture_;
  std::shared_ptr<Work> work_;  // shared with the graphs that this one is launched in
};

}  // namespace PyGPU
