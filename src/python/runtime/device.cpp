// Devices: choice, properties, attributes, limits, peers, versions.
#include <cstdio>
#include <cstring>

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

template <class Value, class Call>
py::tuple query(Call ask) {
  Value value{};
  const Status status = call([&] { return ask(&value); });
  return with_status(status, value);
}

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
  method(c, "__repr__", [](const Properties& self) {
    return "<cudaDeviceProp: " + std::string(self.values.name) + " at " + self.bus_id + ">";
  });
}

}  // namespace

void bind_device(py::module_& m) {
  bind_properties(m);

  def(
      m, "cudaGetDeviceCount",
      [] { return query<int>([](int* n) { return cudaGetDeviceCount(n); }); },
      "(count, cudaError_t)");
  def(
      m, "cudaGetDevice", [] { return query<int>([](int* n) { return cudaGetDevice(n); }); },
      "(ordinal of the thread's device, cudaError_t)");
  def(
      m, "_here",
      [] {
        const int device = current_device();
        return std::uint64_t(device_epoch(device)) << 8 | unsigned(device);
      },
      "A number for the current device as it is since its last reset: a key for what is kept.");
  def(m, "_device_epoch", [](int device) { return device_epoch(device); },
      "How often the device was reset: what was taken before is gone.", {{"device"}});
  def(m, "cudaSetDevice", [](int device) { return call([=] { return cudaSetDevice(device); }); },
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
        const NoGil without = let_gil_go();
        return reset_device();
      },
      "Destroy the device's context with all memory, streams and events in this process.");
  def(m, "cudaDeviceGetAttribute",
      [](int attribute, int device) {
        return query<int>([=](int* value) {
          return cudaDeviceGetAttribute(value, cudaDeviceAttr(attribute), device);
        });
      },
      "(value, cudaError_t) of a cudaDevAttr... number", {{"attribute"}, {"device"}});
  def(m, "cudaDeviceGetByPCIBusId",
      [](const std::string& id) {
        return query<int>([&](int* device) { return cudaDeviceGetByPCIBusId(device, id.c_str()); });
      },
      "(ordinal, cudaError_t) of the device at 'domain:bus:device.function'", {{"id"}});
  def(m, "cudaDeviceGetPCIBusId",
      [](int device) {
        char id[64] = "";
        const Status status = call([&] { return cudaDeviceGetPCIBusId(id, sizeof id, device); });
        return with_status(status, std::string(id));
      },
      "('domain:bus:device.function', cudaError_t)", {{"device"}});
  def(m, "cudaDeviceGetLimit",
      [](int limit) {
        return query<std::size_t>(
            [=](std::size_t* value) { return cudaDeviceGetLimit(value, cudaLimit(limit)); });
      },
      "(bytes, cudaError_t) of a cudaLimit... number", {{"limit"}});
  def(m, "cudaDeviceSetLimit",
      [](int limit, std::size_t value) {
        return call([=] { return cudaDeviceSetLimit(cudaLimit(limit), value); });
      },
      "Set a cudaLimit... of the thread's device, in bytes.", {{"limit"}, {"value"}});
  def(
      m, "cudaDeviceGetCacheConfig",
      [] {
        cudaFuncCache config{};
        const Status status = call([&] { return cudaDeviceGetCacheConfig(&config); });
        return with_status(status, int(config));
      },
      "(a cudaFuncCachePrefer... number, cudaError_t)");
  def(m, "cudaDeviceSetCacheConfig",
      [](int config) {
        return call([=] { return cudaDeviceSetCacheConfig(cudaFuncCache(config)); });
      },
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
  def(
      m, "cudaGetDeviceFlags",
      [] { return query<unsigned>([](unsigned* flags) { return cudaGetDeviceFlags(flags); }); },
      "(flags, cudaError_t)");
  def(m, "cudaSetDeviceFlags",
      [](unsigned flags) { return call([=] { return cudaSetDeviceFlags(flags); }); },
      "Set the cudaDevice... flags of the thread's device.", {{"flags"}});
  def(m, "cudaDeviceCanAccessPeer",
      [](int device, int peer) {
        return query<int>([=](int* can) { return cudaDeviceCanAccessPeer(can, device, peer); });
      },
      "(0 or 1, cudaError_t)", {{"device"}, {"peer"}});
  def(m, "cudaDeviceEnablePeerAccess",
      [](int peer, unsigned flags) {
        return call([=] { return enable_peer_access(peer, flags); });
      },
      "Let the thread's device reach the memory of `peer`.", {{"peer"}, {"flags", 0}});
  def(m, "cudaDeviceDisablePeerAccess",
      [](int peer) { return call([=] { return disable_peer_access(peer); }); },
      "End what cudaDeviceEnablePeerAccess began.", {{"peer"}});
  def(
      m, "cudaMemGetInfo",
      [] {
        std::size_t free = 0, total = 0;
        const Status status = call([&] { return cudaMemGetInfo(&free, &total); });
        return with_status(status, free, total);
      },
      "(free bytes, total bytes, cudaError_t) of the thread's device");
  def(
      m, "cudaDriverGetVersion",
      [] { return query<int>([](int* version) { return cudaDriverGetVersion(version); }); },
      "(1000 * major + 10 * minor, cudaError_t) of the newest CUDA that the driver supports");
  def(
      m, "cudaRuntimeGetVersion",
      [] { return query<int>([](int* version) { return cudaRuntimeGetVersion(version); }); },
      "(1000 * major + 10 * minor, cudaError_t) of the runtime");
}

}  // namespace PyGPU::python
