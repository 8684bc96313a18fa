// Low-level calls that allocate and free memory by address, and describe addresses.
#include "PyGPU/runtime/graph.h"
#include "PyGPU/runtime/memory_stats.h"
#include "python/bindings.h"
#include "python/runtime/memory_docs.h"
#include "python/runtime/sharing_docs.h"

namespace PyGPU::python {
namespace {

// Make a call that yields an address; returns (address, cudaError_t).
template <class Call>
py::tuple new_address(Call take) {
  void* address = nullptr;
  const Status status = call_in_relaxed_mode([&] { return take(&address); });
  return with_status(status, number_of(address));
}

template <class Handle, class Call>
py::tuple new_ipc_handle(Call get) {
  Handle handle{};
  const Status status = call([&] { return get(&handle); });
  return with_status(status, py::bytes(reinterpret_cast<const char*>(&handle), sizeof handle));
}

py::tuple pointer_attributes(py::handle pointer) {
  const void* address = address_of(pointer, "address");
  cudaPointerAttributes found{};
  const Status status = call([&] { return cudaPointerGetAttributes(&found, address); });
  py::dict attributes;
  attributes["type"] = int(found.type);
  attributes["device"] = found.device;
  attributes["devicePointer"] = number_of(found.devicePointer);
  attributes["hostPointer"] = number_of(found.hostPointer);
  return with_status(status, attributes);
}

// Page-lock a buffer, or `nbytes` at an address.
Status register_host(py::handle memory, std::size_t nbytes, unsigned flags) {
  const CopyEnd end = copy_end(memory, "memory", false);
  const bool is_known = end.limit != SIZE_MAX;
  if (!is_known && nbytes == 0)
    throw py::value_error("nbytes=0: expected the number of bytes at the address");
  if (is_known && nbytes > end.limit)
    return {cudaErrorInvalidValue, "nbytes=" + std::to_string(nbytes) + ": memory has only " +
                                       std::to_string(end.limit) + " bytes"};
  const std::size_t size = nbytes ? nbytes : end.limit;
  return call_in_relaxed_mode([&] { return cudaHostRegister(end.address, size, flags); });
}

}  // namespace

void bind_memory(py::module_& m) {
  def(m, "_memory_stats",
      [](int device, bool reset_peaks) {
        MemoryStats stats;
        const Status status = call([&] { return memory_stats(device, reset_peaks, stats); });
        return with_status(
            status, py::make_tuple(stats.free, stats.total, stats.pool_used, stats.pool_peak,
                                   stats.pool_reserved, stats.pool_reserved_peak, stats.cached,
                                   stats.plain_used, stats.plain_peak));
      },
      "Return the members of MemoryStats, in their order.", {{"device"}, {"reset_peaks"}});
  def(m, "_in_relaxed_capture_mode",
      [](const py::function& release, const py::object& memory) {
        const RelaxedCaptureMode relaxed = relax_capture_mode();
        return py::object(release(memory));
      },
      "Call release(memory) without invalidating a graph that any library captures.",
      {{"release"}, {"memory"}});
  def(m, "cudaMalloc",
      [](std::size_t nbytes) {
        return new_address([=](void** address) { return cudaMalloc(address, nbytes); });
      },
      docs::cudaMalloc_text, {{"nbytes"}});
  def(m, "cudaMallocPitch",
      [](std::size_t width, std::size_t height) {
        void* address = nullptr;
        std::size_t pitch = 0;
        const Status status =
            call_in_relaxed_mode([&] { return cudaMallocPitch(&address, &pitch, width, height); });
        return with_status(status, number_of(address), pitch);
      },
      docs::cudaMallocPitch_text, {{"width"}, {"height"}});
  def(m, "cudaMallocManaged",
      [](std::size_t nbytes, unsigned flags) {
        return new_address(
            [=](void** address) { return cudaMallocManaged(address, nbytes, flags); });
      },
      docs::cudaMallocManaged_text, {{"nbytes"}, {"flags", unsigned(cudaMemAttachGlobal)}});
  def(m, "cudaMallocAsync",
      [](std::size_t nbytes, const StreamRef& stream) {
        return new_address(
            [&](void** address) { return cudaMallocAsync(address, nbytes, stream.handle); });
      },
      docs::cudaMallocAsync_text, {{"nbytes"}, {"stream", py::none()}});
  def(m, "cudaFree",
      [](py::handle address) {
        void* const block = address_of(address, "address");
        return call_in_relaxed_mode([&] { return cudaFree(block); });
      },
      docs::cudaFree_text, {{"address"}});
  def(m, "cudaFreeAsync", status_of(&cudaFreeAsync), docs::cudaFreeAsync_text,
      {{"address"}, {"stream", py::none()}});
  def(m, "cudaMallocHost",
      [](std::size_t nbytes) {
        return new_address([=](void** address) { return cudaMallocHost(address, nbytes); });
      },
      docs::cudaMallocHost_text, {{"nbytes"}});
  def(m, "cudaHostAlloc",
      [](std::size_t nbytes, unsigned flags) {
        return new_address([=](void** address) { return cudaHostAlloc(address, nbytes, flags); });
      },
      docs::cudaHostAlloc_text, {{"nbytes"}, {"flags", 0}});
  def(m, "cudaFreeHost",
      [](py::handle address) {
        void* const block = address_of(address, "address");
        return call_in_relaxed_mode([&] { return cudaFreeHost(block); });
      },
      docs::cudaFreeHost_text, {{"address"}});
  def(m, "cudaHostGetDevicePointer",
      [](py::handle address) {
        void* const host = address_of(address, "address");
        return new_address(
            [=](void** device) { return cudaHostGetDevicePointer(device, host, 0); });
      },
      docs::cudaHostGetDevicePointer_text, {{"address"}});
  def(m, "cudaHostGetFlags", value_and_status_of(&cudaHostGetFlags), docs::cudaHostGetFlags_text,
      {{"address"}});
  def(m, "cudaHostRegister", &register_host, docs::cudaHostRegister_text,
      {{"memory"}, {"nbytes", 0}, {"flags", unsigned(cudaHostRegisterDefault)}});
  def(m, "cudaHostUnregister",
      [](py::handle memory) {
        const CopyEnd end = copy_end(memory, "memory", false);
        return call_in_relaxed_mode([&] { return cudaHostUnregister(end.address); });
      },
      docs::cudaHostUnregister_text, {{"memory"}});
  def(m, "cudaStreamAttachMemAsync",
      [](const StreamRef& stream, py::handle address, std::size_t nbytes, unsigned flags) {
        void* const block = address_of(address, "address");
        return call([&] { return cudaStreamAttachMemAsync(stream.handle, block, nbytes, flags); });
      },
      docs::cudaStreamAttachMemAsync_text,
      {{"stream"}, {"address"}, {"nbytes", 0}, {"flags", unsigned(cudaMemAttachSingle)}});
  def(m, "cudaMemPrefetchAsync",
      [](py::handle address, std::size_t nbytes, int device, const StreamRef& stream) {
        const void* const block = address_of(address, "address");
        return call_on(stream, {block},
                       [&] { return cudaMemPrefetchAsync(block, nbytes, device, stream.handle); });
      },
      docs::cudaMemPrefetchAsync_text,
      {{"address"}, {"nbytes"}, {"device"}, {"stream", py::none()}});
  def(m, "cudaPointerGetAttributes", &pointer_attributes, docs::cudaPointerGetAttributes_text,
      {{"address"}});

  def(m, "cudaIpcGetMemHandle",
      [](py::handle address) {
        void* const block = address_of(address, "address");
        return new_ipc_handle<cudaIpcMemHandle_t>(
            [=](cudaIpcMemHandle_t* handle) { return cudaIpcGetMemHandle(handle, block); });
      },
      docs::cudaIpcGetMemHandle_text, {{"address"}});
  def(m, "cudaIpcOpenMemHandle",
      [](const py::bytes& handle, unsigned flags) {
        const auto known = ipc_handle_of<cudaIpcMemHandle_t>(handle);
        return new_address(
            [&](void** address) { return cudaIpcOpenMemHandle(address, known, flags); });
      },
      docs::cudaIpcOpenMemHandle_text,
      {{"handle"}, {"flags", unsigned(cudaIpcMemLazyEnablePeerAccess)}});
  def(m, "cudaIpcCloseMemHandle", status_of(&cudaIpcCloseMemHandle),
      docs::cudaIpcCloseMemHandle_text, {{"address"}});
  def(m, "cudaIpcGetEventHandle",
      [](const Event& event) {
        return new_ipc_handle<cudaIpcEventHandle_t>([&](cudaIpcEventHandle_t* handle) {
          return cudaIpcGetEventHandle(handle, event.get());
        });
      },
      docs::cudaIpcGetEventHandle_text, {{"event"}});
  def(m, "cudaIpcOpenEventHandle",
      [](const py::bytes& handle) {
        const auto known = ipc_handle_of<cudaIpcEventHandle_t>(handle);
        auto opened = std::make_shared<Event>(known);
        return with_status(opened->status, opened);
      },
      docs::cudaIpcOpenEventHandle_text, {{"handle"}});
}

}  // namespace PyGPU::python
