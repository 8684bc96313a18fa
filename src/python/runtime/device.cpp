// Devices: choice, properties, attributes, limits, peers, versions.
#include <cstdio>

#include "PyGPU/graph.h"
#include "python/bindings.h"

namespace PyGPU::python {
namespace {

// What cudaDeviceProp holds: the properties of a device, its id and its bus's, and the status of
// the calls that asked for them.
struct Properties {
  cudaDeviceProp values{};
  char id[16] = {};
  std::string bus_id;
  Status status;

  explicit Properties(int device) {
    status = call([&] { return cudaGetDeviceProperties(&values, device); });
    char text[64] = "";
    if (!status.failed()) status = call([&] { return device_uuid(id, device); });
    if (!status.failed())
      status = call([&] { return cudaDeviceGetPCIBusId(text, sizeof text, device); });
    bus_id = text;
  }

  std::string uuid() const {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char pair[4];
      std::snprintf(pair, sizeof pair, "%02x", unsigned(static_cast<unsigned char>(id[i])));
      text += pair;
      if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
    }
    return text;
  }
};

void bind_properties(py::module_& m) {
  const py::object c = new_class<Properties>(m, "cudaDeviceProp",
                                             "Properties of a device: cudaDeviceProp(ordinal).");
  constructor(c, [](py::handle, int device) { return Properties(device); }, {{"device"}});
  method(c, "get", [](py::object self) { return self; });
  method(c, "last_status", [](const Properties& self) { return self.status; });
  method(c, "name", [](const Properties& self) { return std::string(self.values.name); });
  method(c, "uuid", [](const Properties& self) { return self.uuid(); });
  method(
      c, "totalGlobalMem", [](const Properties& self) { return self.values.totalGlobalMem; },
      "Bytes of memory.");
  method(c, "major", [](const Properties& self) { return self.values.major; });
  method(c, "minor", [](const Properties& self) { return self.values.minor; });
  method(c, "warpSize", [](const Properties& self) { return self.values.warpSize; });
  method(c, "multiProcessorCount",
         [](const Properties& self) { return self.values.multiProcessorCount; });
  method(c, "pciBusID", [](const Properties& self) { return self.values.pciBusID; });
  method(c, "pciDeviceID", [](const Properties& self) { return self.values.pciDeviceID; });
  method(c, "pciDomainID", [](const Properties& self) { return self.values.pciDomainID; });
  method(
      c, "architecture", [](const Properties& self) { return architecture_name(self.values); },
      "What a compiler calls the device: 'sm_90', 'gfx90a', 'host'.");
  method(
      c, "features", [](const Properties& self) { return architecture_features(self.values); },
      "Settings of an AMD device that images are compiled for: 'sramecc+:xnack-'; else empty.");
  method(c, "__repr__", [](const Properties& self) {
    return "<cudaDeviceProp: " + std::string(self.values.name) + " at " + self.bus_id + ">";
  });
}

}  // namespace

void bind_device(py::module_& m) {
  bind_properties(m);

  def(m, "cudaGetDeviceCount", asking(&cudaGetDeviceCount), "(count, cudaError_t)");
  def(m, "cudaGetDevice", asking(&cudaGetDevice), "(ordinal of the thread's device, cudaError_t)");
  def(
      m, "_here",
      [] {
        const int device = current_device();
        return std::uint64_t(device_epoch(device)) << 8 | unsigned(device);
      },
      "A number for the current device as it is since its last reset: a key for what is kept.");
  def(m, "_device_epoch", [](int device) { return device_epoch(device); },
      "A number that a reset of the device changes: what was taken before is gone.", {{"device"}});
  def(m, "cudaSetDevice",
      [](int device) {
        return call([device]() -> Status {
          if (!Capture::current()) return cudaSetDevice(device);
          const BesideCaptures beside = beside_captures();  // its first use may allocate
          return cudaSetDevice(device);
        });
      },
      "Make a device the calling thread's own.", {{"device"}});
  def(
      m, "cudaDeviceSynchronize",
      [] {
        if (Capture::current()) return refusal_to_wait();
        return call([] { return synchronize_device(); });
      },
      "Wait until the device has done all its work.");
  def(
      m, "cudaDeviceReset",
      [] {
        const NoGil without = release_gil();
        return reset_device();
      },
      "Destroy the device's context with all memory, streams and events in this process.");
  def(m, "cudaDeviceGetAttribute", asking(&cudaDeviceGetAttribute),
      "(value, cudaError_t) of a cudaDevAttr... number", {{"attribute"}, {"device"}});
  def(m, "cudaDeviceGetByPCIBusId", asking(&cudaDeviceGetByPCIBusId),
      "(ordinal, cudaError_t) of the device at 'domain:bus:device.function'", {{"id"}});
  def(m, "cudaDeviceGetPCIBusId",
      [](int device) {
        char id[64] = "";
        const Status status = call([&] { return cudaDeviceGetPCIBusId(id, sizeof id, device); });
        return with_status(status, std::string(id));
      },
      "('domain:bus:device.function', cudaError_t)", {{"device"}});
  def(m, "cudaDeviceGetLimit", asking(&cudaDeviceGetLimit),
      "(bytes, cudaError_t) of a cudaLimit... number", {{"limit"}});
  def(m, "cudaDeviceSetLimit",
      [](int limit, std::size_t value) {
        return call_beside([&] { return cudaDeviceSetLimit(cudaLimit(limit), value); });
      },
      "Set a cudaLimit... of the thread's device, in bytes.", {{"limit"}, {"value"}});
  def(m, "cudaDeviceGetCacheConfig", asking(&cudaDeviceGetCacheConfig),
      "(a cudaFuncCachePrefer... number, cudaError_t)");
  def(m, "cudaDeviceSetCacheConfig", calling(&cudaDeviceSetCacheConfig),
      "Prefer cache or shared memory: a cudaFuncCachePrefer... number.", {{"config"}});
  def(
      m, "cudaDeviceGetStreamPriorityRange",
      [] {
        int least = 0, greatest = 0;
        const Status status =
            call([&] { return cudaDeviceGetStreamPriorityRange(&least, &greatest); });
        return with_status(status, least, greatest);
      },
      "(least, greatest, cudaError_t); a lower number is a higher priority");
  def(m, "cudaGetDeviceFlags", asking(&cudaGetDeviceFlags), "(flags, cudaError_t)");
  def(m, "cudaSetDeviceFlags", calling(&cudaSetDeviceFlags),
      "Set the cudaDevice... flags of the thread's device.", {{"flags"}});
  def(m, "cudaDeviceCanAccessPeer", asking(&cudaDeviceCanAccessPeer), "(0 or 1, cudaError_t)",
      {{"device"}, {"peer"}});
  def(m, "cudaDeviceEnablePeerAccess", calling(&enable_peer_access),
      "Let the thread's device reach the memory of `peer`.", {{"peer"}, {"flags", 0}});
  def(m, "cudaDeviceDisablePeerAccess", calling(&disable_peer_access),
      "End what cudaDeviceEnablePeerAccess began.", {{"peer"}});
  def(
      m, "cudaMemGetInfo",
      [] {
        std::size_t free = 0, total = 0;
        const Status status = call([&] { return cudaMemGetInfo(&free, &total); });
        return with_status(status, free, total);
      },
      "(free bytes, total bytes, cudaError_t) of the thread's device");
  def(m, "cudaDriverGetVersion", asking(&cudaDriverGetVersion),
      "(1000 * major + 10 * minor, cudaError_t) of the newest CUDA that the driver supports");
  def(m, "cudaRuntimeGetVersion", asking(&cudaRuntimeGetVersion),
      "(1000 * major + 10 * minor, cudaError_t) of the runtime");
}

}  // namespace PyGPU::python
