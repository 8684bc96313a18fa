// Memory at the low level: take and give back by address, and what addresses are.
#include "PyGPU/graph.h"
#include "python/bindings.h"

namespace PyGPU::python {
namespace {

// Calls that hand out an address: (address, cudaError_t).
template <class Call>
py::tuple new_address(Call take) {
  void* address = nullptr;
  const Status status = call_beside([&] { return take(&address); });
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

// The address and size of what is to be registered: a buffer, or an address with nbytes.
Status register_host(py::handle memory, std::size_t nbytes, unsigned flags) {
  const CopyEnd end = copy_end(memory, "memory", false);
  const bool is_known = end.limit != SIZE_MAX;
  if (!is_known && nbytes == 0)
    throw py::value_error("nbytes: an address needs the number of bytes");
  if (is_known && nbytes > end.limit)
    return {cudaErrorInvalidValue, "nbytes is " + std::to_string(nbytes) +
                                       ", but memory holds only " + std::to_string(end.limit) +
                                       " bytes"};
  const std::size_t size = nbytes ? nbytes : end.limit;
  return call_beside([&] { return cudaHostRegister(end.address, size, flags); });
}

}  // namespace

void bind_memory(py::module_& m) {
  def(m, "_beside_captures",
      [](const py::function& release, const py::object& memory) {
        const BesideCaptures beside = beside_captures();
        return py::object(release(memory));
      },
      "release(memory), which invalidates no graph that any library captures.",
      {{"release"}, {"memory"}});
  def(m, "cudaMalloc",
      [](std::size_t nbytes) {
        return new_address([=](void** address) { return cudaMalloc(address, nbytes); });
      },
      "(address, cudaError_t) of new device memory", {{"nbytes"}});
  def(m, "cudaMallocPitch",
      [](std::size_t width, std::size_t height) {
        void* address = nullptr;
        std::size_t pitch = 0;
        const Status status =
            call_beside([&] { return cudaMallocPitch(&address, &pitch, width, height); });
        return with_status(status, number_of(address), pitch);
      },
      "(address, pitch, cudaError_t) of new device memory for rows of `width` bytes",
      {{"width"}, {"height"}});
  def(m, "cudaMallocManaged",
      [](std::size_t nbytes, unsigned flags) {
        return new_address(
            [=](void** address) { return cudaMallocManaged(address, nbytes, flags); });
      },
      "(address, cudaError_t) of new memory that host and device both reach",
      {{"nbytes"}, {"flags", unsigned(cudaMemAttachGlobal)}});
  def(m, "cudaMallocAsync",
      [](std::size_t nbytes, const StreamRef& stream) {
        return new_address(
            [&](void** address) { return cudaMallocAsync(address, nbytes, stream.handle); });
      },
      "(address, cudaError_t) of device memory from the pool, in the stream's order",
      {{"nbytes"}, {"stream", py::none()}});
  def(m, "cudaFree",
      [](py::handle address) {
        void* const block = address_of(address, "address");
        return call_beside([&] { return cudaFree(block); });
      },
      "Give back device or managed memory.", {{"address"}});
  def(m, "cudaFreeAsync", calling(&cudaFreeAsync),
      "Give memory back to the pool, in the stream's order.",
      {{"address"}, {"stream", py::none()}});
  def(m, "cudaMallocHost",
      [](std::size_t nbytes) {
        return new_address([=](void** address) { return cudaMallocHost(address, nbytes); });
      },
      "(address, cudaError_t) of new page-locked host memory", {{"nbytes"}});
  def(m, "cudaHostAlloc",
      [](std::size_t nbytes, unsigned flags) {
        return new_address([=](void** address) { return cudaHostAlloc(address, nbytes, flags); });
      },
      "(address, cudaError_t) of new page-locked host memory with cudaHostAlloc... flags",
      {{"nbytes"}, {"flags", 0}});
  def(m, "cudaFreeHost",
      [](py::handle address) {
        void* const block = address_of(address, "address");
        return call_beside([&] { return cudaFreeHost(block); });
      },
      "Give back page-locked memory.", {{"address"}});
  def(m, "cudaHostGetDevicePointer",
      [](py::handle address) {
        void* const host = address_of(address, "address");
        return new_address(
            [=](void** device) { return cudaHostGetDevicePointer(device, host, 0); });
      },
      "(device address, cudaError_t) of mapped page-locked memory", {{"address"}});
  def(m, "cudaHostGetFlags", asking(&cudaHostGetFlags), "(flags, cudaError_t)", {{"address"}});
  def(m, "cudaHostRegister", &register_host,
      "Page-lock existing host memory: a buffer, or an address with nbytes.",
      {{"memory"}, {"nbytes", 0}, {"flags", unsigned(cudaHostRegisterDefault)}});
  def(m, "cudaHostUnregister",
      [](py::handle memory) {
        const CopyEnd end = copy_end(memory, "memory", false);
        return call_beside([&] { return cudaHostUnregister(end.address); });
      },
      "End what cudaHostRegister began, for the same buffer or address.", {{"memory"}});
  def(m, "cudaStreamAttachMemAsync",
      [](const StreamRef& stream, py::handle address, std::size_t nbytes, unsigned flags) {
        void* const block = address_of(address, "address");
        return call([&] { return cudaStreamAttachMemAsync(stream.handle, block, nbytes, flags); });
      },
      "Attach managed memory to a stream, with a cudaMemAttach... flag.",
      {{"stream"}, {"address"}, {"nbytes", 0}, {"flags", unsigned(cudaMemAttachSingle)}});
  def(m, "cudaMemPrefetchAsync",
      [](py::handle address, std::size_t nbytes, int device, const StreamRef& stream) {
        const void* const block = address_of(address, "address");
        return call_on(stream, {block},
                       [&] { return cudaMemPrefetchAsync(block, nbytes, device, stream.handle); });
      },
      "Move managed memory to a device, or with cudaCpuDeviceId to the host, before it is used.",
      {{"address"}, {"nbytes"}, {"device"}, {"stream", py::none()}});
  def(m, "cudaPointerGetAttributes", &pointer_attributes,
      "({'type', 'device', 'devicePointer', 'hostPointer'}, cudaError_t)", {{"address"}});

  def(m, "cudaIpcGetMemHandle",
      [](py::handle address) {
        void* const block = address_of(address, "address");
        return new_ipc_handle<cudaIpcMemHandle_t>(
            [=](cudaIpcMemHandle_t* handle) { return cudaIpcGetMemHandle(handle, block); });
      },
      "(64 bytes, cudaError_t) with which another process opens the memory", {{"address"}});
  def(m, "cudaIpcOpenMemHandle",
      [](const py::bytes& handle, unsigned flags) {
        const auto known = ipc_handle_of<cudaIpcMemHandle_t>(handle);
        return new_address(
            [&](void** address) { return cudaIpcOpenMemHandle(address, known, flags); });
      },
      "(address, cudaError_t) of another process's memory",
      {{"handle"}, {"flags", unsigned(cudaIpcMemLazyEnablePeerAccess)}});
  def(m, "cudaIpcCloseMemHandle", calling(&cudaIpcCloseMemHandle),
      "Close memory that cudaIpcOpenMemHandle opened.", {{"address"}});
  def(m, "cudaIpcGetEventHandle",
      [](const Event& event) {
        return new_ipc_handle<cudaIpcEventHandle_t>([&](cudaIpcEventHandle_t* handle) {
          return cudaIpcGetEventHandle(handle, event.get());
        });
      },
      "(64 bytes, cudaError_t) with which another process opens the event", {{"event"}});
  def(m, "cudaIpcOpenEventHandle",
      [](const py::bytes& handle) {
        const auto known = ipc_handle_of<cudaIpcEventHandle_t>(handle);
        auto opened = std::make_shared<Event>(known);
        return with_status(opened->status, opened);
      },
      "(cudaEvent_t, cudaError_t) of another process's event", {{"handle"}});
}

}  // namespace PyGPU::python
