// Copies and fills at the low level. An end is an address or a buffer; where a buffer tells its
// size, a copy past its end is refused before the runtime sees it.
#include "PyGPU/graph.h"
#include "python/bindings.h"

namespace PyGPU::python {
namespace {

Status past_the_end(const char* which, std::size_t needed, const CopyEnd& end) {
  return {cudaErrorInvalidValue, std::string(which) + " holds " + std::to_string(end.limit) +
                                     " bytes, but the copy needs " + std::to_string(needed)};
}

// Bytes that a pitched block spans; SIZE_MAX when that overflows.
std::size_t span(std::size_t pitch, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return 0;
  std::size_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(pitch, height - 1, &bytes) ||
                        __builtin_add_overflow(bytes, width, &bytes);
  return overflow ? SIZE_MAX : bytes;
}

// `move(dst, src)` between the ends on the stream, if both are large enough.
template <class Move>
Status copy(py::handle dst, std::size_t dst_bytes, py::handle src, std::size_t src_bytes,
            const StreamRef& stream, Move move) {
  const CopyEnd to = copy_end(dst, "dst", true), from = copy_end(src, "src", false);
  if (dst_bytes > to.limit) return past_the_end("dst", dst_bytes, to);
  if (src_bytes > from.limit) return past_the_end("src", src_bytes, from);
  if (Capture* const capture = Capture::current())
    for (const CopyEnd* end : {&to, &from})
      if (end->view) capture->keep(end->view);
  return call_on(stream, {to.address, from.address},
                 [&] { return move(to.address, from.address); });
}

// The same for a copy that waits. While this thread captures, one within a device can be recorded.
template <class Move>
Status copy_now(py::handle dst, std::size_t dst_bytes, py::handle src, std::size_t src_bytes,
                int kind, Move move) {
  const StreamRef stream = default_stream();
  if (stream.handle && kind != int(cudaMemcpyDeviceToDevice)) return refusal_to_wait();
  return copy(dst, dst_bytes, src, src_bytes, stream,
              [&](void* to, const void* from) { return move(to, from, stream.handle); });
}

}  // namespace

void bind_copies(py::module_& m) {
  def(m, "cudaMemcpy",
      [](py::handle dst, py::handle src, std::size_t count, int kind) {
        return copy_now(
            dst, count, src, count, kind, [=](void* to, const void* from, cudaStream_t stream) {
              return stream ? cudaMemcpyAsync(to, from, count, cudaMemcpyKind(kind), stream)
                            : cudaMemcpy(to, from, count, cudaMemcpyKind(kind));
            });
      },
      "Copy `count` bytes. dst and src are addresses or buffers; kind is a cudaMemcpy... number.",
      {{"dst"}, {"src"}, {"count"}, {"kind", int(cudaMemcpyDefault)}});
  def(m, "cudaMemcpyAsync",
      [](py::handle dst, py::handle src, std::size_t count, int kind, const StreamRef& stream) {
        return copy(dst, count, src, count, stream, [&](void* to, const void* from) {
          return cudaMemcpyAsync(to, from, count, cudaMemcpyKind(kind), stream.handle);
        });
      },
      "cudaMemcpy in the stream's order. Both ends must stay alive until it is done.",
      {{"dst"}, {"src"}, {"count"}, {"kind", int(cudaMemcpyDefault)}, {"stream", py::none()}});
  def(m, "cudaMemcpy2D",
      [](py::handle dst, std::size_t dpitch, py::handle src, std::size_t spitch, std::size_t width,
         std::size_t height, int kind) {
        return copy_now(dst, span(dpitch, width, height), src, span(spitch, width, height), kind,
                        [=](void* to, const void* from, cudaStream_t stream) {
                          const auto kind_of_copy = cudaMemcpyKind(kind);
                          return stream ? cudaMemcpy2DAsync(to, dpitch, from, spitch, width, height,
                                                            kind_of_copy, stream)
                                        : cudaMemcpy2D(to, dpitch, from, spitch, width, height,
                                                       kind_of_copy);
                        });
      },
      "Copy `height` rows of `width` bytes that lie a pitch apart.",
      {{"dst"},
       {"dpitch"},
       {"src"},
       {"spitch"},
       {"width"},
       {"height"},
       {"kind", int(cudaMemcpyDefault)}});
  def(m, "cudaMemcpy2DAsync",
      [](py::handle dst, std::size_t dpitch, py::handle src, std::size_t spitch, std::size_t width,
         std::size_t height, int kind, const StreamRef& stream) {
        return copy(dst, span(dpitch, width, height), src, span(spitch, width, height), stream,
                    [&](void* to, const void* from) {
                      return cudaMemcpy2DAsync(to, dpitch, from, spitch, width, height,
                                               cudaMemcpyKind(kind), stream.handle);
                    });
      },
      "cudaMemcpy2D in the stream's order.",
      {{"dst"},
       {"dpitch"},
       {"src"},
       {"spitch"},
       {"width"},
       {"height"},
       {"kind", int(cudaMemcpyDefault)},
       {"stream", py::none()}});
  def(m, "cudaMemcpyPeer", calling(&cudaMemcpyPeer),
      "Copy `count` bytes from one device to another.",
      {{"dst"}, {"dst_device"}, {"src"}, {"src_device"}, {"count"}});
  def(m, "cudaMemcpyPeerAsync",
      [](py::handle dst, int dst_device, py::handle src, int src_device, std::size_t count,
         const StreamRef& stream) {
        void* const to = address_of(dst, "dst");
        const void* const from = address_of(src, "src");
        return call_on(stream, {to, from}, [&] {
          return cudaMemcpyPeerAsync(to, dst_device, from, src_device, count, stream.handle);
        });
      },
      "cudaMemcpyPeer in the stream's order.",
      {{"dst"}, {"dst_device"}, {"src"}, {"src_device"}, {"count"}, {"stream", py::none()}});

  def(m, "cudaMemset",
      [](py::handle dst, int value, std::size_t count) {
        void* const to = address_of(dst, "dst");
        const StreamRef stream = default_stream();
        return call_on(stream, {to}, [&] {
          return stream.handle ? cudaMemsetAsync(to, value, count, stream.handle)
                               : cudaMemset(to, value, count);
        });
      },
      "Set `count` bytes of device memory.", {{"dst"}, {"value"}, {"count"}});
  def(m, "cudaMemsetAsync",
      [](py::handle dst, int value, std::size_t count, const StreamRef& stream) {
        void* const to = address_of(dst, "dst");
        return call_on(stream, {to},
                       [&] { return cudaMemsetAsync(to, value, count, stream.handle); });
      },
      "cudaMemset in the stream's order.", {{"dst"}, {"value"}, {"count"}, {"stream", py::none()}});
  def(m, "cudaMemset2D",
      [](py::handle dst, std::size_t pitch, int value, std::size_t width, std::size_t height) {
        void* const to = address_of(dst, "dst");
        const StreamRef stream = default_stream();
        return call_on(stream, {to}, [&] {
          return stream.handle ? cudaMemset2DAsync(to, pitch, value, width, height, stream.handle)
                               : cudaMemset2D(to, pitch, value, width, height);
        });
      },
      "Set `height` rows of `width` bytes that lie `pitch` bytes apart.",
      {{"dst"}, {"pitch"}, {"value"}, {"width"}, {"height"}});
  def(m, "cudaMemset2DAsync",
      [](py::handle dst, std::size_t pitch, int value, std::size_t width, std::size_t height,
         const StreamRef& stream) {
        void* const to = address_of(dst, "dst");
        return call_on(stream, {to}, [&] {
          return cudaMemset2DAsync(to, pitch, value, width, height, stream.handle);
        });
      },
      "cudaMemset2D in the stream's order.",
      {{"dst"}, {"pitch"}, {"value"}, {"width"}, {"height"}, {"stream", py::none()}});
}

}  // namespace PyGPU::python
