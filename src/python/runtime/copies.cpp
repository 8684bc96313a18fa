// Low-level copies and fills. Each end is an address or a buffer. A buffer's size is known, so a
// copy past its end is refused before the runtime is called.
#include "PyGPU/runtime/graph.h"
#include "PyGPU/runtime/peers.h"
#include "PyGPU/runtime/transfer.h"
#include "python/binders.h"
#include "python/runtime/call.h"
#include "python/runtime/copies_docs.h"
#include "python/runtime/memory_device.h"

namespace PyGPU::python {
namespace {

Status past_the_end(const char* which, std::size_t needed, const CopyEnd& end) {
  return {cudaErrorInvalidValue, std::string(which) + " holds " + std::to_string(end.limit) +
                                     " bytes, but the copy needs " + std::to_string(needed)};
}

// Return the number of bytes that a pitched block spans; SIZE_MAX on overflow.
std::size_t span(std::size_t pitch, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return 0;
  std::size_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(pitch, height - 1, &bytes) ||
                        __builtin_add_overflow(bytes, width, &bytes);
  return overflow ? SIZE_MAX : bytes;
}

// Copy if both ends are large enough. With a stream, calls `move(dst, src, stream, false)`; without
// one, `move(dst, src, null, true)`, which waits. While this thread captures, only copies within a
// device can be recorded without a stream.
template <class Move>
Status copy(MemoryObject dst, std::size_t dst_bytes, MemoryObject src, std::size_t src_bytes,
            int kind, const StreamRef* given, Move move) {
  const StreamRef stream = given ? *given : default_stream();
  const bool waits = !given && !stream.handle;
  if (!given && !waits && kind != int(cudaMemcpyDeviceToDevice)) return refusal_to_wait();
  const CopyEnd to = copy_end(dst.object, "dst", true), from = copy_end(src.object, "src", false);
  if (dst_bytes > to.limit) return past_the_end("dst", dst_bytes, to);
  if (src_bytes > from.limit) return past_the_end("src", src_bytes, from);
  if (Capture* const capture = Capture::current())
    for (const CopyEnd* end : {&to, &from})
      if (end->view) capture->keep(end->view);
  if (kind == int(cudaMemcpyDeviceToDevice) || kind == int(cudaMemcpyDefault))
    connect_devices_at(to.address, from.address);
  return call_on(stream, {to.address, from.address},
                 [&] { return move(to.address, from.address, stream.handle, waits); });
}

Status copy_bytes(MemoryObject dst, MemoryObject src, std::size_t count, int number,
                  const StreamRef* stream) {
  const auto kind = cudaMemcpyKind(number);
  return copy(dst, count, src, count, number, stream,
              [=](void* to, const void* from, cudaStream_t queue, bool waits) {
                if (waits) return copy_blocking(to, from, count, kind);
                return Status(cudaMemcpyAsync(to, from, count, kind, queue));
              });
}

Status copy_rows(MemoryObject dst, std::size_t dpitch, MemoryObject src, std::size_t spitch,
                 std::size_t width, std::size_t height, int number, const StreamRef* stream) {
  const auto kind = cudaMemcpyKind(number);
  return copy(
      dst, span(dpitch, width, height), src, span(spitch, width, height), number, stream,
      [=](void* to, const void* from, cudaStream_t queue, bool waits) {
        if (waits) return copy_rows_blocking(to, dpitch, from, spitch, width, height, kind);
        return Status(cudaMemcpy2DAsync(to, dpitch, from, spitch, width, height, kind, queue));
      });
}

// Fill by `set(address, stream, waits)`, whose arguments are those of `move` above.
template <class Set>
Status fill(Address dst, const StreamRef* given, Set set) {
  const StreamRef stream = given ? *given : default_stream();
  return call_on(stream, {dst.value},
                 [&] { return set(dst.value, stream.handle, !given && !stream.handle); });
}

Status fill_bytes(Address dst, int value, std::size_t count, const StreamRef* stream) {
  return fill(dst, stream, [=](void* to, cudaStream_t queue, bool waits) {
    return waits ? cudaMemset(to, value, count) : cudaMemsetAsync(to, value, count, queue);
  });
}

Status fill_rows(Address dst, std::size_t pitch, int value, std::size_t width, std::size_t height,
                 const StreamRef* stream) {
  return fill(dst, stream, [=](void* to, cudaStream_t queue, bool waits) {
    return waits ? cudaMemset2D(to, pitch, value, width, height)
                 : cudaMemset2DAsync(to, pitch, value, width, height, queue);
  });
}

}  // namespace

void bind_copies(module_& m) {
  const Parameter any_kind{"kind", int(cudaMemcpyDefault)}, on{"stream", py::none()};
  def(m, "cudaMemcpy",
      [](MemoryObject dst, MemoryObject src, std::size_t count, int kind) {
        return copy_bytes(dst, src, count, kind, nullptr);
      },
      docs::cudaMemcpy_text, {{"dst"}, {"src"}, {"count"}, any_kind});
  def(m, "cudaMemcpyAsync",
      [](MemoryObject dst, MemoryObject src, std::size_t count, int kind, const StreamRef& stream) {
        return copy_bytes(dst, src, count, kind, &stream);
      },
      docs::cudaMemcpyAsync_text, {{"dst"}, {"src"}, {"count"}, any_kind, on});
  def(m, "cudaMemcpy2D",
      [](MemoryObject dst, std::size_t dpitch, MemoryObject src, std::size_t spitch,
         std::size_t width, std::size_t height,
         int kind) { return copy_rows(dst, dpitch, src, spitch, width, height, kind, nullptr); },
      docs::cudaMemcpy2D_text,
      {{"dst"}, {"dpitch"}, {"src"}, {"spitch"}, {"width"}, {"height"}, any_kind});
  def(m, "cudaMemcpy2DAsync",
      [](MemoryObject dst, std::size_t dpitch, MemoryObject src, std::size_t spitch,
         std::size_t width, std::size_t height, int kind, const StreamRef& stream) {
        return copy_rows(dst, dpitch, src, spitch, width, height, kind, &stream);
      },
      docs::cudaMemcpy2DAsync_text,
      {{"dst"}, {"dpitch"}, {"src"}, {"spitch"}, {"width"}, {"height"}, any_kind, on});
  def(m, "cudaMemcpyPeer",
      [](Address dst, int dst_device, Address src, int src_device, std::size_t count) {
        if (Capture::current()) return refusal_to_wait();
        connect_for_copies(dst_device, src_device);
        return call(
            [&] { return cudaMemcpyPeer(dst.value, dst_device, src.value, src_device, count); });
      },
      docs::cudaMemcpyPeer_text, {{"dst"}, {"dst_device"}, {"src"}, {"src_device"}, {"count"}});
  def(m, "cudaMemcpyPeerAsync",
      [](Address dst, int dst_device, Address src, int src_device, std::size_t count,
         const StreamRef& stream) {
        connect_for_copies(dst_device, src_device);
        return call_on(stream, {dst.value, src.value}, [&] {
          return cudaMemcpyPeerAsync(dst.value, dst_device, src.value, src_device, count,
                                     stream.handle);
        });
      },
      docs::cudaMemcpyPeerAsync_text,
      {{"dst"}, {"dst_device"}, {"src"}, {"src_device"}, {"count"}, on});

  def(m, "cudaMemset",
      [](Address dst, int value, std::size_t count) {
        return fill_bytes(dst, value, count, nullptr);
      },
      docs::cudaMemset_text, {{"dst"}, {"value"}, {"count"}});
  def(m, "cudaMemsetAsync",
      [](Address dst, int value, std::size_t count, const StreamRef& stream) {
        return fill_bytes(dst, value, count, &stream);
      },
      docs::cudaMemsetAsync_text, {{"dst"}, {"value"}, {"count"}, on});
  def(m, "cudaMemset2D",
      [](Address dst, std::size_t pitch, int value, std::size_t width, std::size_t height) {
        return fill_rows(dst, pitch, value, width, height, nullptr);
      },
      docs::cudaMemset2D_text, {{"dst"}, {"pitch"}, {"value"}, {"width"}, {"height"}});
  def(m, "cudaMemset2DAsync",
      [](Address dst, std::size_t pitch, int value, std::size_t width, std::size_t height,
         const StreamRef& stream) { return fill_rows(dst, pitch, value, width, height, &stream); },
      docs::cudaMemset2DAsync_text, {{"dst"}, {"pitch"}, {"value"}, {"width"}, {"height"}, on});
}

}  // namespace PyGPU::python
