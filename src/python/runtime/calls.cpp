// The table of runtime calls. A row has the name, the function, its docstring and its parameters;
// calls.h makes the Python function from the runtime's. A call that needs more than that is a
// lambda here. Copies and fills are in copies.cpp, and host functions in host_functions.cpp.
#include "python/runtime/calls.h"

#include "PyGPU/runtime/graph.h"
#include "PyGPU/runtime/peers.h"
#include "python/runtime/device_docs.h"
#include "python/runtime/memory_docs.h"
#include "python/runtime/peer_docs.h"
#include "python/runtime/sharing_docs.h"
#include "python/runtime/status_docs.h"
#include "python/runtime/stream_docs.h"

namespace PyGPU::python {
namespace {

void bind_error_calls(module_& m) {
  def(m, "cudaGetErrorName",
      [](const Status& error) { return std::string(cudaGetErrorName(error.code)); },
      docs::cudaGetErrorName_text, {{"error"}});
  def(m, "cudaGetErrorString",
      [](const Status& error) { return std::string(cudaGetErrorString(error.code)); },
      docs::cudaGetErrorString_text, {{"error"}});
  def(
      m, "cudaGetLastError",
      [] {
        const Status last = call([] { return cudaGetLastError(); });
        mark_as_returned(cudaSuccess);
        return last;
      },
      docs::cudaGetLastError_text);
  def(m, "cudaPeekAtLastError", call_of(&cudaPeekAtLastError), docs::cudaPeekAtLastError_text);
}

void bind_device_calls(module_& m) {
  def(m, "cudaGetDeviceCount", call_of(&cudaGetDeviceCount), docs::cudaGetDeviceCount_text);
  def(m, "cudaGetDevice", call_of(&cudaGetDevice), docs::cudaGetDevice_text);
  def(m, "cudaSetDevice", call_of(&set_device), docs::cudaSetDevice_text, {{"device"}});
  def(
      m, "cudaDeviceSynchronize",
      [] {
        if (Capture::current()) return refusal_to_wait();
        return call([] { return synchronize_device(); });
      },
      docs::cudaDeviceSynchronize_text);
  def(m, "cudaProfilerStart", call_of(&cudaProfilerStart), docs::cudaProfilerStart_text);
  def(m, "cudaProfilerStop", call_of(&cudaProfilerStop), docs::cudaProfilerStop_text);
  def(
      m, "cudaDeviceReset",
      [] {
        const NoGil without = release_gil();
        return reset_device();
      },
      docs::cudaDeviceReset_text);
  def(m, "cudaDeviceGetAttribute", call_of(&cudaDeviceGetAttribute),
      docs::cudaDeviceGetAttribute_text, {{"attribute"}, {"device"}});
  def(m, "cudaDeviceGetByPCIBusId", call_of(&cudaDeviceGetByPCIBusId),
      docs::cudaDeviceGetByPCIBusId_text, {{"id"}});
  def(m, "cudaDeviceGetPCIBusId",
      [](int device) {
        char id[64] = "";
        const Status status = call([&] { return cudaDeviceGetPCIBusId(id, sizeof id, device); });
        return with_status(status, std::string(id));
      },
      docs::cudaDeviceGetPCIBusId_text, {{"device"}});
  def(m, "cudaDeviceGetLimit", call_of(&cudaDeviceGetLimit), docs::cudaDeviceGetLimit_text,
      {{"limit"}});
  def(m, "cudaDeviceSetLimit", relaxed_call_of(&cudaDeviceSetLimit), docs::cudaDeviceSetLimit_text,
      {{"limit"}, {"value"}});
  def(m, "cudaDeviceGetCacheConfig", call_of(&cudaDeviceGetCacheConfig),
      docs::cudaDeviceGetCacheConfig_text);
  def(m, "cudaDeviceSetCacheConfig", call_of(&cudaDeviceSetCacheConfig),
      docs::cudaDeviceSetCacheConfig_text, {{"config"}});
  def(m, "cudaDeviceGetStreamPriorityRange", call_of(&cudaDeviceGetStreamPriorityRange),
      docs::cudaDeviceGetStreamPriorityRange_text);
  def(m, "cudaGetDeviceFlags", call_of(&cudaGetDeviceFlags), docs::cudaGetDeviceFlags_text);
  def(m, "cudaSetDeviceFlags", call_of(&cudaSetDeviceFlags), docs::cudaSetDeviceFlags_text,
      {{"flags"}});
  def(m, "cudaDeviceCanAccessPeer", call_of(&cudaDeviceCanAccessPeer),
      docs::cudaDeviceCanAccessPeer_text, {{"device"}, {"peer"}});
  def(m, "cudaDeviceGetP2PAttribute", call_of(&cudaDeviceGetP2PAttribute),
      docs::cudaDeviceGetP2PAttribute_text, {{"attribute"}, {"device"}, {"peer"}});
  def(m, "cudaDeviceEnablePeerAccess", call_of(&enable_peer_access),
      docs::cudaDeviceEnablePeerAccess_text, {{"peer"}, {"flags", 0}});
  def(m, "cudaDeviceDisablePeerAccess", call_of(&disable_peer_access),
      docs::cudaDeviceDisablePeerAccess_text, {{"peer"}});
  def(m, "cudaMemGetInfo", call_of(&cudaMemGetInfo), docs::cudaMemGetInfo_text);
  def(m, "cudaDriverGetVersion", call_of(&cudaDriverGetVersion), docs::cudaDriverGetVersion_text);
  def(m, "cudaRuntimeGetVersion", call_of(&cudaRuntimeGetVersion),
      docs::cudaRuntimeGetVersion_text);
}

// Return true if a wait on the stream would end the capture of this thread.
bool is_captured_here(const StreamRef& stream) {
  return Capture::current() && is_captured(stream.handle);
}

// Destroy a stream or an event; the object keeps the status.
template <class T>
Status destroy(T& object) {
  if (!object.get()) return object.status = {cudaErrorInvalidResourceHandle, ""};
  return object.destroy();
}

void bind_stream_calls(module_& m) {
  const Parameter on{"stream", py::none()};
  def(m, "cudaStreamDestroy", &destroy<Stream>, docs::cudaStreamDestroy_text, {{"stream"}});
  def(m, "cudaStreamSynchronize",
      [](const StreamRef& stream) {
        if (is_captured_here(stream)) return refusal_to_wait();
        return call_in_relaxed_mode([&] {
          const cudaError_t error = cudaStreamSynchronize(stream.handle);
          if (!error && !stream.handle) record_current_idle(true);
          return error;
        });
      },
      docs::cudaStreamSynchronize_text, {on});
  def(m, "cudaStreamQuery",
      [](const StreamRef& stream) {
        if (is_captured_here(stream)) return refusal_to_wait();
        return call_in_relaxed_mode([&] { return cudaStreamQuery(stream.handle); });
      },
      docs::cudaStreamQuery_text, {on});
  def(m, "cudaStreamWaitEvent", call_of(&cudaStreamWaitEvent), docs::cudaStreamWaitEvent_text,
      {{"stream"}, {"event"}, {"flags", 0}});
  def(m, "cudaStreamGetFlags", call_of(&cudaStreamGetFlags), docs::cudaStreamGetFlags_text,
      {{"stream"}});
  def(m, "cudaStreamGetPriority", call_of(&cudaStreamGetPriority), docs::cudaStreamGetPriority_text,
      {{"stream"}});

  def(m, "cudaEventDestroy", &destroy<Event>, docs::cudaEventDestroy_text, {{"event"}});
  def(m, "cudaEventRecord",
      [](Event& event, const StreamRef& stream) {
        return call([&] { return record(event, stream); });
      },
      docs::cudaEventRecord_text, {{"event"}, on});
  def(m, "cudaEventSynchronize", relaxed_call_of(&cudaEventSynchronize),
      docs::cudaEventSynchronize_text, {{"event"}});
  def(m, "cudaEventQuery", relaxed_call_of(&cudaEventQuery), docs::cudaEventQuery_text,
      {{"event"}});
  def(m, "cudaEventElapsedTime",
      [](const Event& start, const Event& end) {
        float milliseconds = 0;
        const Status status = call([&]() -> Status {
          const cudaError_t error = cudaEventElapsedTime(&milliseconds, start.get(), end.get());
          const bool has_reason = error && error != cudaErrorNotReady;
          return {error, has_reason ? missing_time_text(start, end) : ""};
        });
        return with_status(status, milliseconds);
      },
      docs::cudaEventElapsedTime_text, {{"start"}, {"end"}});
}

// Page-lock a buffer, or `nbytes` at an address.
Status register_host(MemoryObject memory, std::size_t nbytes, unsigned flags) {
  const CopyEnd end = copy_end(memory.object, "memory", false);
  const bool is_known = end.limit != SIZE_MAX;
  if (!is_known && nbytes == 0)
    throw py::value_error("nbytes=0: expected the number of bytes at the address");
  if (is_known && nbytes > end.limit)
    return {cudaErrorInvalidValue, "nbytes=" + std::to_string(nbytes) + ": memory has only " +
                                       std::to_string(end.limit) + " bytes"};
  const std::size_t size = nbytes ? nbytes : end.limit;
  return call_in_relaxed_mode([&] { return cudaHostRegister(end.address, size, flags); });
}

void bind_memory_calls(module_& m) {
  const Parameter on{"stream", py::none()};
  def(m, "cudaMalloc", relaxed_call_of<void**, std::size_t>(&cudaMalloc), docs::cudaMalloc_text,
      {{"nbytes"}});
  def(m, "cudaMallocPitch",
      relaxed_call_of<void**, std::size_t*, std::size_t, std::size_t>(&cudaMallocPitch),
      docs::cudaMallocPitch_text, {{"width"}, {"height"}});
  def(m, "cudaMallocManaged", relaxed_call_of<void**, std::size_t, unsigned>(&cudaMallocManaged),
      docs::cudaMallocManaged_text, {{"nbytes"}, {"flags", unsigned(cudaMemAttachGlobal)}});
  def(m, "cudaMallocAsync", relaxed_call_of<void**, std::size_t, cudaStream_t>(&cudaMallocAsync),
      docs::cudaMallocAsync_text, {{"nbytes"}, on});
  def(m, "cudaFree", relaxed_call_of(&cudaFree), docs::cudaFree_text, {{"address"}});
  def(m, "cudaFreeAsync", call_of(&cudaFreeAsync), docs::cudaFreeAsync_text, {{"address"}, on});
  def(m, "cudaMallocHost", relaxed_call_of<void**, std::size_t>(&cudaMallocHost),
      docs::cudaMallocHost_text, {{"nbytes"}});
  def(m, "cudaHostAlloc", relaxed_call_of<void**, std::size_t, unsigned>(&cudaHostAlloc),
      docs::cudaHostAlloc_text, {{"nbytes"}, {"flags", 0}});
  def(m, "cudaFreeHost", relaxed_call_of(&cudaFreeHost), docs::cudaFreeHost_text, {{"address"}});
  def(m, "cudaHostGetDevicePointer",
      [](Address host) {
        void* address = nullptr;
        const Status status =
            call_in_relaxed_mode([&] { return cudaHostGetDevicePointer(&address, host.value, 0); });
        return with_status(status, number_of(address));
      },
      docs::cudaHostGetDevicePointer_text, {{"address"}});
  def(m, "cudaHostGetFlags", call_of(&cudaHostGetFlags), docs::cudaHostGetFlags_text,
      {{"address"}});
  def(m, "cudaHostRegister", &register_host, docs::cudaHostRegister_text,
      {{"memory"}, {"nbytes", 0}, {"flags", unsigned(cudaHostRegisterDefault)}});
  def(m, "cudaHostUnregister",
      [](MemoryObject memory) {
        const CopyEnd end = copy_end(memory.object, "memory", false);
        return call_in_relaxed_mode([&] { return cudaHostUnregister(end.address); });
      },
      docs::cudaHostUnregister_text, {{"memory"}});
  def(m, "cudaStreamAttachMemAsync",
      call_of<cudaStream_t, void*, std::size_t, unsigned>(&cudaStreamAttachMemAsync),
      docs::cudaStreamAttachMemAsync_text,
      {{"stream"}, {"address"}, {"nbytes", 0}, {"flags", unsigned(cudaMemAttachSingle)}});
  def(m, "cudaMemPrefetchAsync",
      [](Address block, std::size_t nbytes, int device, const StreamRef& stream) {
        return call_on(stream, {block.value}, [&] {
          return cudaMemPrefetchAsync(block.value, nbytes, device, stream.handle);
        });
      },
      docs::cudaMemPrefetchAsync_text, {{"address"}, {"nbytes"}, {"device"}, on});
  def(m, "cudaPointerGetAttributes",
      [](Address address) {
        cudaPointerAttributes found{};
        const Status status = call([&] { return cudaPointerGetAttributes(&found, address.value); });
        IntDict attributes;
        attributes["type"] = int(found.type);
        attributes["device"] = found.device;
        attributes["devicePointer"] = number_of(found.devicePointer);
        attributes["hostPointer"] = number_of(found.hostPointer);
        return with_status(status, attributes);
      },
      docs::cudaPointerGetAttributes_text, {{"address"}});

  def(m, "cudaIpcGetMemHandle", call_of(&cudaIpcGetMemHandle), docs::cudaIpcGetMemHandle_text,
      {{"address"}});
  def(m, "cudaIpcOpenMemHandle", relaxed_call_of(&cudaIpcOpenMemHandle),
      docs::cudaIpcOpenMemHandle_text,
      {{"handle"}, {"flags", unsigned(cudaIpcMemLazyEnablePeerAccess)}});
  def(m, "cudaIpcCloseMemHandle", call_of(&cudaIpcCloseMemHandle), docs::cudaIpcCloseMemHandle_text,
      {{"address"}});
  def(m, "cudaIpcGetEventHandle", call_of(&cudaIpcGetEventHandle), docs::cudaIpcGetEventHandle_text,
      {{"event"}});
  def(m, "cudaIpcOpenEventHandle",
      [](const py::bytes& handle) {
        auto opened = std::make_shared<Event>(ipc_handle_of<cudaIpcEventHandle_t>(handle));
        return with_status(opened->status, opened);
      },
      docs::cudaIpcOpenEventHandle_text, {{"handle"}});
}

}  // namespace

void bind_calls(module_& m) {
  bind_error_calls(m);
  bind_device_calls(m);
  bind_stream_calls(m);
  bind_memory_calls(m);
}

}  // namespace PyGPU::python
