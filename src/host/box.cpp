// Three-dimensional copies (cudaMemcpy3D) between arrays and pitched memory of the host machine.
#include <cstring>

#include "array.h"
#include "capture.h"

namespace PyGPU::host {
namespace {

// One end of a copy: address of the first byte, and the strides in bytes between rows and between
// slices.
struct BoxEnd {
  char* first;
  std::size_t pitch, slice;
  std::shared_ptr<char> owner;
};

struct Extent {
  std::size_t row_bytes, rows, slices;
};

bool within(std::size_t position, std::size_t length, std::size_t limit) {
  return position <= limit && length <= limit - position;
}

cudaError_t array_end(BoxEnd& end, const PyGPUHostArray& array, const cudaPos& at,
                      const cudaExtent& extent) {
  const bool inside = within(at.x, extent.width, array.extent.width) &&
                      within(at.y, extent.height, array.rows()) &&
                      within(at.z, extent.depth, array.slices());
  if (!inside) return cudaErrorInvalidValue;
  const std::size_t pitch = array.row_bytes(), slice = pitch * array.rows();
  char* const first = array.data.get() + at.z * slice + at.y * pitch + at.x * array.element_bytes;
  end = {first, pitch, slice, array.data};
  return cudaSuccess;
}

cudaError_t memory_end(BoxEnd& end, const cudaPitchedPtr& memory, const cudaPos& at,
                       const Extent& extent, bool on_device) {
  std::size_t slice = 0, before = 0, last = 0, rows_before = 0, span = 0;
  const bool one_row = extent.rows == 1 && extent.slices == 1 && at.y == 0 && at.z == 0;
  if (!one_row && !within(at.x, extent.row_bytes, memory.pitch)) return cudaErrorInvalidPitchValue;
  if (extent.slices > 1 && !within(at.y, extent.rows, memory.ysize)) return cudaErrorInvalidValue;
  const bool overflow = __builtin_mul_overflow(memory.pitch, memory.ysize, &slice) ||
                        __builtin_mul_overflow(slice, at.z, &before) ||
                        __builtin_mul_overflow(memory.pitch, at.y, &rows_before) ||
                        __builtin_add_overflow(before, rows_before, &before) ||
                        __builtin_add_overflow(before, at.x, &before) ||
                        __builtin_mul_overflow(slice, extent.slices - 1, &span) ||
                        __builtin_mul_overflow(memory.pitch, extent.rows - 1, &last) ||
                        __builtin_add_overflow(span, last, &span) ||
                        __builtin_add_overflow(span, extent.row_bytes, &span);
  if (overflow || !memory.ptr) return cudaErrorInvalidValue;
  char* const first = static_cast<char*>(memory.ptr) + before;
  if (!copy_can_access(first, span, on_device)) return cudaErrorInvalidValue;
  end = {first, memory.pitch, slice, nullptr};
  return cudaSuccess;
}

cudaError_t copy_box(const cudaMemcpy3DParms& box) {
  if (const cudaError_t error = check_kind(box.kind)) return error;
  if (bool(box.srcArray) == bool(box.srcPtr.ptr) || bool(box.dstArray) == bool(box.dstPtr.ptr))
    return cudaErrorInvalidValue;
  std::optional<PyGPUHostArray> from, to;
  if (box.srcArray && !(from = array_of(box.srcArray))) return cudaErrorInvalidResourceHandle;
  if (box.dstArray && !(to = array_of(box.dstArray))) return cudaErrorInvalidResourceHandle;
  if (from && to && from->element_bytes != to->element_bytes) return cudaErrorInvalidValue;
  if (box.extent.width == 0 || box.extent.height == 0 || box.extent.depth == 0) return cudaSuccess;
  const std::size_t element = from ? from->element_bytes : to ? to->element_bytes : 1;
  if (box.extent.width > SIZE_MAX / element) return cudaErrorInvalidValue;
  const Extent extent{box.extent.width * element, box.extent.height, box.extent.depth};
  const bool to_device = box.kind == cudaMemcpyHostToDevice || box.kind == cudaMemcpyDeviceToDevice;
  const bool from_device =
      box.kind == cudaMemcpyDeviceToHost || box.kind == cudaMemcpyDeviceToDevice;
  BoxEnd source{}, target{};
  if (const cudaError_t error =
          from ? array_end(source, *from, box.srcPos, box.extent)
               : memory_end(source, box.srcPtr, box.srcPos, extent, from_device))
    return error;
  if (const cudaError_t error = to ? array_end(target, *to, box.dstPos, box.extent)
                                   : memory_end(target, box.dstPtr, box.dstPos, extent, to_device))
    return error;
  for (std::size_t slice = 0; slice < extent.slices; ++slice)
    for (std::size_t row = 0; row < extent.rows; ++row)
      std::memmove(target.first + slice * target.slice + row * target.pitch,
                   source.first + slice * source.slice + row * source.pitch, extent.row_bytes);
  return cudaSuccess;
}

cudaError_t copy_rows(cudaArray_t handle, std::size_t x, std::size_t y, void* memory,
                      std::size_t pitch, std::size_t width, std::size_t height, bool to_array,
                      cudaMemcpyKind kind) {
  const auto array = array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  const std::size_t element = array->element_bytes;
  if (x % element || width % element) return cudaErrorInvalidValue;
  cudaMemcpy3DParms box{};
  (to_array ? box.dstArray : box.srcArray) = handle;
  (to_array ? box.dstPos : box.srcPos) = {x / element, y, 0};
  (to_array ? box.srcPtr : box.dstPtr) = {memory, pitch, pitch, height};
  box.extent = {width / element, height, 1};
  box.kind = kind;
  return copy_box(box);
}

}  // namespace
}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  if (const cudaError_t fault = unread_fault()) return set_last_error(fault);
  return cudaMemcpy3DAsync(box, nullptr);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return call([&] {
    if (!box) return cudaErrorInvalidValue;
    return enqueue(stream, [box = *box] { return copy_box(box); });
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* box) {
  return cudaMemcpy3DPeerAsync(box, nullptr);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* box, cudaStream_t stream) {
  return call([&] {
    if (!box) return cudaErrorInvalidValue;
    const Machine& machine = Machine::get();
    if (!machine.has_device(box->srcDevice) || !machine.has_device(box->dstDevice))
      return cudaErrorInvalidDevice;
    const cudaMemcpy3DParms copy{box->srcArray, box->srcPos, box->srcPtr, box->dstArray,
                                 box->dstPos,   box->dstPtr, box->extent, cudaMemcpyDeviceToDevice};
    return enqueue(stream, [copy] { return copy_box(copy); });
  });
}

cudaError_t cudaHostCopyRows(cudaArray_t array, std::size_t x, std::size_t y, void* memory,
                             std::size_t pitch, std::size_t width, std::size_t height,
                             bool to_array, cudaMemcpyKind kind) {
  return call([&] {
    return enqueue(nullptr, [=] {
      return copy_rows(array, x, y, memory, pitch, width, height, to_array, kind);
    });
  });
}
